import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A JVM to read while it is awkward. Says READY, then idles or churns until its time is up. */
public final class HostileTarget {
    private static byte[] held;

    private HostileTarget() {}

    public static void main(String[] args) throws Exception {
        boolean churn = args.length > 0 && args[0].equals("churn");
        long end = System.nanoTime() + 170_000_000_000L;
        held = new byte[16 << 20];
        java.util.Arrays.fill(held, (byte) 1);
        System.out.println("READY");
        System.out.flush();
        while (System.nanoTime() < end) {
            if (churn) {
                turn();
            } else {
                Thread.sleep(200);
            }
        }
    }

    /** About 200 MB come and go: heap, direct buffers, classes of new loaders, threads. */
    private static void turn() throws Exception {
        List<Object> come = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            come.add(new byte[1 << 20]);
            ByteBuffer direct = ByteBuffer.allocateDirect(1 << 20);
            for (int at = 0; at < direct.capacity(); at += 4096) {
                direct.put(at, (byte) 1);
            }
            come.add(direct);
        }
        for (int i = 0; i < 20; i++) {
            ClassLoader loader = new ClassLoader(HostileTarget.class.getClassLoader()) {};
            come.add(Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class}, (self, method, values) -> null));
            Thread thread = new Thread(() -> come.size());
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        come.clear();
        System.gc();
        Thread.sleep(60);
    }
}

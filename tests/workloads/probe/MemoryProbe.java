import bankfull.workload.Leak;
import bankfull.workload.NativeMemory;
import bankfull.workload.Truth;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A JVM that holds exactly what it is told to, says so, and waits. */
public final class MemoryProbe {
    private static final List<Object> HELD = new ArrayList<>();
    private static final String USAGE = """
            usage: MemoryProbe [--heap-mib N] [--direct-mib N] [--direct-chunk-kib 1024] [--unsafe-mib N] [--threads N]
                [--malloc-mib N] [--malloc-block 8000] [--malloc-threads 2] [--classes N] [--keep-every 0]
                [--leak-kib-per-s N] [--leak-max-mib 1024] [--seconds 60] [--library libbankfullprobe.so] [--dir DIR]""";

    private long heapMib;
    private long directMib;
    private long directChunkKib = 1024;
    private long unsafeMib;
    private long threads;
    private long mallocMib;
    private long mallocBlock = 8000;
    private long mallocThreads = 2;
    private long classes;
    private long keepEvery;
    private long leakKibPerSecond;
    private long leakMaxMib = 1024;
    private long seconds = 60;
    private String library;
    private String dir;

    private MemoryProbe() {}

    public static void main(String[] args) throws Exception {
        MemoryProbe probe = new MemoryProbe();
        probe.parse(args);
        probe.hold();
        if (probe.dir != null) {
            Truth.start("probe", probe.dir, probe.library, -1, probe::release);
            Truth.write("ready");
        }
        System.out.println("READY " + Truth.line("probe", "ready"));
        System.out.flush();
        Leak.start(probe.leakKibPerSecond, probe.leakMaxMib);
        probe.waitForTheEnd();
    }

    private void parse(String[] args) {
        if (args.length % 2 != 0) {
            usage();
        }
        for (int i = 0; i < args.length; i += 2) {
            String value = args[i + 1];
            switch (args[i]) {
                case "--heap-mib" -> heapMib = number(value);
                case "--direct-mib" -> directMib = number(value);
                case "--direct-chunk-kib" -> directChunkKib = number(value);
                case "--unsafe-mib" -> unsafeMib = number(value);
                case "--threads" -> threads = number(value);
                case "--malloc-mib" -> mallocMib = number(value);
                case "--malloc-block" -> mallocBlock = number(value);
                case "--malloc-threads" -> mallocThreads = number(value);
                case "--classes" -> classes = number(value);
                case "--keep-every" -> keepEvery = number(value);
                case "--leak-kib-per-s" -> leakKibPerSecond = number(value);
                case "--leak-max-mib" -> leakMaxMib = number(value);
                case "--seconds" -> seconds = number(value);
                case "--library" -> library = value;
                case "--dir" -> dir = value;
                default -> usage();
            }
        }
    }

    private static long number(String value) {
        try {
            return Math.max(0, Long.parseLong(value));
        } catch (NumberFormatException e) {
            usage();
            return 0;
        }
    }

    private static void usage() {
        System.err.println(USAGE);
        System.exit(2);
    }

    private void hold() throws Exception {
        for (long i = 0; i < heapMib; i++) {
            byte[] block = new byte[(1 << 20) - 64];
            for (int at = 0; at < block.length; at += 4096) {
                block[at] = 1;
            }
            HELD.add(block);
        }
        long chunk = directChunkKib << 10;
        long direct = 0;
        for (; direct < directMib << 20; direct += chunk) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(Math.toIntExact(chunk));
            for (int at = 0; at < buffer.capacity(); at += 4096) {
                buffer.put(at, (byte) 1);
            }
            HELD.add(buffer);
        }
        holdUnsafe();
        for (long i = 0; i < threads; i++) {
            Thread thread = new Thread(MemoryProbe::sleepForEver, "probe-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        for (long i = 0; i < classes; i++) {
            ClassLoader loader = new ClassLoader(MemoryProbe.class.getClassLoader()) {};
            HELD.add(Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class}, (proxy, method, args) -> null));
        }
        long blocks = 0;
        if (mallocMib > 0) {
            if (!NativeMemory.load(library)) {
                System.err.println("MemoryProbe: --malloc-mib needs --library");
                System.exit(2);
            }
            blocks = NativeMemory.hold(mallocMib << 20, mallocBlock, (int) mallocThreads);
        } else {
            NativeMemory.load(library);
        }
        Truth.note("held_heap", heapMib << 20);
        Truth.note("held_direct", direct);
        Truth.note("held_unsafe", unsafeMib << 20);
        Truth.note("held_threads", threads);
        Truth.note("held_classes", classes);
        noteBlocks(blocks);
    }

    private void noteBlocks(long blocks) {
        Truth.note("held_malloc_blocks", blocks);
        Truth.note("held_malloc", blocks * mallocBlock);
    }

    private void holdUnsafe() throws ReflectiveOperationException {
        if (unsafeMib == 0) {
            return;
        }
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        Method allocate = type.getMethod("allocateMemory", long.class);
        Method fill = type.getMethod("setMemory", long.class, long.class, byte.class);
        for (long i = 0; i < unsafeMib; i++) {
            Object address = allocate.invoke(unsafe, 1L << 20);
            fill.invoke(unsafe, address, 1L << 20, (byte) 1);
        }
    }

    /** What DIR/close does: gives the malloc blocks back, all or but every n-th. */
    private void release() {
        if (mallocMib > 0) {
            noteBlocks(NativeMemory.release((int) keepEvery));
        }
    }

    private static void sleepForEver() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns when the time is over, or stdin is closed if it is a pipe or a socket. */
    private void waitForTheEnd() throws Exception {
        Path stdin = Path.of("/proc/self/fd/0");
        String kind = Files.exists(stdin) || Files.isSymbolicLink(stdin) ? Files.readSymbolicLink(stdin).toString() : "";
        if (kind.startsWith("pipe:") || kind.startsWith("socket:")) {
            Thread reader = new Thread(() -> {
                try {
                    while (System.in.read() >= 0) {}
                } catch (java.io.IOException e) {
                    // The same as its end.
                }
                Runtime.getRuntime().halt(0);
            }, "stdin");
            reader.setDaemon(true);
            reader.start();
        }
        Thread.sleep(seconds * 1000);
    }
}

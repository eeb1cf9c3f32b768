import bankfull.workload.Growth;
import bankfull.workload.Held;
import bankfull.workload.Leak;
import bankfull.workload.NativeMemory;
import bankfull.workload.Truth;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** A JVM that holds exactly what it is told to, says so, and waits. */
public final class MemoryProbe {
    private static final List<Object> HELD = new ArrayList<>();
    private static volatile byte[] garbage;
    private static final int CYCLE_CHUNK = 64 << 10;
    private static final String USAGE = """
            usage: MemoryProbe [--heap-mib N] [--direct-mib N] [--direct-chunk-kib 1024] [--unsafe-mib N] [--threads N]
                [--malloc-mib N] [--malloc-block 8000] [--malloc-threads 2] [--classes N] [--keep-every 0]
                [--leak-kib-per-s N] [--leak-max-mib 1024] [--cycle-mib N] [--cycle-s 60] [--warm-mib N] [--warm-s 60]
                [--grow heap|direct|unsafe|malloc|malloc-churn|malloc-sparse|classes|threads|files|read-files] [--grow-kib-per-s N]
                [--grow-max-mib 1024] [--grow-after-s 0] [--grow-threads-per-min 60] [--thread-stack-kib 64]
                [--churn-threads 24] [--grow-dir DIR] [--exit-after-s N] [--exit-code 0] [--oom-after-s N]
                [--seconds 60] [--library libbankfullprobe.so] [--dir DIR]""";
    private static final Set<String> OPTIONS = Set.of("heap-mib", "direct-mib", "direct-chunk-kib", "unsafe-mib", "threads", "malloc-mib",
            "malloc-block", "malloc-threads", "classes", "keep-every", "leak-kib-per-s", "leak-max-mib", "cycle-mib", "cycle-s", "warm-mib",
            "warm-s", "exit-after-s", "exit-code", "oom-after-s", "seconds");

    private final Map<String, String> options = new HashMap<>();
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
        Leak.start(probe.options);
        Growth.start(probe.options);
        probe.startHeapLoad();
        probe.waitForTheEnd();
    }

    private void parse(String[] args) {
        if (args.length % 2 != 0) {
            usage();
        }
        for (int i = 0; i < args.length; i += 2) {
            String name = args[i].replaceFirst("^--", "");
            String value = args[i + 1];
            if (name.equals("library")) {
                library = value;
            } else if (name.equals("dir")) {
                dir = value;
            } else if (OPTIONS.contains(name)) {
                if (!value.matches("[0-9]{1,12}")) {
                    usage();
                }
                options.put(name, value);
            } else if (Growth.OPTIONS.contains(name)) {
                options.put(name, value);
            } else {
                usage();
            }
        }
    }

    private long number(String name, long otherwise) {
        return options.containsKey(name) ? Long.parseLong(options.get(name)) : otherwise;
    }

    private static void usage() {
        System.err.println(USAGE);
        System.exit(2);
    }

    private void hold() throws Exception {
        long heapMib = number("heap-mib", 0);
        long directMib = number("direct-mib", 0);
        int directChunk = Math.toIntExact(number("direct-chunk-kib", 1024) << 10);
        long unsafeMib = number("unsafe-mib", 0);
        long threads = number("threads", 0);
        long classes = number("classes", 0);
        HELD.addAll(Held.heap(heapMib));
        List<ByteBuffer> direct = Held.direct(directMib, directChunk);
        HELD.addAll(direct);
        for (long i = 0; i < unsafeMib; i++) {
            Held.unsafe(1 << 20);
        }
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
        if (!NativeMemory.load(library) && number("malloc-mib", 0) > 0) {
            System.err.println("MemoryProbe: --malloc-mib needs --library");
            System.exit(2);
        }
        if (number("malloc-mib", 0) > 0) {
            blocks = NativeMemory.hold(number("malloc-mib", 0) << 20, mallocBlock(), (int) number("malloc-threads", 2));
        }
        Truth.note("held_heap", heapMib << 20);
        Truth.note("held_direct", (long) direct.size() * directChunk);
        Truth.note("held_unsafe", unsafeMib << 20);
        Truth.note("held_threads", threads);
        Truth.note("held_classes", classes);
        noteBlocks(blocks);
    }

    private long mallocBlock() {
        return number("malloc-block", 8000);
    }

    private void noteBlocks(long blocks) {
        Truth.note("held_malloc_blocks", blocks);
        Truth.note("held_malloc", blocks * mallocBlock());
    }

    /** What DIR/close does: gives the malloc blocks back, all or but every n-th. */
    private void release() {
        if (number("malloc-mib", 0) > 0) {
            noteBlocks(NativeMemory.release((int) number("keep-every", 0)));
        }
    }

    /** A heap that warms up and stays, one that fills and is dropped over and over, or both. */
    private void startHeapLoad() {
        if (number("warm-mib", 0) > 0) {
            startFilling("warm", number("warm-mib", 0) << 20, Math.max(1, number("warm-s", 60)), false);
        }
        if (number("cycle-mib", 0) > 0) {
            startFilling("cycle", number("cycle-mib", 0) << 20, Math.max(1, number("cycle-s", 60)), true);
        }
    }

    private static void startFilling(String name, long bytes, long seconds, boolean again) {
        Thread thread = new Thread(() -> {
            try {
                do {
                    fill(name, bytes, seconds * 1_000_000_000L, !again);
                } while (again);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Holds more and more up to `bytes`; twice as much is garbage, so that young collections move what is held to the old generation. */
    private static void fill(String name, long bytes, long nanos, boolean keep) throws InterruptedException {
        List<byte[]> held = new ArrayList<>();
        long start = System.nanoTime();
        for (long done = 0; done < bytes; ) {
            double part = Math.min(1, (double) (System.nanoTime() - start) / nanos);
            for (; done < bytes && done < bytes * part; done += CYCLE_CHUNK) {
                held.add(new byte[CYCLE_CHUNK - 16]);
                garbage = new byte[CYCLE_CHUNK];
                garbage = new byte[CYCLE_CHUNK];
            }
            Truth.note("held_" + name, done);
            Thread.sleep(100);
        }
        if (keep) {
            synchronized (HELD) {
                HELD.addAll(held);
            }
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
        if (options.containsKey("exit-after-s")) {
            Thread.sleep(number("exit-after-s", 0) * 1000);
            System.exit((int) number("exit-code", 0));
        }
        if (options.containsKey("oom-after-s")) {
            Thread.sleep(number("oom-after-s", 0) * 1000);
            while (true) {
                HELD.add(new byte[1 << 20]);
            }
        }
        Thread.sleep(number("seconds", 60) * 1000);
    }
}

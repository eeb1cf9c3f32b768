package bankfull.workload;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;

/** One kind of memory that grows with time. What was added stands in the truth lines as `grown_KIND`, in bytes. */
public final class Growth {
    /** Names of the options, without their dashes. */
    public static final Set<String> OPTIONS = Set.of("grow", "grow-kib-per-s", "grow-max-mib", "grow-after-s", "grow-threads-per-min",
            "thread-stack-kib", "churn-threads", "grow-dir");

    private static final long PAGE = 4096;
    private static final long CHUNK = 64 << 10;
    private static final long SPARSE = 4 << 20;
    private static final long FILE_BYTES = 64 << 20;

    private final List<Object> kept = new ArrayList<>();
    private final Map<String, String> options;
    private final SplittableRandom random = new SplittableRandom(1);

    private Growth(Map<String, String> options) {
        this.options = options;
    }

    /** Starts what the options say; none of them, or a rate of 0, is nothing. */
    public static void start(Map<String, String> options) {
        String kind = options.get("grow");
        if (kind != null) {
            new Growth(options).begin(kind);
        }
    }

    private void begin(String kind) {
        double rate = number("grow-kib-per-s", 0) * 1024.0;
        long max = number("grow-max-mib", 1024) << 20;
        long stack = Math.min(number("thread-stack-kib", 64), 512) << 10;
        long grain = CHUNK / 4;
        Pace.Step step;
        switch (kind) {
            case "heap" -> step = this::heap;
            case "direct" -> step = this::direct;
            case "unsafe" -> step = this::unsafe;
            case "malloc" -> {
                needNative(kind);
                step = bytes -> NativeMemory.hold(bytes, Leak.BLOCK, 1) * Leak.BLOCK;
                grain = Leak.BLOCK;
            }
            case "malloc-churn" -> {
                needNative(kind);
                step = churn((int) number("churn-threads", 24));
                grain = 0;
            }
            case "malloc-sparse" -> {
                needNative(kind);
                step = bytes -> NativeMemory.reserve(bytes, SPARSE);
                grain = SPARSE;
            }
            case "classes" -> step = classes();
            case "threads" -> {
                needNative(kind);
                rate = number("grow-threads-per-min", 60) / 60.0 * stack;
                step = bytes -> threads(bytes / stack, stack);
                grain = stack;
            }
            case "files" -> step = files();
            case "read-files" -> {
                step = readFiles(max);
                max = Long.MAX_VALUE;
            }
            default -> throw new IllegalArgumentException("--grow " + kind);
        }
        if (rate > 0) {
            new Pace("grown_" + kind.replace('-', '_'), rate, max, grain).start(number("grow-after-s", 0), step);
        }
    }

    private long number(String name, long otherwise) {
        return options.containsKey(name) ? Math.max(0, Long.parseLong(options.get(name))) : otherwise;
    }

    private static void needNative(String kind) {
        if (!NativeMemory.isLoaded()) {
            throw new IllegalArgumentException("--grow " + kind + " needs --library");
        }
    }

    private long heap(long bytes) {
        long added = 0;
        for (; added + PAGE <= bytes; ) {
            int chunk = (int) Math.min(CHUNK, bytes - added);
            kept.add(new byte[chunk - 16]);
            added += chunk;
        }
        return added;
    }

    private long direct(long bytes) {
        long added = 0;
        for (; added + PAGE <= bytes; ) {
            int chunk = (int) Math.min(CHUNK, bytes - added);
            kept.add(Held.touched(chunk));
            added += chunk;
        }
        return added;
    }

    private long unsafe(long bytes) throws ReflectiveOperationException {
        Held.unsafe(bytes);
        return bytes;
    }

    /**
     * As a pool of threads whose requests get bigger: all of them allocate blocks of mixed sizes, then free nearly all. What
     * they leave keeps glibc from giving the pages back. The step is what malloc got from the kernel.
     */
    private static Pace.Step churn(int threads) {
        long[] each = {0};
        long base = NativeMemory.mallocStats()[4];
        long[] done = {0};
        return bytes -> {
            each[0] += bytes / threads;
            synchronized (NativeMemory.REST) {
                NativeMemory.churn(threads, each[0]);
            }
            long added = NativeMemory.mallocStats()[4] - base - done[0];
            done[0] += added;
            return added;
        };
    }

    /** Class loaders that are never let go, each with the workload's own classes; measured by what metaspace commits. */
    private Pace.Step classes() {
        MemoryPoolMXBean metaspace = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getName().equals("Metaspace")).findFirst().orElseThrow();
        long base = metaspace.getUsage().getCommitted();
        long[] done = {0};
        return bytes -> {
            long wanted = base + done[0] + bytes;
            for (int i = 0; i < 200 && metaspace.getUsage().getCommitted() < wanted; i++) {
                kept.add(OwnClasses.load());
            }
            long added = metaspace.getUsage().getCommitted() - base - done[0];
            done[0] += added;
            return added;
        };
    }

    private static long threads(long count, long stack) {
        for (long i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                NativeMemory.touchStack(stack);
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "grown");
            thread.setDaemon(true);
            thread.start();
        }
        return count * stack;
    }

    private Path directory() {
        String dir = options.get("grow-dir");
        if (dir == null) {
            throw new IllegalArgumentException("--grow " + options.get("grow") + " needs --grow-dir");
        }
        return Path.of(dir);
    }

    private static Path file(Path dir, long number) {
        return dir.resolve("grown-" + number + ".bin");
    }

    /** Files of 64 MiB, one after the other. */
    private Pace.Step files() {
        Path dir = directory();
        long[] written = {0};
        ByteBuffer buffer = ByteBuffer.allocate((int) CHUNK);
        return bytes -> {
            long added = 0;
            for (; added < bytes; ) {
                long at = written[0] % FILE_BYTES;
                int chunk = (int) Math.min(Math.min(CHUNK, bytes - added), FILE_BYTES - at);
                random.nextBytes(buffer.array());
                try (FileChannel file = FileChannel.open(file(dir, written[0] / FILE_BYTES), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                    added += file.write(buffer.position(0).limit(chunk), at);
                }
                written[0] += chunk;
            }
            return added;
        };
    }

    /** Reads the same files over and over; they are written before it begins, if they are not there. */
    private Pace.Step readFiles(long total) {
        Path dir = directory();
        long[] at = {-1};
        ByteBuffer buffer = ByteBuffer.allocateDirect((int) CHUNK);
        return bytes -> {
            if (at[0] < 0) {
                prepare(dir, total);
                at[0] = 0;
            }
            long added = 0;
            while (added < bytes) {
                try (FileChannel file = FileChannel.open(file(dir, at[0] / FILE_BYTES), StandardOpenOption.READ)) {
                    int n = file.read(buffer.clear().limit((int) Math.min(CHUNK, bytes - added)), at[0] % FILE_BYTES);
                    if (n <= 0) {
                        throw new IOException("a file of --grow-dir is too short");
                    }
                    added += n;
                    at[0] = (at[0] + n) % total;
                }
            }
            return added;
        };
    }

    private void prepare(Path dir, long total) throws Exception {
        Path last = file(dir, (total - 1) / FILE_BYTES);
        if (!Files.exists(last) || Files.size(last) < (total - 1) % FILE_BYTES + 1) {
            Pace.Step step = files();
            for (long written = 0; written < total; ) {
                Path file = file(dir, written / FILE_BYTES);
                written += step.add(Math.min(FILE_BYTES, total - written));
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.force(false); // Clean pages: the kernel can take them at once.
                }
            }
        }
        Truth.note("files_bytes", total);
    }
}

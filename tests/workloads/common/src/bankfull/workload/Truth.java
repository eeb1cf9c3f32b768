package bankfull.workload;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What this JVM knows of its own memory, one JSON object a line in DIR/truth.jsonl.
 *
 * <p>A line is written when the state has reached its wanted size (phase "ready"), and whenever a file DIR/ask appears:
 * its content is the phase, and it is removed once the line is there. DIR/close calls the workload's close action first
 * and writes a line of phase "closed"; DIR/purge has the allocator give back what it holds free ("purged"); DIR/leak
 * loses as many MiB as it says at once ("leaked"). While DIR/pause exists the load stands still.
 */
public final class Truth {
    /** Figures of one store; null once it is closed. */
    public interface Store {
        Map<String, Object> read() throws Exception;
    }

    /** All stores at once, by name: for an engine that gives them so. */
    public interface Stores {
        Map<String, Map<String, Object>> read() throws Exception;
    }

    /** Bytes of state written so far, before any compression or compaction. */
    public static final AtomicLong STATE_BYTES = new AtomicLong();

    private static final Map<String, Store> STORES = new TreeMap<>();
    private static Stores all;
    private static final Map<String, Object> NOTES = new LinkedHashMap<>();
    private static Path dir;
    private static volatile boolean paused;
    private static String workload;
    private static Runnable close;

    private Truth() {}

    /** Starts the watcher; false if it ran already. `onClose` may be null: then DIR/close is left to someone else. */
    public static synchronized boolean start(String name, String directory, String library, long readyBytes, Runnable onClose) {
        if (dir != null) {
            return false;
        }
        NativeMemory.load(library);
        workload = name;
        dir = Path.of(directory);
        close = onClose;
        Thread watcher = new Thread(() -> watch(readyBytes), "truth");
        watcher.setDaemon(true);
        watcher.start();
        return true;
    }

    public static void add(String name, Store store) {
        synchronized (STORES) {
            STORES.put(name, store);
        }
    }

    public static void remove(String name) {
        synchronized (STORES) {
            STORES.remove(name);
        }
    }

    /** Null takes them away again. */
    public static void setStores(Stores stores) {
        synchronized (STORES) {
            all = stores;
        }
    }

    /** A figure that stays in every later line. */
    public static void note(String key, Object value) {
        synchronized (NOTES) {
            NOTES.put(key, value);
        }
    }

    /** Where the load calls it, it stands still while DIR/pause exists. */
    public static void waitWhilePaused() {
        try {
            while (paused) {
                Thread.sleep(50);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void watch(long readyBytes) {
        Path ask = dir.resolve("ask");
        Path closing = dir.resolve("close");
        Path purge = dir.resolve("purge");
        Path leak = dir.resolve("leak");
        boolean ready = readyBytes < 0;
        try {
            while (true) {
                if (!ready && STATE_BYTES.get() >= readyBytes) {
                    ready = true;
                    write("ready");
                }
                // A store that is to be closed must not wait for its load.
                paused = Files.exists(dir.resolve("pause")) && !Files.exists(closing);
                if (NativeMemory.isLoaded() && Files.exists(purge)) {
                    NativeMemory.purge();
                    write("purged");
                    Files.deleteIfExists(purge);
                }
                if (NativeMemory.isLoaded() && Files.exists(leak)) {
                    NativeMemory.hold(Long.parseLong(Files.readString(leak).strip()) << 20, Leak.BLOCK, 1);
                    write("leaked");
                    Files.deleteIfExists(leak);
                }
                if (Files.exists(ask)) {
                    String phase = Files.readString(ask).strip();
                    write(phase.isEmpty() ? "asked" : phase);
                    Files.deleteIfExists(ask);
                }
                if (close != null && Files.exists(closing)) {
                    close.run();
                    write("closed");
                    Files.deleteIfExists(closing);
                }
                Thread.sleep(100);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            System.err.println("truth: " + e);
        }
    }

    /** Appends one line to DIR/truth.jsonl and prints it. */
    public static synchronized void write(String phase) throws IOException {
        String line = line(workload, phase);
        Files.writeString(dir.resolve("truth.jsonl"), line + "\n", StandardCharsets.UTF_8, StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
        System.out.println(line);
        if (NativeMemory.isLoaded()) {
            Path tmp = dir.resolve("malloc_info.tmp");
            if (NativeMemory.mallocInfo(tmp.toString())) {
                Files.move(tmp, dir.resolve("malloc_info.xml"), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    public static String line(String name, String phase) {
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("workload", name);
        out.put("phase", phase);
        out.put("pid", ProcessHandle.current().pid());
        out.put("wall_ms", System.currentTimeMillis());
        out.put("uptime_ms", ManagementFactory.getRuntimeMXBean().getUptime());
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        out.put("heap_used", heap.getUsed());
        out.put("heap_committed", heap.getCommitted());
        out.put("heap_max", heap.getMax());
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace")) {
                out.put("metaspace_used", pool.getUsage().getUsed());
                out.put("metaspace_committed", pool.getUsage().getCommitted());
            } else if (pool.getName().equals("Compressed Class Space")) {
                out.put("class_space_committed", pool.getUsage().getCommitted());
            }
        }
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct") || pool.getName().equals("mapped")) {
                out.put(pool.getName() + "_count", pool.getCount());
                out.put(pool.getName() + "_used", pool.getMemoryUsed());
            }
        }
        out.put("threads", ManagementFactory.getThreadMXBean().getThreadCount());
        out.put("classes", ManagementFactory.getClassLoadingMXBean().getLoadedClassCount());
        out.put("state_bytes_written", STATE_BYTES.get());
        if (NativeMemory.isLoaded()) {
            synchronized (NativeMemory.REST) {
                out.put("malloc", malloc(NativeMemory.mallocStats()));
            }
        }
        synchronized (NOTES) {
            out.putAll(NOTES);
        }
        stores(out);
        StringBuilder json = new StringBuilder();
        append(json, out);
        return json.toString();
    }

    private static Map<String, Object> malloc(long[] s) {
        Map<String, Object> out = new LinkedHashMap<>();
        if (s[0] == 2) {
            out.put("allocator", "jemalloc");
            out.put("in_use", s[1]);
            out.put("active", s[2]);
            out.put("metadata", s[3]);
            out.put("resident", s[4]);
            out.put("mapped", s[5]);
            out.put("retained", s[6]);
        } else {
            out.put("allocator", "glibc");
            out.put("in_use", s[1] + s[3]);
            out.put("free", s[2]);
            out.put("mmapped", s[3]);
            out.put("arenas", s[4]);
            out.put("trimmable", s[5]);
        }
        return out;
    }

    private static void stores(Map<String, Object> out) {
        Map<String, Map<String, Object>> each = new TreeMap<>();
        Map<Object, Long> caches = new LinkedHashMap<>();
        Map<Object, Long> capacities = new LinkedHashMap<>();
        Map<Object, Long> pinned = new LinkedHashMap<>();
        long memtables = 0;
        long readers = 0;
        boolean charged = false;
        synchronized (STORES) {
            for (Map.Entry<String, Store> e : STORES.entrySet()) {
                try {
                    Map<String, Object> figures = e.getValue().read();
                    if (figures != null) {
                        each.put(e.getKey(), figures);
                    }
                } catch (Exception x) {
                    each.put(e.getKey(), Map.of("error", String.valueOf(x)));
                }
            }
            if (all != null) {
                try {
                    each.putAll(all.read());
                } catch (Exception x) {
                    each.put("all", Map.of("error", String.valueOf(x)));
                }
            }
        }
        for (Map.Entry<String, Map<String, Object>> e : each.entrySet()) {
            Map<String, Object> figures = e.getValue();
            if (figures.get("block-cache-usage") instanceof Long usage) {
                Object cache = figures.getOrDefault("cache", e.getKey());
                caches.merge(cache, usage, Math::max);
                capacities.merge(cache, number(figures, "block-cache-capacity"), Math::max);
                memtables += number(figures, "size-all-mem-tables");
                readers += number(figures, "estimate-table-readers-mem");
                pinned.merge(cache, number(figures, "block-cache-pinned-usage"), Math::max);
                charged |= Boolean.TRUE.equals(figures.get("memtables-charged-to-cache"));
            }
        }
        out.put("stores", each);
        if (!caches.isEmpty()) {
            long usage = sum(caches);
            out.put("store_caches", (long) caches.size());
            out.put("store_cache_capacity", sum(capacities));
            out.put("store_cache_usage", usage);
            out.put("store_cache_pinned", sum(pinned));
            out.put("store_memtables", memtables);
            out.put("store_table_readers", readers);
            out.put("store_memtables_charged_to_cache", charged);
            out.put("store_claim", usage + (charged ? 0 : memtables) + readers);
        }
    }

    private static long sum(Map<Object, Long> figures) {
        return figures.values().stream().mapToLong(Long::longValue).sum();
    }

    private static long number(Map<String, Object> figures, String key) {
        return figures.get(key) instanceof Number n ? n.longValue() : 0;
    }

    private static void append(StringBuilder json, Object value) {
        if (value instanceof Map<?, ?> map) {
            char comma = '{';
            for (Map.Entry<?, ?> e : map.entrySet()) {
                json.append(comma);
                append(json, String.valueOf(e.getKey()));
                json.append(':');
                append(json, e.getValue());
                comma = ',';
            }
            json.append(comma == '{' ? "{}" : "}");
        } else if (value instanceof Number || value instanceof Boolean || value == null) {
            json.append(value);
        } else {
            json.append('"');
            for (char c : value.toString().toCharArray()) {
                if (c == '"' || c == '\\') {
                    json.append('\\').append(c);
                } else if (c < 0x20) {
                    json.append(String.format("\\u%04x", (int) c));
                } else {
                    json.append(c);
                }
            }
            json.append('"');
        }
    }
}

package bankfull.workload;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.util.ResourceGuard;

/**
 * Reads the properties of the RocksDB or ForSt instance behind a keyed state, without Flink's metrics.
 *
 * <p>By reflection, since packages and names differ between Flink 1.20, 2.x and ForSt.
 */
final class RocksReader implements Truth.Store {
    private static final String[] PER_FAMILY = {
        "cur-size-all-mem-tables", "size-all-mem-tables", "estimate-table-readers-mem", "live-sst-files-size",
        "estimate-live-data-size", "estimate-num-keys"
    };
    private static final String[] OF_CACHE = {"block-cache-capacity", "block-cache-usage", "block-cache-pinned-usage"};

    private final Object db;
    private final Map<?, ?> families;
    private final ResourceGuard guard;
    private final String kind;
    private final boolean shared;
    private final String slot;

    private RocksReader(Object backend, boolean shared, String slot) throws ReflectiveOperationException {
        this.db = field(backend, "db");
        this.families = (Map<?, ?>) field(backend, "kvStateInformation");
        this.guard = (ResourceGuard) ofType(backend, ResourceGuard.class);
        this.kind = db.getClass().getName().startsWith("org.forst") ? "forst" : "rocksdb";
        this.shared = shared;
        this.slot = slot;
    }

    /** The reader for the backend of a state; null if it is no RocksDB. */
    static RocksReader of(Object state, boolean shared, String slot) throws ReflectiveOperationException {
        Object backend = backend(state);
        return backend == null ? null : new RocksReader(backend, shared, slot);
    }

    /** The keyed backend of a state; null if it is no RocksDB. */
    static Object backend(Object state) throws ReflectiveOperationException {
        for (int depth = 0; depth < 4 && state != null; depth++) {
            Object backend = field(state, "backend");
            if (backend != null && field(backend, "db") != null) {
                return backend;
            }
            for (String inner : new String[] {"wrappedState", "original", "internalState", "state"}) {
                Object next = field(state, inner);
                if (next != null) {
                    state = next;
                    break;
                }
            }
        }
        return null;
    }

    @Override
    public Map<String, Object> read() throws Exception {
        ResourceGuard.Lease lease;
        try {
            lease = guard.acquireResource();
        } catch (java.io.IOException closed) {
            return null;
        }
        try (lease) {
            Map<String, Object> out = new LinkedHashMap<>();
            out.put("kind", kind);
            out.put("column-families", (long) families.size());
            out.put("memtables-charged-to-cache", shared);
            if (shared) {
                out.put("cache", slot);
            }
            for (Object info : families.values()) {
                Object family = field(info, "columnFamilyHandle");
                for (String p : PER_FAMILY) {
                    merge(out, p, property(family, p), true);
                }
                for (String p : OF_CACHE) {
                    merge(out, p, property(family, p), !shared);
                }
            }
            return out;
        }
    }

    private static void merge(Map<String, Object> out, String key, long value, boolean sum) {
        long old = out.get(key) instanceof Long l ? l : 0;
        out.put(key, sum ? old + value : Math.max(old, value));
    }

    private long property(Object family, String name) throws ReflectiveOperationException {
        for (Method m : db.getClass().getMethods()) {
            Class<?>[] types = m.getParameterTypes();
            if (m.getName().equals("getLongProperty") && types.length == 2 && types[0].isInstance(family)) {
                try {
                    return (Long) m.invoke(db, family, "rocksdb." + name);
                } catch (InvocationTargetException e) {
                    return 0;
                }
            }
        }
        return 0;
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        for (Class<?> c = of.getClass(); c != null && !c.getName().startsWith("java."); c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (f.getName().equals(name)) {
                    f.setAccessible(true);
                    return f.get(of);
                }
            }
        }
        return null;
    }

    private static Object ofType(Object of, Class<?> type) throws ReflectiveOperationException {
        for (Class<?> c = of.getClass(); c != null && !c.getName().startsWith("java."); c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (type.isAssignableFrom(f.getType())) {
                    f.setAccessible(true);
                    return f.get(of);
                }
            }
        }
        throw new NoSuchFieldException(type.getName());
    }
}

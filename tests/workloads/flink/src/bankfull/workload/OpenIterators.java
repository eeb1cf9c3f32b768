package bankfull.workload;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;

/**
 * The bug of an operator that walks all keys (KeyedStateBackend.getKeys) and forgets to close the stream.
 *
 * <p>A MapState's own iterator would not do: it reads 128 entries ahead and closes RocksDB's. Each open one holds the version
 * of the database that it began with: the blocks it stands on, and the memtables of that moment, flushed or not.
 */
final class OpenIterators {
    private final KeyedStateBackend<?> backend;
    private final int wanted;
    private final double perSecond;
    private final long start = System.nanoTime();
    private final List<Iterator<?>> open = new ArrayList<>();

    private OpenIterators(KeyedStateBackend<?> backend, int wanted, double perMinute) {
        this.backend = backend;
        this.wanted = wanted;
        this.perSecond = perMinute / 60;
    }

    static OpenIterators of(Object state, int wanted, double perMinute) throws ReflectiveOperationException {
        return new OpenIterators((KeyedStateBackend<?>) RocksReader.backend(state), wanted, perMinute);
    }

    void openIfDue() {
        if (open.size() >= wanted || backend == null || open.size() >= (System.nanoTime() - start) / 1e9 * perSecond) {
            return;
        }
        Stream<?> keys = backend.getKeys("last", VoidNamespace.INSTANCE);
        Iterator<?> at = keys.iterator();
        if (at.hasNext()) {
            at.next();
        }
        open.add(at);
        Truth.note("open_iterators", (long) open.size());
    }
}

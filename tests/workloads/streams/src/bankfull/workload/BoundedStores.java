package bankfull.workload;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/** One cache for all stores of the JVM, with their memtables charged to it: the way to bound them. */
public final class BoundedStores implements RocksDBConfigSetter {
    static final long CACHE_BYTES = 64L << 20;
    static final long MEMTABLE_BYTES = 24L << 20;

    static {
        RocksDB.loadLibrary();
    }

    private static final Cache CACHE = new LRUCache(CACHE_BYTES, -1, false, 0.1);
    private static final WriteBufferManager MEMTABLES = new WriteBufferManager(MEMTABLE_BYTES, CACHE);

    @Override
    public void setConfig(String storeName, Options options, Map<String, Object> configs) {
        BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
        table.setBlockCache(CACHE);
        table.setCacheIndexAndFilterBlocks(true);
        table.setCacheIndexAndFilterBlocksWithHighPriority(true);
        options.setTableFormatConfig(table);
        options.setWriteBufferManager(MEMTABLES);
    }

    @Override
    public void close(String storeName, Options options) {}

    static void release() {
        MEMTABLES.close();
        CACHE.close();
    }
}

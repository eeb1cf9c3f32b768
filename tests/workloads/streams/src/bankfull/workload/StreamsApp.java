package bankfull.workload;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;

/** A Kafka Streams application whose stores grow: several key-value stores, the same but bounded, or a window store. */
public final class StreamsApp {
    private static final String[] FIGURES = {
        "block-cache-capacity", "block-cache-usage", "block-cache-pinned-usage", "cur-size-all-mem-tables",
        "size-all-mem-tables", "estimate-table-readers-mem", "live-sst-files-size", "estimate-num-keys"
    };

    private StreamsApp() {}

    static Map<String, String> options(String[] args) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i].replaceFirst("^--", ""), args[i + 1]);
        }
        return options;
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> options = options(args);
        String variant = options.getOrDefault("variant", "default");
        boolean bounded = variant.equals("bounded");

        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "bankfull-streams");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, options.get("bootstrap"));
        settings.put(StreamsConfig.STATE_DIR_CONFIG, options.get("dir") + "/state");
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, options.getOrDefault("threads", "2"));
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 1L << 20);
        settings.put("auto.offset.reset", "earliest");
        if (bounded) {
            settings.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, BoundedStores.class);
        }

        options.forEach((name, value) -> {
            if (name.startsWith("set.")) {
                settings.put(name.substring("set.".length()), value);
            }
        });

        KafkaStreams streams = new KafkaStreams(topology(variant, options), settings);
        List<ByteBuffer> direct = Held.direct(Long.parseLong(options.getOrDefault("direct-mib", "0")), 1 << 20);
        List<byte[]> heap = Held.heap(Long.parseLong(options.getOrDefault("heap-mib", "0")));
        Truth.note("task_direct_touched", (long) direct.size() << 20);
        Truth.note("held_heap", (long) heap.size() << 20);
        CountDownLatch closed = new CountDownLatch(1);
        Runnable close = () -> {
            streams.close(Duration.ofSeconds(30));
            if (bounded) {
                BoundedStores.release();
            }
            direct.clear();
            heap.clear();
            Truth.setStores(null);
        };
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close(Duration.ofSeconds(5));
            closed.countDown();
        }));
        streams.start();
        Truth.setStores(() -> stores(streams, bounded));
        Truth.start("streams-" + variant, options.get("dir"), options.get("library"),
                Long.parseLong(options.getOrDefault("ready-bytes", "0")), close);
        Leak.start(options);
        Growth.start(options);
        closed.await();
    }

    private static org.apache.kafka.streams.Topology topology(String variant, Map<String, String> options) {
        int stores = Integer.parseInt(options.getOrDefault("stores", "3"));
        StreamsBuilder builder = new StreamsBuilder();
        KGroupedStream<Long, byte[]> events =
                builder.stream("events", Consumed.with(Serdes.Long(), Serdes.ByteArray())).groupByKey();
        if (variant.equals("windowed")) {
            Duration window = Duration.ofSeconds(Long.parseLong(options.getOrDefault("window-s", "60")));
            Duration grace = Duration.ofSeconds(Long.parseLong(options.getOrDefault("grace-s", "120")));
            events.windowedBy(TimeWindows.ofSizeAndGrace(window, grace))
                    .aggregate(() -> new byte[0], (key, value, old) -> written(value),
                            Materialized.<Long, byte[], WindowStore<Bytes, byte[]>>as("windows")
                                    .withKeySerde(Serdes.Long()).withValueSerde(Serdes.ByteArray()).withLoggingDisabled());
        } else {
            for (int i = 0; i < stores; i++) {
                // Only the first has a changelog: it is there, and the disk stays quiet.
                Materialized<Long, byte[], KeyValueStore<Bytes, byte[]>> store =
                        Materialized.<Long, byte[], KeyValueStore<Bytes, byte[]>>as("store-" + i)
                                .withKeySerde(Serdes.Long()).withValueSerde(Serdes.ByteArray());
                events.aggregate(() -> new byte[0], (key, value, old) -> written(value),
                        i == 0 ? store : store.withLoggingDisabled());
            }
        }
        return builder.build();
    }

    private static byte[] written(byte[] value) {
        Truth.waitWhilePaused();
        Truth.STATE_BYTES.addAndGet(value.length);
        return value;
    }

    /** The figures of every store from the client's own metrics: no exporter is needed for them. */
    private static Map<String, Map<String, Object>> stores(KafkaStreams streams, boolean bounded) {
        Map<String, Map<String, Object>> out = new TreeMap<>();
        for (Map.Entry<MetricName, ? extends Metric> e : streams.metrics().entrySet()) {
            MetricName name = e.getKey();
            if (!name.group().equals("stream-state-metrics")) {
                continue;
            }
            for (String figure : FIGURES) {
                if (name.name().equals(figure)) {
                    Map<String, Object> store = out.computeIfAbsent(storeOf(name.tags()), k -> {
                        Map<String, Object> fresh = new LinkedHashMap<>();
                        fresh.put("kind", "rocksdb");
                        fresh.put("memtables-charged-to-cache", bounded);
                        if (bounded) {
                            fresh.put("cache", "shared");
                        }
                        return fresh;
                    });
                    if (e.getValue().metricValue() instanceof Number n) {
                        store.put(figure, n.longValue());
                    }
                }
            }
        }
        return out;
    }

    private static String storeOf(Map<String, String> tags) {
        for (Map.Entry<String, String> tag : tags.entrySet()) {
            if (tag.getKey().startsWith("rocksdb-")) {
                return tags.get("task-id") + "/" + tag.getValue();
            }
        }
        return tags.get("task-id") + "/?";
    }
}

package bankfull.workload;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Submits a job whose keyed state grows at a bounded rate up to a bounded size.
 *
 * <p>Options are pairs `--name value`; `run` holds their defaults.
 */
public final class GrowingState {
    private GrowingState() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i].replaceFirst("^--", ""), args[i + 1]);
        }
        long keys = Long.parseLong(options.getOrDefault("keys", "100000"));
        double rate = Double.parseDouble(options.getOrDefault("rate", "4000"));

        // With jars of its own the job gets a class loader of its own each time it is submitted; else its classes are the engine's.
        String[] jars = "1".equals(options.get("leak-classloader")) ? options.get("user-jars").split(":") : new String[0];
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createRemoteEnvironment(
                "127.0.0.1", Integer.parseInt(options.get("rest-port")), jars);
        // Said here, since a remote environment does not read config.yaml.
        long checkpointSeconds = Long.parseLong(options.getOrDefault("checkpoint-s", "0"));
        if (checkpointSeconds > 0) {
            env.enableCheckpointing(checkpointSeconds * 1000);
        }
        env.setParallelism(Integer.parseInt(options.getOrDefault("parallelism", "1")));

        DataGeneratorSource<Long> source = new DataGeneratorSource<>(
                n -> new SplittableRandom(n).nextLong(keys), Long.MAX_VALUE, RateLimiterStrategy.perSecond(rate), Types.LONG);
        env.fromSource(source, WatermarkStrategy.noWatermarks(), "keys")
                .keyBy(key -> key)
                .process(new Grow(options))
                .name("grow")
                .uid("grow");
        JobClient job = env.executeAsync("growing-state");
        System.out.println("job_id=" + job.getJobID());
    }

    /** Keeps a value and a small map for every key. */
    static final class Grow extends KeyedProcessFunction<Long, Long, Void> {
        private static final long serialVersionUID = 1;

        private final HashMap<String, String> options;
        private final int valueSize;
        private final int mapEntries;
        private final int burstSeconds;
        private transient ValueState<byte[]> last;
        private transient List<ValueState<byte[]>> more;
        private transient OpenIterators iterators;
        private transient MapState<Integer, byte[]> history;
        private transient List<ByteBuffer> direct;
        private transient List<byte[]> heap;
        private transient SplittableRandom random;
        private transient long seen;
        private transient String name;

        Grow(Map<String, String> options) {
            this.options = new HashMap<>(options);
            this.valueSize = Integer.parseInt(options.getOrDefault("value-size", "1024"));
            this.burstSeconds = Integer.parseInt(options.getOrDefault("burst-s", "0"));
            this.mapEntries = Integer.parseInt(options.getOrDefault("map-entries", "4"));
        }

        @Override
        public void open(OpenContext context) throws Exception {
            last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", byte[].class));
            history = getRuntimeContext().getMapState(new MapStateDescriptor<>("history", Integer.class, byte[].class));
            more = new ArrayList<>();
            for (int i = 1; i < Integer.parseInt(options.getOrDefault("states", "1")); i++) {
                more.add(getRuntimeContext().getState(new ValueStateDescriptor<>("state-" + i, byte[].class)));
            }
            if ("1".equals(options.get("leak-classloader"))) {
                LeakedDriver.open(Integer.parseInt(options.getOrDefault("user-classes", "2000")));
            }
            int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            random = new SplittableRandom(subtask);
            name = "grow-" + subtask;
            direct = Held.direct(Long.parseLong(options.getOrDefault("direct-mib", "0")), 1 << 20);
            heap = Held.heap(Long.parseLong(options.getOrDefault("heap-mib", "0")));
            Truth.note("task_direct_touched", (long) direct.size() << 20);
            Truth.note("held_heap", (long) heap.size() << 20);
            Truth.STATE_BYTES.set(0);
            if (Truth.start("flink", options.get("dir"), options.get("library"),
                    Long.parseLong(options.getOrDefault("ready-bytes", "0")), null)) {
                Leak.start(options);
                Growth.start(options);
            }
            iterators = OpenIterators.of(last, Integer.parseInt(options.getOrDefault("pin-iterators", "0")),
                    Double.parseDouble(options.getOrDefault("pin-per-min", "60")));
            boolean shared = !"0".equals(options.get("managed"));
            RocksReader reader = RocksReader.of(last, shared, "slot-" + subtask);
            if (reader != null) {
                Truth.add(name, reader);
            } else {
                Map<String, Object> heap = Map.of("kind", "hashmap");
                Truth.add(name, () -> heap);
            }
        }

        @Override
        public void processElement(Long key, Context context, Collector<Void> out) throws Exception {
            Truth.waitWhilePaused();
            if (isQuiet()) {
                return;
            }
            iterators.openIfDue();
            int state = (int) (seen % (more.size() + 1));
            ValueState<byte[]> chosen = state == 0 ? last : more.get(state - 1);
            chosen.value();
            byte[] value = new byte[valueSize];
            random.nextBytes(value);
            chosen.update(value);
            int written = valueSize;
            if (mapEntries > 0) {
                byte[] part = new byte[Math.max(1, valueSize / mapEntries)];
                random.nextBytes(part);
                history.put(random.nextInt(mapEntries), part);
                written += part.length;
            }
            Truth.STATE_BYTES.addAndGet(written);
        }

        /** With --burst-s: so many seconds all records, as many only one in ten. */
        private boolean isQuiet() {
            seen++;
            return burstSeconds > 0 && System.nanoTime() / 1_000_000_000 / burstSeconds % 2 == 1 && seen % 10 != 0;
        }

        @Override
        public void close() {
            Truth.remove(name);
            direct = null;
            heap = null;
        }
    }
}

package bankfull.workload;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.LongSerializer;

/** Creates the topic `events` and fills it at a bounded rate until it is ended. */
public final class Generator {
    private Generator() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> options = StreamsApp.options(args);
        String servers = options.get("bootstrap");
        int rate = Integer.parseInt(options.getOrDefault("rate", "2000"));
        int size = Integer.parseInt(options.getOrDefault("value-size", "1024"));
        long keys = Long.parseLong(options.getOrDefault("keys", "50000"));
        long factor = Long.parseLong(options.getOrDefault("time-factor", "1"));
        int pause = Integer.parseInt(options.getOrDefault("batch-ms", "20"));
        int partitions = Integer.parseInt(options.getOrDefault("partitions", "2"));

        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(List.of(new NewTopic("events", partitions, (short) 1))).all().get();
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            }
        }
        System.out.println("created");

        SplittableRandom random = new SplittableRandom(1);
        Map<String, Object> settings =
                Map.of("bootstrap.servers", servers, "buffer.memory", 4L << 20, "acks", "1", "linger.ms", 20);
        try (KafkaProducer<Long, byte[]> producer =
                new KafkaProducer<>(settings, new LongSerializer(), new ByteArraySerializer())) {
            long start = System.currentTimeMillis();
            for (long sent = 0; ; ) {
                long passed = System.currentTimeMillis() - start;
                for (; sent < passed * rate / 1000; sent++) {
                    byte[] value = new byte[size];
                    random.nextBytes(value);
                    long time = start + passed * factor;
                    producer.send(new ProducerRecord<>("events", null, time, random.nextLong(keys), value));
                }
                Thread.sleep(pause);
            }
        }
    }
}

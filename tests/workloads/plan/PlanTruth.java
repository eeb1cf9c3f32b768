// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.flink.configuration.Configuration;

/**
 * What Flink itself makes of random configurations, valid and invalid: one JSON object a line. Each is written to a file of
 * one of the two formats and goes the way of Flink's own start scripts (BashJavaUtils), so the reading of the file counts too.
 *
 * <p>usage: PlanTruth --seed N --count N --legacy 0|1 --dir FOLDER; "legacy": this version reads flink-conf.yaml and older keys.
 */
public final class PlanTruth {
    private static final String[] UNITS = {"", "b", "bytes", "k", "kb", "kibibytes", "m", "mb", "mebibytes", "g", "gb", "t"};
    private static final int[] SHIFTS = {0, 0, 0, 10, 10, 10, 20, 20, 20, 30, 30, 40};
    private static final String[] BAD_SIZES = {
        "1.5g", "9999999999g", "-1m", "abc", "10 gigs", "4Gi", "512Mi", "m", "0x10", "0x40000000", "1e9", "~", "null", "", "+5m", "+1073741824",
        "9223372036854775807", "9223372036854775808", "18446744073709551616", "1_000", "1,5g", "5 0m", "010", "0o17", "8388608t", "8388607t", "1073741824.0", "true"};
    private static final String[] FRACTIONS = {
        "0", "0.0", "0.1", "0.2", "0.25", "0.3", "0.4", "0.5", "0.05", "0.01", "0.123456789", "1e-3", ".5", "0.4f", "0.15d", " 0.2", "0x1p-3", "1e-30", "0.33333334",
        "0.9", "0.99", "0.999999", "0.1e0", "+0.3", "00.2"};
    private static final String[] BAD_FRACTIONS = {
        "1", "1.0", "-0.1", "NaN", "Infinity", "abc", "40%", "0,4", "1e-46", "3.5e38", "", "~", "0.99999999", "1.5", ".", "0x1", "0.4 x", "-0.0", "2", ".nan", ".inf", "1e400"};
    private static final String[] BAD_SLOTS = {"0", "-1", "abc", "1.0", "2147483648", "99999999999", "", "0x10", "+3", " 3", "3 ", "007"};
    private static final String[] ODD_SIZES = {"0", "0m", " 64m ", "64 m", "64M", "1G", "1GB", "256MB", "134217728", "128 mebibytes", "1048576k"};

    private final Random random;
    private final boolean legacy;
    private final Path dir;
    private boolean jobmanager;
    private boolean oldFormat;
    private Map<String, String> conf;
    private boolean wild;

    private PlanTruth(long seed, boolean legacy, Path dir) {
        this.random = new Random(seed);
        this.legacy = legacy;
        this.dir = dir;
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> given = new LinkedHashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            given.put(args[i], args[i + 1]);
        }
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Path dir = Path.of(given.get("--dir"));
        Files.createDirectories(dir);
        PlanTruth truth = new PlanTruth(Long.parseLong(given.get("--seed")), "1".equals(given.get("--legacy")), dir);
        int count = Integer.parseInt(given.get("--count"));
        for (int i = 0; i < count; i++) {
            out.println(truth.one(i));
        }
        out.flush();
    }

    // ------------------------------------------------------------------ what to write

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    private <T> T any(T[] of) {
        return of[random.nextInt(of.length)];
    }

    /** About `mib`, from a tenth to three times as much, in any unit that can say it. */
    private String size(long mib) {
        if (wild && chance(12)) {
            return any(BAD_SIZES);
        }
        if (chance(6)) {
            return any(ODD_SIZES);
        }
        long bytes = (long) ((double) (mib << 20) * (0.1 + 2.9 * random.nextDouble() * random.nextDouble()));
        return written(chance(50) ? bytes >> 20 << 20 : bytes);
    }

    private String written(long bytes) {
        List<Integer> fitting = new ArrayList<>();
        for (int i = 0; i < UNITS.length; i++) {
            if (bytes % (1L << SHIFTS[i]) == 0) {
                fitting.add(i);
            }
        }
        int unit = fitting.get(random.nextInt(fitting.size()));
        String name = chance(15) ? UNITS[unit].toUpperCase() : UNITS[unit];
        return (bytes >> SHIFTS[unit]) + (chance(10) ? " " : "") + name;
    }

    private String fraction() {
        if (wild && chance(15)) {
            return any(BAD_FRACTIONS);
        }
        return chance(60) ? any(FRACTIONS) : String.valueOf(chance(50) ? random.nextFloat() * 0.6f : random.nextDouble() * 0.6);
    }

    private void maybe(int percent, String key, String value) {
        if (chance(percent)) {
            conf.put(key, value);
        }
    }

    private String role() {
        return jobmanager ? "jobmanager" : "taskmanager";
    }

    private void common(long process) {
        String memory = role() + ".memory.";
        maybe(25, memory + "jvm-metaspace.size", size(256));
        maybe(18, memory + "jvm-overhead.min", size(192));
        maybe(18, memory + "jvm-overhead.max", size(Math.max(512, process / 5)));
        maybe(18, memory + "jvm-overhead.fraction", fraction());
    }

    private void taskmanager(long process) {
        String memory = "taskmanager.memory.";
        maybe(15, memory + "framework.heap.size", size(128));
        maybe(15, memory + "framework.off-heap.size", size(128));
        maybe(20, memory + "task.off-heap.size", size(128));
        maybe(20, memory + "managed.fraction", fraction());
        maybe(12, memory + "network.min", size(64));
        maybe(12, memory + "network.max", size(256));
        maybe(15, memory + "network.fraction", fraction());
        maybe(6, "taskmanager.network.memory.fraction", fraction());
        maybe(4, "taskmanager.network.memory.min", size(64));
        maybe(4, "taskmanager.network.memory.max", size(512));
        maybe(6, memory + "size", size(process / 4));
        maybe(40, "taskmanager.numberOfTaskSlots", wild && chance(20) ? any(BAD_SLOTS) : String.valueOf(1 + random.nextInt(16)));
        maybe(6, memory + "segment-size", any(new String[] {"32kb", "4096", "64k", "32k", "1m", "1000", "3000k", "2g", "4g", "2kb"}));
        maybe(6, "taskmanager.network.numberOfBuffers", any(new String[] {"2048", "4096", "0", "-1", "10000", "x", "1000000"}));
        maybe(5, "taskmanager.heap.size", size(process));
        maybe(4, "taskmanager.heap.mb", any(new String[] {"1024", "-5", "0", "2048m", "4096"}));
        if (!conf.containsKey("taskmanager.numberOfTaskSlots")) {
            maybe(6, "taskmanager.cpu.cores", any(new String[] {"1", "2.0", "0.5", "0", "-1", "x", "NaN", "4d"}));
        }
    }

    private void build() {
        long process = chance(70) ? 512 + random.nextInt(16384) : 1 + random.nextInt(1 << random.nextInt(22));
        String memory = role() + ".memory.";
        wild = chance(45);
        conf = new LinkedHashMap<>();
        int way = random.nextInt(20);
        if (way < 9) {
            conf.put(memory + "process.size", size(process));
        } else if (way < 12) {
            conf.put(memory + "flink.size", size(process));
        } else if (way < 14) {
            conf.put(memory + (jobmanager ? "heap.size" : "task.heap.size"), size(process / 2));
            if (!jobmanager) {
                conf.put(memory + "managed.size", size(process / 3));
            }
        } else if (way < 19) {
            // Any of them together: mostly contradictions, unless they are made to fit.
            maybe(60, memory + "process.size", size(process));
            maybe(60, memory + "flink.size", size(process * 3 / 4));
            maybe(50, memory + (jobmanager ? "heap.size" : "task.heap.size"), size(process / 3));
            maybe(40, memory + (jobmanager ? "off-heap.size" : "managed.size"), size(process / 3));
        }
        common(process);
        if (jobmanager) {
            maybe(20, memory + "off-heap.size", size(128));
            maybe(20, memory + "enable-jvm-direct-memory-limit", any(new String[] {"true", "false", "TRUE", "yes", "1", "False"}));
            maybe(5, "jobmanager.heap.size", size(process));
            maybe(4, "jobmanager.heap.mb", any(new String[] {"1024", "-5", "0", "x"}));
        } else {
            taskmanager(process);
        }
        if (chance(35)) {
            fit();
        }
        maybe(4, "parallelism.default", chance(80) ? "2" : "");
        maybe(10, "state.backend.type", "rocksdb");
    }

    /** Sizes that agree: what Flink derives of a process size is said in so many words, the whole of it or a part. */
    private void fit() {
        Map<String, String> plain = new LinkedHashMap<>();
        String memory = role() + ".memory.";
        long process = (768L + random.nextInt(16000)) << 20;
        plain.put(memory + "process.size", process + "b");
        Configuration configuration = new Configuration();
        plain.forEach(configuration::setString);
        Object answer;
        try {
            answer = run(configuration);
        } catch (ReflectiveOperationException e) {
            return;
        }
        Map<String, Long> sizes = new LinkedHashMap<>();
        long sum = 0;
        for (String pair : ((List<?>) answer).get(1).toString().split(" ?-D ")) {
            int at = pair.indexOf('=');
            if (at > 0 && pair.matches(".*=\\d+b")) {
                sizes.put(pair.substring(0, at), Long.parseLong(pair.substring(at + 1, pair.length() - 1)));
            }
        }
        for (Map.Entry<String, Long> entry : sizes.entrySet()) {
            sum += entry.getKey().endsWith("metaspace.size") || entry.getKey().contains(".max") || entry.getKey().contains("overhead") ? 0 : entry.getValue();
        }
        conf.clear();
        if (chance(70)) {
            conf.put(memory + "process.size", written(process + (chance(20) ? random.nextInt(200 << 20) - (100 << 20) : 0)));
        }
        if (chance(60)) {
            conf.put(memory + "flink.size", written(sum));
        }
        for (String part : jobmanager ? new String[] {"heap.size", "off-heap.size"} : new String[] {"task.heap.size", "managed.size"}) {
            if (chance(50)) {
                conf.put(memory + part, written(sizes.get(memory + part)));
            }
        }
        if (wild) {
            common(process >> 20);
        }
    }

    // ------------------------------------------------------------------ how to write it

    private static final String PLAIN = "[A-Za-z0-9.+_-][A-Za-z0-9 .,%+_-]*";

    private String scalar(String value) {
        boolean canBePlain = value.isEmpty() || value.equals("~") || (value.matches(PLAIN) && value.equals(value.trim()) && !value.matches("-( .*)?"));
        if (canBePlain && chance(80)) {
            return value;
        }
        return chance(50) && !value.contains("'") ? "'" + value + "'" : "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private String yaml(Map<String, String> pairs) {
        StringBuilder text = new StringBuilder();
        if (chance(30)) {
            text.append("# a comment\n");
        }
        if (chance(50)) {
            pairs.forEach((key, value) -> text.append(key).append(": ").append(scalar(value)).append(chance(10) ? " # why" : "").append('\n'));
        } else {
            Map<String, StringBuilder> blocks = new LinkedHashMap<>();
            String[] tops = {"taskmanager.memory.", "taskmanager.network.", "taskmanager.", "jobmanager.memory.", "jobmanager."};
            pairs.forEach((key, value) -> {
                String top = "";
                for (String candidate : tops) {
                    if (top.isEmpty() && key.startsWith(candidate) && !(candidate.equals("taskmanager.") || candidate.equals("jobmanager."))) {
                        top = candidate;
                    }
                }
                blocks.computeIfAbsent(top, k -> new StringBuilder()).append(top.isEmpty() ? "" : "  ").append(key.substring(top.length())).append(": ").append(scalar(value)).append('\n');
            });
            blocks.forEach((top, block) -> text.append(top.isEmpty() ? "" : top.substring(0, top.length() - 1) + ":\n").append(block));
        }
        if (!pairs.isEmpty() && wild && chance(4)) {
            String key = pairs.keySet().iterator().next();
            text.append(key).append(": 1g\n");
        }
        return text.toString();
    }

    private String old(Map<String, String> pairs) {
        StringBuilder text = new StringBuilder();
        pairs.forEach((key, value) -> {
            if (chance(5)) {
                text.append(key).append(": 77m\n"); // the last one counts
            }
            if (chance(5)) {
                text.append("  # ").append(key).append(": 1g\n");
            }
            text.append(chance(5) ? "  " : "").append(key).append(chance(96) ? ": " : ":").append(value).append(chance(10) ? " # why" : "").append('\n');
        });
        return text.toString();
    }

    // ------------------------------------------------------------------ what Flink says

    private Object run(Configuration configuration) throws ReflectiveOperationException {
        Class<?> utils = Class.forName("org.apache.flink.runtime.util.bash.BashJavaUtils");
        Method method = utils.getDeclaredMethod(jobmanager ? "getJmResourceParams" : "getTmResourceParams", Configuration.class);
        method.setAccessible(true);
        return method.invoke(null, configuration);
    }

    private Configuration load(List<String> sets) throws ReflectiveOperationException {
        List<String> args = new ArrayList<>(List.of("--configDir", dir.toString()));
        sets.forEach(pair -> args.add("-D" + pair));
        Method method = Class.forName("org.apache.flink.runtime.util.bash.FlinkConfigLoader").getMethod("loadConfiguration", String[].class);
        return (Configuration) method.invoke(null, (Object) args.toArray(new String[0]));
    }

    private String one(int number) {
        jobmanager = chance(30);
        oldFormat = legacy && chance(50);
        build();
        Map<String, String> inFile = new LinkedHashMap<>();
        List<String> sets = new ArrayList<>();
        boolean some = chance(25);
        conf.forEach((key, value) -> {
            if (some && chance(30) && !value.isEmpty()) {
                sets.add(key + "=" + value);
            } else {
                inFile.put(key, value);
            }
        });
        String text = oldFormat ? old(inFile) : yaml(inFile);
        String name = oldFormat ? "flink-conf.yaml" : "config.yaml";
        StringBuilder line = new StringBuilder("{\"n\":" + number + ",\"role\":\"" + role() + "\",\"name\":\"" + name + "\",\"text\":" + json(text) + ",\"sets\":[");
        for (int i = 0; i < sets.size(); i++) {
            line.append(i == 0 ? "" : ",").append(json(sets.get(i)));
        }
        line.append("]");
        try {
            Files.deleteIfExists(dir.resolve("config.yaml"));
            Files.deleteIfExists(dir.resolve("flink-conf.yaml"));
            Files.writeString(dir.resolve(name), text);
            List<?> answer = (List<?>) run(load(sets));
            line.append(",\"jvm\":").append(json(answer.get(0).toString())).append(",\"dynamic\":").append(json(answer.get(1).toString()));
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            line.append(",\"error\":").append(json(cause + (cause.getCause() == null ? "" : " | " + cause.getCause())));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return line.append("}").toString();
    }

    private static String json(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}

package bankfull.workload;

import java.util.Map;

/** Native memory that grows at a steady rate up to a bound, as a leak in some library would: beside a Growth, under its own name. */
public final class Leak {
    static final long BLOCK = 8000;

    private Leak() {}

    /** Needs NativeMemory to be loaded; a rate of 0 does nothing. */
    public static void start(Map<String, String> options) {
        long kibPerSecond = Long.parseLong(options.getOrDefault("leak-kib-per-s", "0"));
        long maxMib = Long.parseLong(options.getOrDefault("leak-max-mib", "1024"));
        if (kibPerSecond > 0 && NativeMemory.isLoaded()) {
            new Pace("leaked", kibPerSecond * 1024.0, maxMib << 20, BLOCK).start(0, bytes -> NativeMemory.hold(bytes, BLOCK, 1) * BLOCK);
        }
    }
}

package bankfull.workload;

/** Native memory that grows at a steady rate up to a bound, as a leak in some library would. */
public final class Leak {
    static final long BLOCK = 8000;

    private Leak() {}

    /** Needs NativeMemory to be loaded; a rate of 0 does nothing. */
    public static void start(long kibPerSecond, long maxMib) {
        if (kibPerSecond <= 0 || !NativeMemory.isLoaded()) {
            return;
        }
        Thread thread = new Thread(() -> {
            try {
                long blocks = 0;
                while (blocks * BLOCK < maxMib << 20) {
                    blocks = NativeMemory.hold(kibPerSecond << 10, BLOCK, 1);
                    Truth.note("leaked", blocks * BLOCK);
                    Thread.sleep(1000);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "leak");
        thread.setDaemon(true);
        thread.start();
    }
}

package bankfull.workload;

/** Calls a step four times a second so that what it adds grows at a steady rate up to a bound. */
final class Pace {
    private static final long STEP_MS = 250;

    /** Adds up to about so many bytes; returns how many it did add. */
    interface Step {
        long add(long bytes) throws Exception;
    }

    private final String key;
    private final double bytesPerMs;
    private final long max;
    private final long grain;

    /** The bytes added so far are noted under `key`; `grain` is the least that is worth a call. */
    Pace(String key, double bytesPerSecond, long max, long grain) {
        this.key = key;
        this.bytesPerMs = bytesPerSecond / 1000;
        this.max = max;
        this.grain = grain;
    }

    void start(long afterSeconds, Step step) {
        Truth.note(key, 0L);
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(afterSeconds * 1000);
                run(step);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception e) {
                System.err.println(key + ": " + e);
            }
        }, key);
        thread.setDaemon(true);
        thread.start();
    }

    private void run(Step step) throws Exception {
        double due = 0;
        long before = System.nanoTime();
        for (long done = 0; done < max; ) {
            Thread.sleep(STEP_MS);
            long now = System.nanoTime();
            due += (now - before) / 1e6 * bytesPerMs;
            before = now;
            // After a stall (a long collection, a frozen container) it goes on at its pace and does not catch up at once.
            due = Math.min(due, Math.max(grain, 4 * STEP_MS * bytesPerMs));
            if (due >= grain || done + due >= max) {
                long added = step.add(Math.min((long) due, max - done));
                due -= added;
                done += added;
                Truth.note(key, done);
            }
        }
    }
}

package bankfull.workload;

import java.nio.file.Files;
import java.nio.file.Path;

/** What only native code can do or know: blocks of malloc held by threads the JVM does not know, and malloc's own account. */
public final class NativeMemory {
    private static boolean loaded;

    private NativeMemory() {}

    /** Loads libbankfullprobe.so; without it the malloc account is absent and nothing else changes. */
    public static synchronized boolean load(String library) {
        if (!loaded && library != null && Files.isRegularFile(Path.of(library))) {
            System.load(Path.of(library).toAbsolutePath().toString());
            loaded = true;
        }
        return loaded;
    }

    public static synchronized boolean isLoaded() {
        return loaded;
    }

    /** Mallocs and touches `bytes` in blocks of `block` bytes from `threads` new pthreads, which then end. Returns how many there are. */
    public static native long hold(long bytes, long block, int threads);

    /** Mallocs `bytes` in blocks of `block` bytes, touches two pages of each, and forgets them. Returns how many bytes. */
    public static native long reserve(long bytes, long block);

    /** Frees all held blocks but every `keepEvery`-th (0: keeps none). Returns the blocks still held. */
    public static native long release(int keepEvery);

    /** Held during churn(): who holds it sees malloc between two bursts, when its threads rest. */
    public static final Object REST = new Object();

    /** `threads` pthreads, kept for the next time, malloc `bytes` each in blocks of mixed sizes, then free nearly all of it. */
    public static native void churn(int threads, long bytes);

    /** Writes to so many bytes of the calling thread's stack. */
    public static native void touchStack(long bytes);

    /** {1 for glibc or 2 for jemalloc, then that allocator's figures}: see Truth for their names. */
    public static native long[] mallocStats();

    /** The allocator gives back to the kernel what it holds free. */
    public static native void purge();

    /** glibc's malloc_info into a file; false if it could not be written. */
    public static native boolean mallocInfo(String path);
}

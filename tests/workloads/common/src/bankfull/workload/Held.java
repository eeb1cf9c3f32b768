package bankfull.workload;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Memory held as long as the caller keeps what it gets. */
public final class Held {
    private static final int PAGE = 4096;

    private Held() {}

    public static List<byte[]> heap(long mib) {
        List<byte[]> blocks = new ArrayList<>();
        for (long i = 0; i < mib; i++) {
            byte[] block = new byte[(1 << 20) - 64];
            for (int at = 0; at < block.length; at += PAGE) {
                block[at] = 1;
            }
            blocks.add(block);
        }
        return blocks;
    }

    public static List<ByteBuffer> direct(long mib, int chunk) {
        List<ByteBuffer> buffers = new ArrayList<>();
        for (long bytes = 0; bytes < mib << 20; bytes += chunk) {
            buffers.add(touched(chunk));
        }
        return buffers;
    }

    static ByteBuffer touched(int bytes) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
        for (int at = 0; at < buffer.capacity(); at += PAGE) {
            buffer.put(at, (byte) 1);
        }
        return buffer;
    }

    /** One touched block of Unsafe.allocateMemory that is never freed. */
    public static void unsafe(long bytes) throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        Method allocate = type.getMethod("allocateMemory", long.class);
        Method fill = type.getMethod("setMemory", long.class, long.class, byte.class);
        Object address = allocate.invoke(unsafe, bytes);
        fill.invoke(unsafe, address, bytes, (byte) 1);
    }
}

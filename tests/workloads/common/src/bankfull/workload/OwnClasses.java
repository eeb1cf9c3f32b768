package bankfull.workload;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A class loader that loads the workload's classes once more, as a plugin or a job's own loader would. */
final class OwnClasses extends ClassLoader {
    private static final List<Class<?>> CLASSES =
            List.of(Growth.class, Held.class, Leak.class, NativeMemory.class, OwnClasses.class, Pace.class, Truth.class);
    private static final Map<String, byte[]> CODE = new ConcurrentHashMap<>(); // Read once: no garbage that would grow the heap.

    private OwnClasses() {
        super(OwnClasses.class.getClassLoader());
    }

    /** The loader; as long as it is reachable, so are its classes. */
    static ClassLoader load() throws ClassNotFoundException {
        OwnClasses loader = new OwnClasses();
        for (Class<?> one : CLASSES) {
            // Initialized, so that it is linked too: that takes as much again.
            Class.forName(one.getName(), true, loader);
        }
        return loader;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null || !name.startsWith("bankfull.workload.")) {
                return known != null ? known : super.loadClass(name, resolve);
            }
            byte[] code = CODE.computeIfAbsent(name, OwnClasses::read);
            return defineClass(name, code, 0, code.length);
        }
    }

    private static byte[] read(String name) {
        try (InputStream in = OwnClasses.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

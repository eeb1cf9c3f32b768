// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarFile;

/**
 * Every configuration option that the classes of Flink's jars define, one a line on standard output:
 * {@code key<TAB>type<TAB>current}. A key that Flink accepts as the older name of an option has that option as current.
 *
 * <p>usage: FlinkKeys FOLDER: its jars are the class path; those named flink-* are searched.
 */
public final class FlinkKeys {
    private static final TreeSet<String> LINES = new TreeSet<>();
    private static int skipped;

    public static void main(String[] args) throws Exception {
        List<URL> path = new ArrayList<>();
        List<File> ours = new ArrayList<>();
        for (File jar : new File(args[0]).listFiles((folder, name) -> name.endsWith(".jar"))) {
            path.add(jar.toURI().toURL());
            if (jar.getName().startsWith("flink-") && !jar.getName().startsWith("flink-shaded")) {
                ours.add(jar);
            }
        }
        URLClassLoader loader = new URLClassLoader(path.toArray(new URL[0]), FlinkKeys.class.getClassLoader());
        Class<?> option = loader.loadClass("org.apache.flink.configuration.ConfigOption");
        for (File jar : ours) {
            try (JarFile file = new JarFile(jar)) {
                file.stream().map(entry -> entry.getName())
                        .filter(name -> name.startsWith("org/apache/flink/") && name.endsWith(".class") && !name.contains("shaded"))
                        .forEach(name -> look(loader, option, name.replace('/', '.').substring(0, name.length() - 6)));
            }
        }
        LINES.forEach(System.out::println);
        System.err.println(LINES.size() + " keys, " + skipped + " classes could not be looked at");
    }

    private static void look(ClassLoader loader, Class<?> option, String name) {
        try {
            for (Field field : Class.forName(name, false, loader).getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && option.isAssignableFrom(field.getType())) {
                    field.setAccessible(true);
                    put(field.get(null));
                }
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            skipped++;
            if (name.contains("Option")) {
                System.err.println("not looked at: " + name + ": " + e);
            }
        }
    }

    private static void put(Object option) throws ReflectiveOperationException {
        if (option == null) {
            return;
        }
        String key = (String) call(option, "key");
        // Names that are put together when they are asked for, such as those of a reporter.
        if (!key.matches("[A-Za-z0-9_.-]+") || !key.contains(".")) {
            return;
        }
        LINES.add(key + "\t" + type(option) + "\t");
        for (Object older : (Iterable<?>) call(option, "fallbackKeys")) {
            LINES.add(call(older, "getKey") + "\t" + type(option) + "\t" + key);
        }
    }

    private static String type(Object option) throws ReflectiveOperationException {
        if ((Boolean) call(option, "isList")) {
            return "List";
        }
        Class<?> type = (Class<?>) call(option, "getClazz");
        return type.isEnum() ? "Enum" : type.getSimpleName();
    }

    private static Object call(Object target, String method) throws ReflectiveOperationException {
        Method found = target.getClass().getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(target);
    }
}

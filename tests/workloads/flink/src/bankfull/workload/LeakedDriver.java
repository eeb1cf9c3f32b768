package bankfull.workload;

import java.io.File;
import java.io.IOException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Enumeration;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.logging.Logger;

/**
 * Keeps a job's class loader for ever: the JDBC driver that a job registers and nobody takes back, one of the leaks that
 * Flink's documentation names ("Debugging Classloading", Unloading of Dynamically Loaded Classes in User Code).
 */
final class LeakedDriver implements Driver {
    private static final String LIBRARY = "org.apache.commons.math3.util.FastMath";

    private LeakedDriver() {}

    /** Once per class loader; loads up to so many classes of the job's library. */
    static void open(int classes) throws SQLException, IOException, ClassNotFoundException {
        ClassLoader loader = LeakedDriver.class.getClassLoader();
        for (Enumeration<Driver> e = DriverManager.getDrivers(); e.hasMoreElements(); ) {
            if (e.nextElement() instanceof LeakedDriver) {
                return;
            }
        }
        DriverManager.registerDriver(new LeakedDriver());
        Class<?> library = Class.forName(LIBRARY, false, loader);
        int loaded = 0;
        try (JarFile jar = new JarFile(new File(library.getProtectionDomain().getCodeSource().getLocation().getPath()))) {
            for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements() && loaded < classes; ) {
                String name = e.nextElement().getName();
                if (name.endsWith(".class") && !name.contains("-info")) {
                    Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), false, loader);
                    loaded++;
                }
            }
        }
        Truth.note("leaked_classes_per_job", (long) loaded);
    }

    @Override
    public Connection connect(String url, Properties info) {
        return null;
    }

    @Override
    public boolean acceptsURL(String url) {
        return false;
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }
}

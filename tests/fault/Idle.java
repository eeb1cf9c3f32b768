/* SPDX-License-Identifier: Apache-2.0 */
/** A small JVM to look at: says that it runs, and ends when its standard input does. */
public final class Idle {
    public static void main(String[] args) throws java.io.IOException {
        System.out.println("ready");
        while (System.in.read() >= 0) {
            continue;
        }
    }
}

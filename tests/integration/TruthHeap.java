// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

/** Reads numbers, touches as many MiB of the Java heap for each, and says so. Ends with its input. */
public final class TruthHeap {
	private static final List<byte[]> HELD = new ArrayList<>();

	public static void main(String[] args) {
		System.out.println("READY");
		Scanner in = new Scanner(System.in);
		while (in.hasNextInt()) {
			for (int n = in.nextInt(); n > 0; n--)
				HELD.add(new byte[(1 << 20) - 64]); // zeroed: every page of it is touched
			System.out.println("HELD " + HELD.size());
		}
	}
}

// SPDX-License-Identifier: Apache-2.0
// What web_modules.mjs and web_series.mjs share: results in TAP.

export const checks = { bad: 0 };

// Rows of [what comes, what should, what it was of]; the first that differs is told.
export function same(what, rows)
{
	const wrong = rows.find(([is, should]) => JSON.stringify(is) !== JSON.stringify(should));
	if (wrong)
		console.log(`# ${wrong[2] ?? ''}: ${JSON.stringify(wrong[0])} instead of ${JSON.stringify(wrong[1])}`);
	console.log(`${wrong ? 'not ok' : 'ok'} - ${what}`);
	checks.bad ||= wrong ? 1 : 0;
}

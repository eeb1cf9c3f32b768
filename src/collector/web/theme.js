/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Light or dark, before the first paint: a classic script in the head of every page, since a module would run after
 * it. The attribute is always one of the two, so that the style sheet says each colour once a theme.
 */
(function () {
	const KEY = 'bankfull.theme';
	const dark = window.matchMedia('(prefers-color-scheme: dark)');
	const theme = {
		get() {
			try {
				const value = localStorage.getItem(KEY);
				return value === 'light' || value === 'dark' ? value : 'auto';
			} catch {
				return 'auto'; /* storage may be forbidden */
			}
		},
		set(value) {
			try {
				localStorage.setItem(KEY, value);
			} catch {
				/* then it lasts as long as the page */
			}
			apply(value);
		},
	};
	function apply(value)
	{
		const next = value === 'auto' ? (dark.matches ? 'dark' : 'light') : value;
		document.documentElement.dataset.theme = next;
		document.dispatchEvent(new CustomEvent('themechange', { detail: next }));
	}
	dark.addEventListener('change', () => apply(theme.get()));
	window.bankfullTheme = theme;
	apply(theme.get());
})();

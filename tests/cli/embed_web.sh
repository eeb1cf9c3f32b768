#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/embed-web on a tree of its own: what it makes of pages, and what it refuses to leave out in silence.
# shellcheck disable=SC2016 # backticks of Markdown
set -u
tool=$PWD/tools/embed-web
tree=$TMPDIR/tree
mkdir -p "$tree"/{src/collector/web,docs/rules,docs/decisions,charts}
cd "$tree" || exit 1
echo '<!doctype html>' >src/collector/web/index.html
echo 'licence' >NOTICE
touch charts/dygraph.min.{js,css}
echo '{}' >docs/x.json
printf '# One page\n\nSee [two](two.md#a-b), [a rule](rules/r-1.md), [out](../README.md), [why](decisions/d.md), [site](https://x.example/y.md).\n' >docs/one.md
printf '# Two\n\n<!-- a mark -->\n\n## A `b`\n\n## A `b`\n\na | b\n--|--:\n1 | 2\n' >docs/two.md
printf '# r-1\n\n**Meaning.** It [leaks](../one.md), by `x`. More.\n\nSee [out](../../README.md).\n' >docs/rules/r-1.md

is() # name file expected-words
{
	if grep -qF -- "$3" "$2"; then
		echo "ok - $1"
	else
		echo "not ok - $1: no '$3' in $2"
		sed 's/^/#   /' "$2" | head -n 40
	fi
}
lacks() { if grep -qF -- "$3" "$2"; then echo "not ok - $1: '$3' in $2"; else echo "ok - $1"; fi; }

"$tool" out charts >assets.c || echo "not ok - a whole tree is embedded"
is "a link loses its .md and keeps its place" out/docs/one '<a href="two#a-b">two</a>'
is "one into a folder too" out/docs/one '<a href="rules/r-1">a rule</a>'
is "one to another site stays" out/docs/one '<a href="https://x.example/y.md">site</a>'
is "one that leads out of docs/ is text" out/docs/one ' out, why, '
is "from a rule up one folder leads on" out/docs/rules/r-1 '<a href="../one">leaks</a>'
is "up two is out" out/docs/rules/r-1 'See out.'
is "a heading has an id" out/docs/two '<h2 id="a-b">A <code>b</code></h2>'
is "and the second of one name another" out/docs/two '<h2 id="a-b-1">'
is "a page has its title" out/docs/two '<title>Two - Bankfull</title>'
lacks "a comment is no part of it" out/docs/two 'a mark'
is "the index of rules says what each means" out/docs/rules/index.md '- [r-1](r-1.md): It leaks, by `x`.'
is "each asset has its row" assets.c '{ "/docs/rules/r-1", "text/html; charset=utf-8", '
is "with the type that its name says" assets.c '{ "/docs/x.json", "application/json", '
if [ "$(gzip -dc out/docs/one.gz)" = "$(cat out/docs/one)" ]; then echo "ok - and is there compressed"; else echo "not ok - and is there compressed"; fi

rm docs/one.md
sed -i 's/(..\/one.md)/(..\/two.md)/' docs/rules/r-1.md
"$tool" out charts >assets.c
lacks "a page that goes is gone" assets.c '/docs/one"'

refuses() # name expected-words DYGRAPHS
{
	local said
	if said=$("$tool" out "$3" 2>&1 >assets.c); then
		echo "not ok - $1: it passes"
	elif [[ $said == *"$2"* ]]; then
		echo "ok - $1"
	else
		echo "not ok - $1: '$said'"
	fi
}
refuses "a library that is not there" "make DYGRAPHS=DIR" nowhere
echo 'a <b>bold</b> word' >>docs/two.md
refuses "HTML in a page, which would be left out" "raw HTML, which is left out" charts

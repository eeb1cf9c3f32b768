#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tools behind `make lint` must see what they are there for: each gets a tree with one fault.
set -u
tree=$TMPDIR/tree

fresh()
{
	rm -rf "$tree"
	mkdir -p "$tree"/{tools,src/{base,sys,kernel,jvm,rules,data},include/bankfull,docs/rules}
	cp tools/{layers,headers,purity,banned,sizes,docs-check}* "$tree/tools/"
	echo 'int good(void);' >"$tree/src/base/good.h"
}

sees() # name command expected-words
{
	local out status
	out=$(cd "$tree" && eval "$2" 2>&1)
	status=$?
	if [ $status -ne 0 ] && [[ $out == *"$3"* ]]; then
		echo "ok - $1"
	else
		echo "not ok - $1: status $status, '$out'"
	fi
}
passes() # name command
{
	local out
	out=$(cd "$tree" && eval "$2" 2>&1) && echo "ok - $1" || echo "not ok - $1: '$out'"
}

fresh
echo '#include "base/good.h"' >"$tree/src/kernel/a.c"
passes "layers: a lower layer may be included" tools/layers
echo '#include "jvm/b.h"' >"$tree/src/kernel/a.c"
sees "layers: kernel and jvm never meet" tools/layers 'kernel must not include jvm'
echo '#include <jansson.h>' >"$tree/src/kernel/a.c"
sees "layers: a library has one owner" tools/layers 'belongs to src/data/js.c'
echo '# include "good.h"' >"$tree/src/base/a.c"
sees "layers: an include names its folder" tools/layers 'write the folder'

fresh
printf '#ifndef X\n#define X\nsize_t f(void);\n#endif\n' >"$tree/src/base/a.h"
sees "headers: one that needs another first" 'tools/headers gcc' 'src/base/a.h: does not compile alone'
printf 'struct x { int y; };\n' >"$tree/src/base/a.h"
sees "headers: one without a guard" 'tools/headers gcc' 'redefinition'

fresh
echo 'char *f(char *a, const char *b) { /* strcpy( */ return strcpy(a, b); }' >"$tree/src/base/a.c"
sees "banned: a call" tools/banned 'a.c:1: strcpy is banned'
printf '/* strcpy(a)\n * sprintf(b) */\nconst char *s = "gets(x)"; int my_strcpy(int); int i = sizeof(s);\n' >"$tree/src/base/a.c"
passes "banned: comments, strings and longer names are not calls" tools/banned

fresh
{ echo 'int f(void)'; echo '{'; yes '	g();' | head -n 99; echo '}'; } >"$tree/src/base/a.c"
sees "sizes: a long function" tools/sizes 'function f has 101 lines'
yes '' | head -n 601 >"$tree/src/base/a.c"
sees "sizes: a long file" tools/sizes 'has 601 lines'

fresh
echo 'long time(long *); long now(void); long now(void) { return time(0); }' >"$tree/src/base/a.c"
sees "purity: a clock" 'gcc -c -o a.o src/base/a.c && ar rcs libbase.a a.o && tools/purity libbase.a' 'base/a.o: calls time'
echo 'void *memcpy(void *, const void *, unsigned long); void f(void *a, void *b, int n); void f(void *a, void *b, int n) { memcpy(a, b, n); }' >"$tree/src/base/a.c"
passes "purity: memory functions are allowed" 'gcc -O1 -c -o a.o src/base/a.c && ar rcs libbase.a a.o && tools/purity libbase.a'

fresh
git -C "$tree" init -q
printf '\t{ "freeboard-low", 1 },\n' >"$tree/src/rules/table.c"
sees "docs-check: a rule without a page" 'tools/docs-check none' 'rule freeboard-low has no docs'
echo x >"$tree/docs/rules/freeboard-low.md"
passes "docs-check: a rule with a page" 'tools/docs-check none'
echo '[x](gone.md)' >"$tree/docs/a.md"
sees "docs-check: a dead link" 'tools/docs-check none' 'gone.md leads nowhere'
rm "$tree/docs/a.md"
echo x >"$tree/docs/rules/no-such.md"
sees "docs-check: a page without a rule" 'tools/docs-check none' 'no such rule'
rm "$tree/docs/rules/no-such.md"
mkdir "$tree/src/collector"
printf 'f(\n\tSAY_INFO,\n\t"gone-well", SAY_DEBUG, "of-ours");\n' >"$tree/src/collector/a.c"
sees "docs-check: an event without a row" 'tools/docs-check none' 'event gone-well of src/collector has no row'
echo 'the `gone-well`' >"$tree/docs/collector.md"
passes "docs-check: an event with a row" 'tools/docs-check none'
printf '\t"CREATE TABLE lost (x INTEGER)"\n' >"$tree/src/collector/store_sql.c"
sees "docs-check: a table without a row" 'tools/docs-check none' 'table lost has no row'
rm "$tree/src/collector/store_sql.c"
printf '#!/bin/sh\necho "  --colour WHEN"\n' >"$tree/prog"
chmod +x "$tree/prog"
sees "docs-check: an option without documentation" 'tools/docs-check ./prog' '--colour is named in no page'

fresh
web=$tree/web
mkdir "$web"
spdx='// SPDX-License-Identifier: Apache-2.0'
printf '%s\n' "$spdx" "import { used } from './b.js';" "export default { title: used };" "document.body.className = \`edge-\${used}\`;" >"$web/page_a.js"
printf '%s\n' "$spdx" "export const used = 'row';" >"$web/b.js"
printf '/* SPDX-License-Identifier: Apache-2.0 */\n.row { --line: red; color: var(--line); }\n.edge-warning,\n.row {\n}\n' >"$web/a.css"
if command -v node >/dev/null; then
	webcheck="node '$PWD/tools/webcheck' web"
	passes "webcheck: modules and sheets that use each other" "$webcheck"
	echo "export function lost() {}" >>"$web/b.js"
	sees "webcheck: an export that nobody imports" "$webcheck" 'b.js: exports lost'
	printf '%s\n' "$spdx" "export const used = 'row';" "document.body.innerHTML = used;" >"$web/b.js"
	sees "webcheck: markup made of text" "$webcheck" 'b.js:3: makes markup of text'
	printf '%s\n' "$spdx" "export const used = 'row';" >"$web/b.js"
	printf '.gone { color: red; }\n:root { --gone: red; }\n' >>"$web/a.css"
	sees "webcheck: a class that nothing has" "$webcheck" 'a.css:6: .gone'
	sees "webcheck: a colour that nothing uses" "$webcheck" 'a.css:7: --gone'
	printf '%s\n' "$spdx" "import './b.js';" >"$web/main.js"
	echo '<script type="module" src="/main.js"></script>' >"$web/index.html"
	sees "webcheck: a module that is asked for late" "$webcheck" 'index.html: b.js is part of the shell'
else
	echo 'ok - webcheck # SKIP node is not installed'
fi

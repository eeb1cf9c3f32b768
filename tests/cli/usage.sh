#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line as its user meets it: status, one line on stderr, nothing on stdout when it failed.
set -u
bad=0
result() # ok? name
{
	if [ "$1" = 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		bad=1
	fi
}

# name status stderr-part arguments...: stdout must be empty, stderr one line that holds the part.
refused()
{
	local name=$1 status=$2 part=$3 rc lines
	shift 3
	timeout 20 "$BANKFULL" "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null
	rc=$?
	lines=$(wc -l <"$TMPDIR/err")
	if [ $rc -eq "$status" ] && [ ! -s "$TMPDIR/out" ] && [ "$lines" -eq 1 ] && grep -qF -- "$part" "$TMPDIR/err" &&
		! LC_ALL=C grep -q '[^ -~]' "$TMPDIR/err"; then
		result 0 "$name"
	else
		echo "# status $rc, wanted $status with '$part'; $(wc -c <"$TMPDIR/out") bytes on stdout; stderr:"
		sed 's/^/#   /' "$TMPDIR/err"
		result 1 "$name"
	fi
}

# --- options ---------------------------------------------------------------------------------
refused "unknown command" 2 "no command 'reprot': see bankfull --help" reprot
refused "unknown command with a newline in it" 2 'no command' "$(printf 'a\nb\033[2J')"
refused "unknown option" 2 "no option --nonsense: see bankfull report --help" report --nonsense
refused "unknown option of capture" 2 "see bankfull capture --help" capture --nonsense
refused "an argument that is no option" 2 "'42' is no option" report 42
refused "option of another command" 2 "no option --output" report --output x
refused "missing value" 2 "--limit needs SIZE" report --limit
refused "missing value at the end" 2 "--pid needs N" report --no-attach --pid
refused "value where none belongs" 2 "--no-attach takes no value" report --no-attach=1
refused "a fraction" 2 "'1.5g' is no size" report --capture x --limit 1.5g
refused "a negative size" 2 "'-1' is no size" report --limit -1
refused "no limit" 2 "0 is no limit" report --limit 0
refused "no size at all" 2 "'' is no size" report --limit ''
refused "a size past 64 bits" 2 "is no size" report --limit 99999999999999999999
refused "control bytes in a size" 2 "\\x1b" report --limit "$(printf '1\033[2J\n2')"
refused "bytes that are no UTF-8" 2 "\\xff" report --limit "$(printf '1\377')"
refused "pid of a letter" 2 "'x' is no process id" report --pid x
refused "pid 0" 2 "'0' is no process id" report --pid 0
refused "pid past the kernel's" 2 "is no process id" report --pid 99999999999
refused "format of nobody" 2 "'xml' is none of table|json" report --format xml
refused "colour of nobody" 2 "is none of auto|always|never" report --color pink
refused "timeout of nothing" 2 "not between 1 and 60000" report --http-timeout 0
refused "two targets" 2 "--pid and --capture exclude each other" report --pid 1 --capture x
refused "a page beside a capture" 2 "--metrics and --capture exclude each other" report --metrics http://127.0.0.1:1/ --capture x
refused "capture without a place" 2 "say where to write: -o DIR" capture --pid $$

refused "a fleet of nobody" 2 "say which collector" fleet
refused "a fleet of what agents speak" 2 "is what agents speak" fleet --collector ws://127.0.0.1:1/agent
refused "a fleet by a token on the command line" 2 "secrets come from files" fleet --collector http://127.0.0.1:1 --token x
refused "a fleet with a limit of nothing" 2 "--limit" fleet --collector http://127.0.0.1:1 --limit 0
refused "a fleet that nobody serves" 3 "nobody listens there" fleet --collector http://127.0.0.1:1
refused "a fleet in a format of nobody" 2 "is none of table|json" fleet --collector http://127.0.0.1:1 --format xml
refused "watch without a terminal" 2 "watch needs a terminal: use bankfull report" watch --pid 1

# --- targets ---------------------------------------------------------------------------------
free=$(awk 'BEGIN { for (p = 4194303; ; p--) if (system("test -e /proc/" p)) { print p; exit } }')
refused "no such process" 3 "no process $free" report --pid "$free"
refused "no such process to capture" 3 "no process $free" capture -o "$TMPDIR/new" --pid "$free"
[ ! -e "$TMPDIR/new" ]
result $? "a capture that failed leaves no directory"
refused "a process that is no JVM" 2 "is no JVM (no libjvm.so is mapped)" report --pid $$
refused "its parent, no JVM either" 2 "is no JVM" report --pid $PPID

# --- captures --------------------------------------------------------------------------------
make_capture() # directory manifest-body
{
	mkdir -p "$TMPDIR/$1/proc"
	printf '%b' "$2" >"$TMPDIR/$1/manifest"
	printf 'abc' >"$TMPDIR/$1/proc/x"
}
refused "capture: no such directory" 2 "no such directory: give one that" report --capture "$TMPDIR/none"
mkdir "$TMPDIR/empty"
refused "capture: no manifest" 3 "is no capture: it has no manifest" report --capture "$TMPDIR/empty"
: >"$TMPDIR/file"
refused "capture: a file" 3 "file" report --capture "$TMPDIR/file"
make_capture cut 'bankfull-capture 1\npid 42\nfile proc/x 3\n'
refused "capture: cut manifest" 3 "its manifest is cut: copy the whole directory" report --capture "$TMPDIR/cut"
make_capture half 'bankfull-capture 1\npid 42\nfile proc/x'
refused "capture: manifest cut inside a line" 3 "wrong: take the capture again" report --capture "$TMPDIR/half"
make_capture missing 'bankfull-capture 1\npid 42\nfile proc/smaps 3\nend\n'
refused "capture: missing file" 3 "file proc/smaps is missing: copy the whole directory" report --capture "$TMPDIR/missing"
make_capture newer 'bankfull-capture 2\nend\n'
refused "capture: newer format" 3 "use a newer bankfull" report --capture "$TMPDIR/newer"
make_capture short 'bankfull-capture 1\npid 42\nfile proc/x 4\nend\n'
refused "capture: file shorter than it was" 3 "has 3 bytes, its manifest says 4" report --capture "$TMPDIR/short"
make_capture long 'bankfull-capture 1\npid 42\nfile proc/x 2\nend\n'
refused "capture: file longer than it was" 3 "file proc/x has" report --capture "$TMPDIR/long"
make_capture other 'something else\n'
refused "capture: another manifest" 3 "does not start with 'bankfull-capture N'" report --capture "$TMPDIR/other"
make_capture climb 'bankfull-capture 1\npid 42\nfile ../../x 3\nend\n'
refused "capture: a name that climbs" 3 "wrong: take the capture again" report --capture "$TMPDIR/climb"
make_capture huge 'bankfull-capture 1\npid 42\nfile proc/x 99999999999999\nend\n'
refused "capture: a size past all caps" 3 "larger than 128 MiB" report --capture "$TMPDIR/huge"
make_capture nopid 'bankfull-capture 1\nend\n'
refused "capture: of nobody" 3 "names no pid" report --capture "$TMPDIR/nopid"
make_capture nothing 'bankfull-capture 1\npid 42\nend\n'
refused "capture: nothing was read" 3 "nothing of process 42 could be read" report --capture "$TMPDIR/nothing"
make_capture link 'bankfull-capture 1\npid 42\nfile proc/y 3\nend\n'
ln -s ../../file "$TMPDIR/link/proc/y"
refused "capture: a link out of it" 3 "proc/y" report --capture "$TMPDIR/link"
mkfifo "$TMPDIR/link/proc/z"
printf 'bankfull-capture 1\npid 42\nfile proc/z 3\nend\n' >"$TMPDIR/link/manifest"
refused "capture: a FIFO in it does not block" 3 "proc/z" report --capture "$TMPDIR/link"
refused "capture: into a directory that is used" 3 "no process" capture --pid "$free" -o "$TMPDIR/cut"

# --- configuration ---------------------------------------------------------------------------
config() # name stderr-part text
{
	printf '%b' "$3" >"$TMPDIR/config.yaml"
	refused "config: $1" 2 "$2" report --config "$TMPDIR/config.yaml" --capture "$TMPDIR/empty"
}
refused "config: no such file" 2 "/none.yaml" report --config "$TMPDIR/none.yaml"
refused "config: a directory" 2 "$TMPDIR" report --config "$TMPDIR"
config "a tab" "config.yaml:2" 'limit: 1g\n\tpod-limit: 2g\n'
config "an anchor" "config.yaml:1" 'limit: &a 1g\npod-limit: *a\n'
config "a key twice" "config.yaml:2" 'limit: 1g\nlimit: 2g\n'
config "an unknown key" "unknown key 'limt'" 'limt: 1g\n'
config "a fraction" "'1.5g' is no size" 'limit: 1.5g\n'
config "a word for a switch" "no-attach is true or false" 'no-attach: maybe\n'
config "a list for a size" "limit takes one value, not a list" 'limit: [1g]\n'
config "a mapping for a size" "unknown key 'limit.a'" 'limit: {a: 1g}\n'
config "a second document" "config.yaml" 'limit: 1g\n---\nlimit: 2g\n'
config "no mapping" "config.yaml" '[1, 2]\n'
config "a NUL" "config.yaml" 'limit: "1g\\0"\n'
config "binary" "config.yaml" '\0\01\02\0377'
config "escape sequences" "unknown key" '"a\\e[2Jb": 1\n'
head -c 10000 /dev/zero | tr '\0' '[' >"$TMPDIR/config.yaml"
refused "config: 10,000 levels" 2 "config.yaml" report --config "$TMPDIR/config.yaml"
head -c 300000 /dev/zero | tr '\0' '#' >"$TMPDIR/config.yaml"
refused "config: larger than its cap" 2 "config.yaml" report --config "$TMPDIR/config.yaml"

# --- what succeeds ---------------------------------------------------------------------------
good() # name stdout-part arguments...
{
	local name=$1 part=$2
	shift 2
	if "$BANKFULL" "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null && [ ! -s "$TMPDIR/err" ] && grep -qF -- "$part" "$TMPDIR/out"; then
		result 0 "$name"
	else
		sed 's/^/#   /' "$TMPDIR/out" "$TMPDIR/err" | head -n 20
		result 1 "$name"
	fi
}
good "--version" "bankfull " --version
version=$("$BANKFULL" --version)
for program in "$BANKFULL" "$BANKFULL"-collector "$BANKFULL"-watch; do
	[ "$("$program" --version 2>&1)" = "$(basename "$program") ${version#bankfull }" ]
	result $? "$(basename "$program") says the same version"
done
good "--help" "usage: bankfull COMMAND" --help
good "-h" "usage: bankfull COMMAND" -h
good "help lists watch" "  watch " help
good "help lists fleet" "  fleet " help
for command in report capture watch fleet; do
	good "$command --help" "usage: bankfull $command" "$command" --help
	good "$command -h" "exit status:" "$command" -h
	awk 'length > 120 { exit 1 }' "$TMPDIR/out"
	result $? "$command --help fits 120 columns"
done
good "help wins over a missing target" "--metrics URL" report --pid 1 --help
"$BANKFULL" >"$TMPDIR/out" 2>"$TMPDIR/err"
[ $? -eq 2 ] && [ ! -s "$TMPDIR/out" ] && grep -q '^usage: bankfull COMMAND' "$TMPDIR/err"
result $? "no command at all is usage, on stderr"

# A report that cannot be written is an error, not a short report.
if [ -e /dev/full ]; then
	captures=(tests/fixtures/*/manifest)
	if [ -e "${captures[0]}" ]; then
		"$BANKFULL" report --capture "${captures[0]%/*}" >/dev/full 2>"$TMPDIR/err"
		[ $? -eq 3 ] && grep -q 'could not be written to standard output' "$TMPDIR/err"
		result $? "a full disk under standard output"
	fi
fi
exit $bad

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# beside: it mostly waits
# Our WebSocket client and server against a foreign one (Python's standard library) and each other, in the clear and
# over TLS with a CA made here: valid, expired, of another host, of an unknown CA, of a client; rotated while it runs;
# peers that are stopped or never answer.
set -u
cd "$(dirname "$0")/../.." || exit 2
: "${BUILD:=build/release}" "${TMPDIR:=/tmp}"
work=$(mktemp -d "$TMPDIR/net_ws.XXXXXX") || exit 2
server='' other='' bad=0

end_server()
{
	[ -z "$server" ] || { kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
	[ -z "$other" ] || { kill "$other" 2>/dev/null; wait "$other" 2>/dev/null; }
	server='' other=''
}
trap 'end_server; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

result() # status name
{
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		tail -n 20 "$work/answer" "$work/server" 2>/dev/null | sed 's/^/# /'
		echo "not ok - $2"
		bad=1
	fi
}

certificate() # name CA subject-alt-names days extended-use
{
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/$1.key" -out "$work/$1.csr" \
		-subj "/CN=$1" 2>/dev/null &&
		openssl x509 -req -in "$work/$1.csr" -CA "$work/$2.pem" -CAkey "$work/$2.key" -CAcreateserial -days "$4" \
			-out "$work/$1.pem" -extfile <(echo "subjectAltName=$3"; echo "extendedKeyUsage=$5") 2>/dev/null
}

authority() # name
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/$1.key" \
		-out "$work/$1.pem" -subj "/CN=$1" -days 30 -addext basicConstraints=critical,CA:TRUE 2>/dev/null
}

await() # file pattern
{
	for _ in $(seq 100); do
		grep -q "$2" "$1" 2>/dev/null && return 0
		sleep 0.05
	done
	return 1
}

start() # certificate key client-CA
{
	end_server
	"$work/probe" server "$@" >"$work/server" 2>&1 &
	server=$!
	await "$work/server" '^port\|^failed'
	port=$(sed -n 's/^port //p' "$work/server")
}

client() # URL CA certificate key name
{
	timeout 20 "$work/probe" client "$@" >"$work/answer" 2>&1
}

python()
{
	timeout 60 python3 tests/integration/net_ws.py "$@" >"$work/answer" 2>&1
}

says()
{
	grep -q -- "$1" "$work/answer"
	result $? "$2"
}

# shellcheck disable=SC2046
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -Iinclude -Isrc -o "$work/probe" tests/integration/net_probe.c \
	-Wl,--start-group "$BUILD"/libnet.a "$BUILD"/libsys.a "$BUILD"/libbase.a -Wl,--end-group \
	$(pkg-config --libs libcurl libwebsockets libuv openssl) >"$work/answer" 2>&1 || { cat "$work/answer"; exit 1; }
make_all()
{
	authority ca && authority stranger && authority client-ca &&
		certificate good ca IP:127.0.0.1,DNS:collector.test 30 serverAuth &&
	certificate elsewhere ca DNS:elsewhere.test 30 serverAuth &&
	certificate late ca IP:127.0.0.1 -1 serverAuth &&
	certificate unknown stranger IP:127.0.0.1 30 serverAuth &&
	certificate agent client-ca URI:spiffe://test/ns/a/sa/b,DNS:agent.test 30 clientAuth &&
	certificate rogue stranger DNS:rogue.test 30 clientAuth
}
make_all || { echo "not ok - certificates"; exit 1; }

start - - -
python client "$port"
result $? "a foreign client in the clear"
says '"tls":0,"peer":"127.0.0.1"' "its request is seen as it came"
client "ws://127.0.0.1:$port/agent" - - - -
says '^frame hello' "our client in the clear"
python crowd "$port" 800 "$server"
awk '{ exit !($1 > 0 && $1 < 6) }' "$work/answer"
result $? "an idle session costs less than 6 KiB ($(cat "$work/answer"))"
kill -STOP "$server"
client "ws://127.0.0.1:$port/agent" - - - -
says 'unreached.*deadline' "a stopped server is given up in time"
kill -CONT "$server"

python3 tests/integration/net_ws.py deaf >"$work/deaf" 2>&1 &
other=$!
await "$work/deaf" '^port'
client "ws://127.0.0.1:$(sed -n 's/^port //p' "$work/deaf")/agent" - - - -
says '^closed status=101 code=0 why=nothing came for 3 s' "a server that falls silent is given up"
await "$work/deaf" '^pinged'
result $? "and was pinged before"

python client "$port"
result $? "the server serves on"

cp "$work/good.pem" "$work/live.pem" && cp "$work/good.key" "$work/live.key"
start "$work/live.pem" "$work/live.key" "$work/client-ca.pem"
url=wss://127.0.0.1:$port/agent
python client "$port" "$work/ca.pem"
result $? "a foreign client over TLS, without a certificate"
says '"sans":"","tls":1' "which has no names then"
python client "$port" "$work/ca.pem" "$work/agent.pem" "$work/agent.key"
says '"sans":"spiffe://test/ns/a/sa/b agent.test "' "a client certificate's names are seen"
! python client "$port" "$work/ca.pem" "$work/rogue.pem" "$work/rogue.key"
result $? "a client certificate of a stranger is refused"
python resume "$port" "$work/ca.pem"
says '^resumed' "sessions are resumed"
client "$url" "$work/ca.pem" - - -
says '^frame hello' "our client over TLS"
client "$url" "$work/ca.pem" "$work/agent.pem" "$work/agent.key" -
grep -q '^upgrade 2 spiffe://test/ns/a/sa/b' "$work/server" && grep -q '^frame hello' "$work/answer"
result $? "our client with a certificate"
# The alert may be lost to the reset that follows it: it must come in one of several tries, and each must end.
for _ in $(seq 20); do
	client "$url" "$work/ca.pem" "$work/rogue.pem" "$work/rogue.key" -
	grep -q '^unreached' "$work/answer" || break
	grep -q 'the server says' "$work/answer" && break
done
says '^unreached.*the server says: unknown CA' "our client with a stranger's is refused and says why"
client "$url" "$work/ca.pem" - - collector.test
says '^frame hello' "the name that is expected may be another one"
client "$url" "$work/ca.pem" - - wrong.test
says '^unreached.*[Hh]ostname mismatch' "a certificate of another name is refused"
client "$url" "$work/stranger.pem" - - -
says '^unreached.*certificate: ' "a certificate of an unknown CA is refused"
client "$url" - - - -
says '^unreached.*certificate: ' "the system's CAs do not know it either"
client "wss://127.0.0.1:1/agent" "$work/ca.pem" - - -
says '^unreached' "nobody listens"
client "ws://127.0.0.1:$port/agent" - - - -
says '^unreached' "no TLS where TLS is spoken"
printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; cat <&3" >"$work/answer" 2>&1
! grep -q 200 "$work/answer"
result $? "no HTTP in the clear where TLS is spoken"
timeout 5 openssl s_client -connect "127.0.0.1:$port" -tls1_1 </dev/null >"$work/answer" 2>&1
grep -q 'Cipher is (NONE)' "$work/answer"
result $? "no TLS 1.1"

echo garbage >"$work/live.pem"
await "$work/server" 'the old certificate stays' || await "$work/server" 'the old certificate stays'
result $? "a bad certificate is told"
client "$url" "$work/ca.pem" - - -
says '^frame hello' "and the old one stays"
cp "$work/late.pem" "$work/live.pem" && cp "$work/late.key" "$work/live.key"
for _ in $(seq 10); do
	sleep 1
	client "$url" "$work/ca.pem" - - -
	grep -q expired "$work/answer" && break
done
says '^unreached.*expired' "a new certificate is taken while it runs; this one has expired"

start "$work/nowhere.pem" "$work/good.key" -
cp "$work/server" "$work/answer"
says '^failed: probe: .*nowhere.pem' "a certificate that is not there is named"
exit $bad

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# time-limit: 120
# beside: it waits for servers to start
# The authority of an installation, made once (init-tls), and the collector that makes its own certificate from it: agents
# that trust the authority connect, the certificate is made anew when the names are others, and remove-tls leaves nothing.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build/release}
work=$(mktemp -d "${TMPDIR:-/tmp}/tls.XXXXXX")
api='' collector='' bad=0
end()
{
	local pid
	for pid in $api $collector; do { kill "$pid"; wait "$pid"; } 2>/dev/null; done
	rm -rf "$work"
}
trap end EXIT
result() { if [ "$1" = 0 ]; then echo "ok - $2"; else echo "not ok - $2"; bad=1; fi; }

echo token-of-the-account-1 >"$work/token"
python3 tests/support/kube_store.py token-of-the-account-1 "$work/store" >"$work/url" &
api=$!
for _ in $(seq 300); do [ ! -s "$work/url" ] || break; sleep 0.1; done
export BANKFULL_API_URL BANKFULL_API_TOKEN_FILE=$work/token BANKFULL_API_NAMESPACE=mon
BANKFULL_API_URL=$(cat "$work/url")
field() { python3 -c 'import base64,json,sys; v=json.load(open(sys.argv[1]))[sys.argv[2]]["data"][sys.argv[3]]; print(base64.b64decode(v).decode() if sys.argv[2].startswith("secrets") else v, end="")' "$work/store" "$1" "$2"; }

"$build/bankfull-collector" init-tls b-ca b-ca >"$work/said" 2>&1 && grep -q 'an authority was made' "$work/said"
result $? 'init-tls makes an authority'
field secrets/b-ca ca.crt >"$work/ca.crt"; field secrets/b-ca ca.key >"$work/ca.key"
field configmaps/b-ca ca.crt | cmp -s - "$work/ca.crt"
result $? 'its certificate stands in the ConfigMap'
! grep -q 'PRIVATE KEY' "$work/said" && ! field configmaps/b-ca ca.crt | grep -q PRIVATE
result $? 'its key in the Secret alone'
openssl x509 -in "$work/ca.crt" -noout -checkend $((3649 * 86400)) >/dev/null && openssl x509 -in "$work/ca.crt" -noout -text | grep -q 'CA:TRUE, pathlen:0'
result $? 'it is good for ten years and signs servers alone'
cp "$work/store" "$work/before"
"$build/bankfull-collector" init-tls b-ca b-ca >"$work/said" 2>&1 && cmp -s "$work/store" "$work/before" && grep -q 'it is kept' "$work/said"
result $? 'again: it is kept'
python3 - "$BANKFULL_API_URL" <<'LOSE'
import sys, urllib.request
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/api/v1/namespaces/mon/configmaps/b-ca", method="DELETE", headers={"Authorization": "Bearer token-of-the-account-1"}))
LOSE
"$build/bankfull-collector" init-tls b-ca b-ca >/dev/null 2>&1; field configmaps/b-ca ca.crt | cmp -s - "$work/ca.crt"
result $? 'a ConfigMap that was lost is made again, from the same authority'
echo wrong-token-of-nobody >"$work/token"
"$build/bankfull-collector" init-tls b-ca b-ca >"$work/said" 2>&1
[ $? -eq 3 ] && grep -q 'may not do this' "$work/said"
result $? 'an account that may not'
echo token-of-the-account-1 >"$work/token"
"$build/bankfull-collector" init-tls 'B CA' b-ca >"$work/said" 2>&1
[ $? -eq 2 ] && grep -q 'names of Kubernetes' "$work/said"
result $? 'a name that is none'

# --- the collector's own certificate ---
port=$(python3 tests/integration/ports.py 2>/dev/null | head -n 1)
[ -n "$port" ] || port=$(python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])')
mkdir "$work/ca" "$work/run" "$work/data"
cp "$work/ca.crt" "$work/ca.key" "$work/ca"
(umask 077; echo 'a/b 0123456789abcdef0123' >"$work/agents")
begin() # NAMES
{
	"$build/bankfull-collector" --listen-agents "127.0.0.1:$port" --data "$work/data" --tls-ca "$work/ca" --tls-names "$1" \
		--tls-cert "$work/run/tls.crt" --tls-key "$work/run/tls.key" --agent-tokens "$work/agents" >/dev/null 2>"$work/log" &
	collector=$!
	for _ in $(seq 300); do ! grep -q '"event":"listening"' "$work/log" || break; sleep 0.1; done
}
stop() { kill "$collector" 2>/dev/null; wait "$collector" 2>/dev/null; collector=''; }
begin bankfull.mon.svc,127.0.0.1
openssl verify -CAfile "$work/ca.crt" "$work/run/tls.crt" >/dev/null 2>&1
result $? 'the collector makes a certificate of that authority'
[ "$(stat -c %a "$work/run/tls.key")" = 600 ]
result $? 'its key is nobody else'\''s'
echo 0123456789abcdef0123 >"$work/agent-token"
"$build/bankfull" doctor --collector-only --collector "wss://127.0.0.1:$port/agent" --token-file "$work/agent-token" --ca-file "$work/ca.crt" >"$work/said" 2>&1 && grep -q 'takes this agent' "$work/said"
result $? 'an agent that trusts it connects'
[ $bad = 0 ] || sed 's/^/# /' "$work/said" "$work/log"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -out "$work/other.crt" -subj /CN=Bankfull -days 2 2>/dev/null
"$build/bankfull" doctor --collector-only --collector "wss://127.0.0.1:$port/agent" --token-file "$work/agent-token" --ca-file "$work/other.crt" >"$work/said" 2>&1
grep -q '^bad   collector' "$work/said"
result $? 'one that trusts another does not'
stop
cp "$work/run/tls.crt" "$work/first.crt"
begin bankfull.mon.svc,127.0.0.1; stop
cmp -s "$work/first.crt" "$work/run/tls.crt"
result $? 'a certificate that is good is kept'
begin bankfull.mon.svc,other,127.0.0.1; stop
! cmp -s "$work/first.crt" "$work/run/tls.crt" && openssl x509 -in "$work/run/tls.crt" -noout -text | grep -q 'DNS:other'
result $? 'with other names another one is made'
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/ca/ca.key" -out "$work/ca/ca.crt" -subj /CN=short -days 9 -addext keyUsage=keyCertSign 2>/dev/null
begin a; stop
cp "$work/run/tls.crt" "$work/first.crt"
begin a; stop
cmp -s "$work/first.crt" "$work/run/tls.crt"
result $? 'one that ends with its authority is not made again and again'
rm "$work/ca/ca.key"; rm "$work/run/tls.crt"
"$build/bankfull-collector" --listen-agents "127.0.0.1:$port" --data "$work/data" --tls-ca "$work/ca" --tls-names a --tls-cert "$work/run/tls.crt" --tls-key "$work/run/tls.key" --agent-tokens "$work/agents" >/dev/null 2>"$work/log"
[ $? -ne 0 ] && grep -q 'tls-ca' "$work/log"
result $? 'an authority without its key'

"$build/bankfull-collector" remove-tls b-ca b-ca >/dev/null 2>&1 && [ "$(cat "$work/store")" = '{}' ]
result $? 'remove-tls leaves nothing'
"$build/bankfull-collector" remove-tls b-ca b-ca >/dev/null 2>&1
result $? 'nor complains when there is nothing'
exit $bad

#!/bin/sh
# Starts the stand-in service and the gateway, shows requests that are served and one that is refused, stops both.
# Outside a checkout of gw, say where its bin is: GW=/path/to/gw/host/gw.js ./run.sh, or GW=node_modules/gw/dist/gw.js of the package
set -eu
here=$(cd "$(dirname "$0")" && pwd)
gw=${GW:-"$here/../../host/gw.js"}
port=${PORT:-8080}
acme_port=${ACME_PORT:-8081}
log=$(mktemp)
upstream='' gateway=''
stop() {
  # shellcheck disable=SC2086 # two process ids, or none
  kill $gateway $upstream 2>/dev/null || true
  wait 2>/dev/null || true
  rm -f "$log"
}
trap stop EXIT
trap 'exit 130' INT TERM

[ -f "$gw" ] || { echo "there is no $gw: set GW to host/gw.js of a gw checkout, or dist/gw.js of the package" >&2; exit 1; }
installer=$(dirname "$gw")/ensure-installed.js
[ ! -f "$installer" ] || node "$installer" # a checkout; the package was installed with what it needs

PORT=$acme_port node "$here/upstream.js" >/dev/null &
upstream=$!

export MASTER_KEY=gw_00000000000000000000000000000000 # of this example only
PORT=$port GATEWAY_CONFIG=$here/config.yaml ACME_API_KEY=acme-demo-key ACME_BASE_URL=http://127.0.0.1:$acme_port/v1 \
  node "$gw" serve >"$log" 2>&1 &
gateway=$!

until curl -fs -o /dev/null "http://127.0.0.1:$port/readyz"; do
  kill -0 "$gateway" 2>/dev/null || { cat "$log" >&2; exit 1; }
  sleep 0.2
done

ask() {
  printf '\n== %s\n%s\n' "$1" "$2"
  curl -sS -w '\n(status %{http_code})\n' "http://127.0.0.1:$port/v1/chat/completions" \
    -H "Authorization: Bearer $MASTER_KEY" -H 'Content-Type: application/json' -d "$2"
}

ask 'a short prompt: the strategy sends it to echo' \
  '{"model": "demo", "messages": [{"role": "user", "content": "Hello, gateway!"}]}'
ask 'a long prompt: it goes to acme, and seed under the name acme knows' \
  '{"model": "demo", "seed": 7, "messages": [{"role": "user", "content": "Tell me what you know of gateways, in a few sentences."}]}'
ask 'a prompt that names an internal host: the plugin refuses it' \
  '{"model": "demo", "messages": [{"role": "user", "content": "What runs on db1.corp.example?"}]}'

#!/bin/sh
# Starts the gateway on this folder, asks it, and stops it.
# Outside a checkout of gw, say where its bin is: GW=/path/to/gw/host/gw.js ./run.sh, or GW=node_modules/gw/dist/gw.js of the package
set -eu
here=$(cd "$(dirname "$0")" && pwd)
gw=${GW:-"$here/../../host/gw.js"}
port=${PORT:-8080}
log=$(mktemp)
first='' upstream='' gateway=''
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

export MASTER_KEY=gw_00000000000000000000000000000000 # of this example only
export FLEET_OLD_KEY=fleet-demo-old-key FLEET_KEY=fleet-demo-new-key
PORT=8001 FLEET_KEY='' node "$here/server.js" gpu-1 >"$log" 2>&1 &
first=$!
PORT=8002 node "$here/server.js" gpu-2 >>"$log" 2>&1 &
upstream="$first $!"
PORT=$port GATEWAY_CONFIG=$here/config.yaml node "$gw" serve >>"$log" 2>&1 &
gateway=$!
until curl -fs -o /dev/null "http://127.0.0.1:$port/livez"; do
  kill -0 "$gateway" 2>/dev/null || { cat "$log" >&2; exit 1; }
  sleep 0.2
done

ask() {
  printf '\n== %s, session %s\n' "$1" "$2"
  curl -sS -D - "http://127.0.0.1:$port/v1/chat/completions" -H "Authorization: Bearer $MASTER_KEY" -H 'Content-Type: application/json' \
    -H "X-Gateway-Session: $2" -d '{"model": "qwen3", "messages": [{"role": "user", "content": "hi"}]}' |
    grep -i '^\(http\|x-gateway-\(target\|attempts\|affinity\)\|{\)'
}

for session in linus grace linus grace; do ask 'both servers run' "$session"; done
kill "$first"
for session in linus grace; do ask 'gpu-1 is down' "$session"; done

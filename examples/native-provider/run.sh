#!/bin/sh
# Starts the gateway on this folder, asks it, and stops it.
# Outside a checkout of gw, say where its bin is: GW=/path/to/gw/host/gw.js ./run.sh, or GW=node_modules/gw/dist/gw.js of the package
set -eu
here=$(cd "$(dirname "$0")" && pwd)
gw=${GW:-"$here/../../host/gw.js"}
port=${PORT:-8080}
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

export MASTER_KEY=gw_00000000000000000000000000000000 # of this example only
brook_port=${BROOK_PORT:-8082}
PORT=$brook_port node "$here/upstream.js" >/dev/null &
upstream=$!
PORT=$port GATEWAY_CONFIG=$here/config.yaml BROOK_TOKEN=brook-demo-token BROOK_BASE_URL=http://127.0.0.1:$brook_port \
  node "$gw" serve >"$log" 2>&1 &
gateway=$!
until curl -fs -o /dev/null "http://127.0.0.1:$port/livez"; do
  kill -0 "$gateway" 2>/dev/null || { cat "$log" >&2; exit 1; }
  sleep 0.2
done

ask() {
  printf '\n== %s\n%s\n' "$1" "$2"
  curl -sS -D - "http://127.0.0.1:$port/v1/chat/completions" -H "Authorization: Bearer $MASTER_KEY" -H 'Content-Type: application/json' -d "$2" |
    grep -vi '^\(cache\|content\|cross\|date\|strict\|vary\|x-content\|x-frame\|connection\|keep\|referrer\|permissions\|transfer\)'
}

ask 'the whole answer' '{"model": "demo", "messages": [{"role": "user", "content": "how are you?"}]}'
ask 'the same streamed, with what it used in the last line' '{"model": "demo", "stream": true, "messages": [{"role": "user", "content": "how are you?"}], "stream_options": {"include_usage": true}}'
ask 'its own error' '{"model": "demo", "messages": [{"role": "user", "content": "flood"}]}'

#!/bin/sh
# Makes the secrets that are missing and starts the gateway: ./up.sh [-f compose.postgres.yaml]
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets

random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }
# The folder is open to its owner alone; what is mounted of it, the user of the container has to read.
make() { [ -e "secrets/$1" ] || { printf '%s' "$2" >"secrets/$1" && chmod 644 "secrets/$1"; }; }

make master_key "gw_$(random)"
make postgres_password "$(random)"
make postgres_dsn "postgres://gw:$(cat secrets/postgres_password)@postgres:5432/gw"
make openai_api_key "${OPENAI_API_KEY:-}"
if [ ! -s secrets/openai_api_key ]; then
  rm -f secrets/openai_api_key
  echo 'secrets/openai_api_key is empty: write the key of OpenAI into it, or set OPENAI_API_KEY' >&2
  exit 1
fi

docker compose "$@" up -d --wait
echo 'http://127.0.0.1:8080 answers. The key that opens everything is in secrets/master_key.'

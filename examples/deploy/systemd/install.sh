#!/bin/sh
# Puts the gateway on a machine with systemd, and starts nothing: sh install.sh [--dry-run] <archive of npm pack>
# Files of /etc/gw that are there already stay as they are, so it can be run again with a newer archive.
set -eu
umask 022

dry=no
if [ "${1:-}" = --dry-run ]; then
  dry=yes
  shift
fi
if [ "$#" -ne 1 ]; then
  echo 'use: sh install.sh [--dry-run] <archive of npm pack>' >&2
  exit 2
fi
if [ ! -f "$1" ]; then
  echo "install.sh: $1: no such file" >&2
  exit 1
fi
archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)

run() {
  echo "+ $*"
  [ "$dry" = yes ] || "$@"
}

keep() { # <group> <mode> <file here> <file there>
  if [ -e "$4" ]; then
    echo "= $4 stays as it is"
  else
    run install -o root -g "$1" -m "$2" "$here/$3" "$4"
  fi
}

run install -D -o root -g root -m 0644 "$here/sysusers.conf" /etc/sysusers.d/gw.conf
run systemd-sysusers /etc/sysusers.d/gw.conf
run install -d -o root -g gw -m 0750 /etc/gw
keep root 0600 gw.env /etc/gw/gw.env
keep gw 0640 config.yaml /etc/gw/config.yaml
run install -d -o root -g root -m 0755 /opt/gw
run npm install --prefix /opt/gw --omit=dev --no-audit --no-fund "$archive"
run install -D -o root -g root -m 0644 "$here/gw.service" /etc/systemd/system/gw.service
run systemctl daemon-reload
echo 'Write MASTER_KEY and the credentials of providers into /etc/gw/gw.env, then: systemctl enable --now gw'

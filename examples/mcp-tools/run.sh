#!/bin/sh
# Starts this example, asks it, and stops it: README.md says what to see.
exec node "${GW_EXAMPLES:-$(dirname "$0")/..}/run.mjs" "$(dirname "$0")" "$@"

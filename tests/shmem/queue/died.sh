#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# died.sh OSHRUN PROGRAM: a job whose PE dies ends, while a queue waits for that PE.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
timeout 20 "$1" -n 2 "$2" >"$log" 2>&1
status=$?
[ "$status" -ne 0 ] && [ "$status" -ne 124 ] && grep -q '^oshrun: PE 1 ' "$log" && exit 0
echo "status $status"
cat "$log"
exit 1

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pmix_auto.sh OSHRUN PURE HYBRID: a PMIx server is there for programs that may need one, and not for
# one that links our library alone.
set -eu
oshrun=$1 pure=$2 hybrid=$3
why=$("$oshrun" --pmix=on -n 1 true 2>&1) || {
    echo "$why"
    case $why in *'built without PMIx'* | *'cannot open libpmix'*) exit 77 ;; esac
    exit 1
}
expect() {
    said=$(shift && "$@")
    [ "$said" = "$1" ] || { echo "$said, not $*"; exit 1; }
}
expect none "$oshrun" -n 1 "$pure"
expect server "$oshrun" -n 1 "$hybrid"
expect server "$oshrun" -n 1 sh -c "$pure"
expect server "$oshrun" --pmix=on -n 1 "$pure"
expect none "$oshrun" --pmix=off -n 1 "$hybrid"
# What is no program, or a damaged one, is not looked into beyond its end.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for size in 1 3 17 40 63 64 100 700 1500 5000; do
    head -c "$size" "$pure" >"$scratch/damaged"
    chmod +x "$scratch/damaged"
    status=0
    "$oshrun" -n 1 "$scratch/damaged" >"$scratch/out" 2>&1 || status=$?
    # Running it may crash the PE; looking at it must not crash oshrun.
    grep -q '^oshrun: PE 0\|^oshrun: cannot' "$scratch/out" || [ "$status" -lt 128 ] ||
        { echo "status $status at $size bytes"; cat "$scratch/out"; exit 1; }
done

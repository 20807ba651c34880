#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hydro.sh PROGRAM: shock tubes in both directions are right, wrong arguments are refused.
set -eu

program=$1

fail() {
    echo "FAILED: $*"
    exit 1
}

for along in x y; do
    out=$("$program" --side 64 --steps 1000 --along $along) || fail "along $along: $out"
    for line in sod-error drift-error conservation visits-lost sweep-x tracers rate; do
        echo "$out" | grep -q "^$line  *[0-9]" || fail "no $line in: $out"
    done
done
for wrong in '--side 15' '--steps 0' '--along z' '--place fast' '--side' '--none 1' '--side 64x' \
    '--side 32 --place densty=high_bw'; do
    code=0
    # shellcheck disable=SC2086 # words
    said=$("$program" $wrong 2>&1 >/dev/null) || code=$?
    [ "$code" -eq 2 ] || fail "$wrong: status $code"
    case $said in
    *"${wrong%% *}"*'is not understood'*) ;;
    *'--place'*'is not understood'*) ;;
    *) fail "$wrong is not named: $said" ;;
    esac
done
case $program in
*placed)
    "$program" --side 32 --steps 2 --place large_cap --place density=high_bw >/dev/null ||
        fail 'arrays in spaces by name'
    ;;
esac

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# alloc.sh PROGRAM: a quick run writes files that are what they claim; bad options are refused.
set -eu

program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}

timeout 10 "$program" alloc --quick --rounds 1 --peers memspan,memspan-custom,glibc \
    --csv "$folder/csv" --json "$folder/json" --svg "$folder/svg" >"$folder/out" ||
    fail 'the quick run'
[ "$(head -n 1 "$folder/csv" | tr -d '\r')" = \
    row,peer,unit,rounds,median,min,max,memspan_ratio,result ] || fail 'the CSV header has changed'
grep -q '^pair-64,glibc,ns,1,.*,measured' "$folder/csv" || fail 'no row of glibc'
grep -q '^limit-usable,memspan,percent,1,.*,measured' "$folder/csv" || fail 'no usable part'
grep -q '^lookup-64,memspan,ns,1,.*,measured' "$folder/csv" || fail 'no lookup'
grep -q '</svg>' "$folder/svg" || fail 'the SVG file is not whole'
if command -v jq >/dev/null; then
    jq -e '.schema == 1 and .benchmark == "alloc" and (.rows | length) == 45' "$folder/json" \
        >/dev/null || fail 'the JSON file'
fi
for bad in '--rows nothing' '--peers nobody' '--rounds 0' '--nonsense'; do
    code=0
    # shellcheck disable=SC2086
    "$program" alloc $bad >"$folder/out" 2>&1 || code=$?
    [ "$code" -eq 2 ] || fail "exit code $code instead of 2: $bad"
done

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme.sh README LIBRARY INCLUDE COMPILER [FLAG...]: README's sample, as it is printed
# there. It works on the runtime's device, and where that has none on the host.
set -u
readme=$1 library=$2 include=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk '/^## / { inside = ($0 == "## A sample") }
     inside && code && /^```$/ { exit }
     inside && code { print }
     inside && /^```c$/ { code = 1 }' "$readme" >"$work/program.c"
[ -s "$work/program.c" ] || { echo 'no sample in README' >&2; exit 1; }
"$@" -Wall -Wextra -Werror -I"$include" "$work/program.c" -o "$work/program" "$library" \
    -Wl,-rpath,"$(dirname "$library")" -Wl,--allow-shlib-undefined || exit 1
"$work/program" >"$work/out" 2>&1
status=$?
cat "$work/out"
[ "$status" -eq 0 ] && [ "$(cat "$work/out")" = 999 ]

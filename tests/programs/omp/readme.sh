#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme.sh README LIBRARY INCLUDE COMPILER [FLAG...]: the example of README's section on OpenMP, as it
# is printed there. Where the compiler's runtime has devices it works; else it ends with a reason.
set -u
readme=$1 library=$2 include=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

awk '/^## / { inside = ($0 == "## Use it from OpenMP") }
     inside && code && /^```$/ { exit }
     inside && code { print }
     inside && /^```c$/ { code = 1 }' "$readme" >"$work/program.c"
[ -s "$work/program.c" ] || { echo 'no example in README' >&2; exit 1; }
"$@" -Wall -Wextra -Werror -I"$include" "$work/program.c" -o "$work/program" "$library" \
    -Wl,-rpath,"$(dirname "$library")" -Wl,--allow-shlib-undefined || exit 1
"$work/program" >"$work/out" 2>"$work/err"
status=$?
cat "$work/out" "$work/err"
if [ "$status" -eq 0 ]; then
    [ "$(cat "$work/out")" = 999 ] || { echo 'another result' >&2; exit 1; }
elif [ "$status" -eq 1 ]; then
    reason=$(grep -v '^memspan\[' "$work/err")
    [ -n "$reason" ] && grep '^memspan.* warn omp: omp_get_target_memspace is refused' "$work/err" |
        grep -qF "$reason" || { echo 'no reason, or another in the log' >&2; exit 1; }
else
    echo "exit status $status" >&2
    exit 1
fi

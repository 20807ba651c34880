#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# self_test.sh COMPILER: check.sh and tls.sh accept a library that keeps its word and find each that does
# not.
set -eu
compiler=$1
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT INT TERM
mkdir -p "$tree/include/memspan" "$tree/lists"
cat >"$tree/include/memspan/a.h" <<'C'
#define MEMSPAN_API __attribute__((visibility("default")))
/* A MEMSPAN_API name in prose (no call). */
MEMSPAN_API const char *memspan_one(int (*f)(void),
                                    int x);
MEMSPAN_API void
memspan_two(void);
C
printf '# why\nomp_three # more\n' >"$tree/lists/omp.txt"

build() { # build SOURCE [FLAGS...]
    printf '%s\n' "$1" >"$tree/a.c"
    shift
    "$compiler" -shared -fPIC -fvisibility=hidden "$@" -o "$tree/liba.so" "$tree/a.c"
}
check() { "$here/check.sh" "$tree/liba.so" "$tree/include" "$tree/lists" >"$tree/said" 2>&1; }
refused() {
    if check || ! grep -q "$1" "$tree/said"; then
        echo "wanted \"$1\", got: $(cat "$tree/said")" >&2
        exit 1
    fi
}

d='__attribute__((visibility("default")))'
all="$d void memspan_one(void) {} $d void memspan_two(void) {} $d void omp_three(void) {}"
build "$all void hidden(void) {}"
check || { cat "$tree/said" >&2; exit 1; }
build "$all $d void four(void) {}"
refused 'exported, but in no public header or list: four'
build "$all $d int data = 1;"
refused 'exported, but in no public header or list: data'
build "$d void memspan_one(void) {} $d void omp_three(void) {}"
refused 'declared or listed, but not exported: memspan_two'
build "$d void memspan_one(void) {} $d void memspan_two(void) {}"
refused 'declared or listed, but not exported: omp_three'
printf 'OMP_5.0 { global: *; };\n' >"$tree/map"
build "$all" "-Wl,--version-script=$tree/map"
refused 'has a version'
printf 'extern void *omp_five(int x);\n' >"$tree/include/memspan/omp.h"
build "$all"
refused 'declared in memspan/omp.h, but not exported: omp_five'
echo 'check.sh finds what it should'

build "$d int read_one(int i) { static __thread char a[96]; return ++a[i]; }"
"$here/tls.sh" 96 "$tree/liba.so"
if "$here/tls.sh" 95 "$tree/liba.so" >"$tree/said" || ! grep -q '^96 ' "$tree/said"; then
    echo "tls.sh: wanted 96 bytes refused, got: $(cat "$tree/said")" >&2
    exit 1
fi
build "$all"
"$here/tls.sh" 0 "$tree/liba.so"
echo 'tls.sh finds what it should'

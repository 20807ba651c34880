#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# self_test.sh COMPILER...: check.sh accepts a good header and refuses bad ones.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT INT TERM
mkdir -p "$tree/memspan"

refused() {
    printf '%s\n' "$1" >"$tree/memspan/bad.h"
    shift
    if "$here/check.sh" "$tree" "$@" >/dev/null 2>&1; then
        echo "accepted: $(cat "$tree/memspan/bad.h")" >&2
        exit 1
    fi
    rm "$tree/memspan/bad.h"
}

printf '#ifndef G\n#define G\n#include <stddef.h>\nsize_t f(void);\n#endif\n' >"$tree/memspan/good.h"
status=0
"$here/check.sh" "$tree" "$@" || status=$?
[ "$status" = 0 ] || exit "$status"
refused 'size_t f(void);' "$@"
refused 'enum twice { A };' "$@"
refused 'static inline int f(int class) { return class; }' "$@"
refused 'static inline int f(int unused) { return 0; }' "$@"
refused "$(printf '#if defined(__cplusplus) && !defined(G)\n#define G\ntemplate <class T> T f(T);\n#endif\n')" "$@"
refused '#define A_CONSTANT ((unsigned)3)' "$@"
echo 'check.sh refuses what it should'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# own_handle.sh LIBRARY STOCK LINKED: `own_handle` is right stock, preloaded and linked, also where
# the runtime makes an allocator as it starts.
set -u
library=$1 stock=$2 linked=$3
extra=${OMP_TEST_PRELOAD:-}
failures=0

try() { # HOW PRELOAD PROGRAM
    for allocator in "" omp_default_mem_space:alignment=256; do
        said=$(OMP_ALLOCATOR=$allocator LD_PRELOAD="$2" "$3" 2>&1) || {
            printf '%s, OMP_ALLOCATOR=%s:\n%s\n' "$1" "$allocator" "$said" >&2
            failures=$((failures + 1))
        }
    done
}

try stock "$extra" "$stock"
try preloaded "$extra $library" "$stock"
try linked "$extra" "$linked"
exit $((failures != 0))

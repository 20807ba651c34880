#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# environment.sh LIBRARY STOCK LINKED: what OMP_ALLOCATOR must do, by the program `environment`,
# preloaded and linked.
set -u
library=$1 stock=$2 linked=$3
extra=${OMP_TEST_PRELOAD:-}
failures=0

try() { # TEXT EXPECTATION
    for how in preloaded linked; do
        if [ $how = preloaded ]; then
            said=$(OMP_ALLOCATOR="$1" LD_PRELOAD="$extra $library" "$stock" "$2" 2>&1)
        else
            said=$(OMP_ALLOCATOR="$1" LD_PRELOAD="$extra" "$linked" "$2" 2>&1)
        fi
        if [ $? -ne 0 ]; then
            printf '%s, OMP_ALLOCATOR=%s, expected %s:\n%s\n' $how "$1" "$2" "$said" >&2
            failures=$((failures + 1))
        fi
        if [ "${3:-}" ]; then
            case $said in
            *"$3"*) ;;
            *)
                printf '%s, OMP_ALLOCATOR=%s: nothing was said of "%s":\n%s\n' $how "$1" "$3" \
                    "$said" >&2
                failures=$((failures + 1))
                ;;
            esac
        fi
    done
}

try "" same
try omp_default_mem_alloc same
try omp_high_bw_mem_alloc =4
try omp_thread_mem_alloc =8
try omp_high_bw_mem_space =4
try omp_default_mem_space same
try "omp_large_cap_mem_space:alignment=256" 256
try " OMP_Low_Lat_Mem_Space : alignment = 512 , pool_size = 64m " 512
try "omp_default_mem_space:fallback=allocator_fb,fb_data=omp_high_bw_mem_alloc,alignment=64" 64
try llvm_omp_target_host_mem_alloc =100
try omp_target_shared_mem_alloc =101
try ompx_gnu_pinned_mem_alloc =200
# Malformed: the default, and a message that names what is wrong.
try nonsense same '"nonsense"'
try 5 same '"5"'
try omp_default_mem_alloc:pinned=true same 'omp_default_mem_alloc'
try "omp_high_bw_mem_space:" same 'trait=value'
try "omp_high_bw_mem_space:alignment=48" same 'alignment'
try "omp_high_bw_mem_space:aligment=64" same 'alignment'
try "omp_high_bw_mem_space:fb_data=unknown" same 'unknown'
# Pinned memory is locked memory: only where the limit lets a pool be locked.
limit=$(awk '/^Max locked memory/ { print $4 }' /proc/self/limits)
if [ "$limit" = unlimited ] || [ "$limit" -ge 8388608 ]; then
    try "omp_high_bw_mem_space:pinned=true,alignment=64" 64
fi
exit $((failures != 0))

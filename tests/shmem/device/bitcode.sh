#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bitcode.sh CLANG FILE...: kernels that link the bitcode of GPUs. All that they call is in it; their
# registers and spills are printed, those of NVIDIA's where ptxas is, and no register is spilled.
clang=$1
shift
[ $# -gt 0 ] || { echo "skip: no bitcode is built"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
failed=0

# linked FILE FLAGS...: the kernels' assembly in $folder/kernel.s.
linked() {
    file=$1
    shift
    if ! "$clang" -O2 -Wall -Wextra -Werror -ffreestanding -nogpulib "$@" -Xclang -mlink-builtin-bitcode -Xclang "$file" \
        -S "$(dirname "$0")/bitcode.c" -o "$folder/kernel.s"; then
        failed=1
        return 1
    fi
}

# defined FILE: of amdgcn's assembly; all functions that it calls are in it.
defined() {
    awk '/^shmemx[a-z0-9_]*:/ { sub(/:.*/, "", $1); has[$1] = 1 }
        match($0, /shmemx[a-z0-9_]*@/) { calls[substr($0, RSTART, RLENGTH - 1)] = 1 }
        END { for (name in calls) if (!(name in has)) { print "not in the bitcode: " name; bad = 1 } exit bad }' "$1"
}

# record NAME: "KERNEL REGISTERS SPILLED" of the three kernels, in $folder/counts.
record() {
    awk -v name="$1" '
        { printf "%s: %s: %d registers, %d spilled\n", name, $1, $2, $3; count++; spilled += $3 }
        END { exit (count != 3) || (spilled != 0) }' "$folder/counts" || {
        echo "$1: not three kernels without spills"
        failed=1
    }
}

for file in "$@"; do
    case $file in
    *amdgcn*)
        for processor in gfx90a gfx942 gfx1100; do
            linked "$file" --target=amdgcn-amd-amdhsa -mcpu=$processor || continue
            defined "$folder/kernel.s" || failed=1
            awk '$1 == ".name:" && NF == 2 { name = $2 } $1 == ".vgpr_count:" { count = $2 }
                $1 == ".vgpr_spill_count:" && name != "" { print name, count, $2; name = "" }' "$folder/kernel.s" \
                >"$folder/counts"
            record $processor
        done
        ;;
    *nvptx64*)
        for processor in sm_70 sm_90; do
            linked "$file" --target=nvptx64-nvidia-cuda -march=$processor -Xclang -target-feature \
                -Xclang +ptx78 || continue
            ! grep '^\.extern .*shmemx' "$folder/kernel.s" || failed=1
            [ -n "$ptxas" ] || { echo "$processor: compiled; there is no ptxas"; continue; }
            "$ptxas" -v -c -arch=sm_90 "$folder/kernel.s" -o "$folder/kernel.cubin" 2>&1 |
                awk '/Compiling entry function/ { split($0, part, "\047"); name = part[2] }
                    /spill stores/ { spilled = $5 } / Used / { print name, $5, spilled }' >"$folder/counts"
            record "$processor by ptxas"
        done
        ;;
    esac
done
exit $failed

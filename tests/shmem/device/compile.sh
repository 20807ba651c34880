#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compile.sh SOURCE CLANG: the header for every processor that this Clang has, freestanding, and as
# C++; OpenSHMEM's own names in target regions; by nvcc where it is, whose assembler also reads Clang's
# code. Code alone: no device runs it.
source=$1
clang=$2
command -v "$clang" >/dev/null || { echo "there is no clang"; exit 77; }
kernel=$(dirname "$0")/kernel.c
targets=$("$clang" -print-targets)
major=$(echo __clang_major__ | "$clang" -E -P -)
failed=0
[ "$major" -ge 16 ] || { echo "Clang $major knows neither gfx942 nor sm_90"; exit 77; }

# compile NAME FLAGS...
compile() {
    name=$1
    shift
    if "$clang" -O1 -Wall -Wextra -Werror -ffreestanding -I"$source/include" "$@" \
        -S "$kernel" -o /dev/null; then
        echo "$name: compiled"
    else
        echo "$name: not compiled"
        failed=1
    fi
}

# calls_no_library NAME SOURCE FLAGS...: the device's code of regions with OpenSHMEM's names.
calls_no_library() {
    name=$1
    regions=$(dirname "$0")/$2
    shift 2
    if ! code=$("$clang" -O1 -Wall -Wextra -Werror -Wno-openmp-mapping -fopenmp "$@" \
        --offload-device-only -D_GNU_SOURCE -I"$source" -I"$source/include" -S -emit-llvm \
        "$regions" -o - 2>&1); then
        echo "$code"
        case $code in
        # Glibc 2.41's <stdlib.h> alone is refused by Clang 19 for NVIDIA's processors.
        *bits/floatn.h*__TC__*) echo "$name: not compiled, this clang lacks a type of the system's headers" ;;
        *) echo "$name: not compiled" && failed=1 ;;
        esac
    elif echo "$code" | grep '^declare .*@shmem' || ! echo "$code" | grep -q '^define '; then
        echo "$name: the device calls the library"
        failed=1
    else
        echo "$name: compiled"
    fi
}

# has NAME: this Clang generates code for it.
has() {
    echo "$targets" | grep -qw "$1"
}

compile "C" -std=c11 -Wpedantic
compile "C++" -x c++ -std=c++17 -Wpedantic
! has aarch64 || compile "aarch64" --target=aarch64-linux-gnu
for processor in gfx90a gfx942; do
    ! has amdgcn || compile "amdgcn $processor" --target=amdgcn-amd-amdhsa -mcpu=$processor -nogpulib
done
for processor in sm_70 sm_90; do
    ! has nvptx64 || compile "nvptx64 $processor" --target=nvptx64-nvidia-cuda -march=$processor -nogpulib \
        -Xclang -target-feature -Xclang +ptx78
done
# Older ones call an external translator.
if [ "$major" -ge 20 ] && has spirv64; then
    compile "spirv64" --target=spirv64
fi
if ! echo '#include <omp.h>' | "$clang" -fopenmp -fsyntax-only -x c - 2>/dev/null; then
    echo "OpenSHMEM's names: not compiled, this clang has no omp.h"
else
    if has x86-64; then
        calls_no_library "names, C" names.c -fopenmp-targets=x86_64-pc-linux-gnu
        calls_no_library "names, C++" names.cc -std=c++17 -fopenmp-targets=x86_64-pc-linux-gnu
    fi
    ! has amdgcn || calls_no_library "names, gfx90a" names.c --offload-arch=gfx90a -nogpulib
    ! has nvptx64 || calls_no_library "names, sm_70" names.c --offload-arch=sm_70 -nogpulib \
        -Xclang -target-feature -Xclang +ptx78
fi
# by_toolkit NAME COMMAND...
by_toolkit() {
    name=$1
    shift
    if "$@"; then
        echo "$name: compiled"
    else
        echo "$name: not compiled"
        failed=1
    fi
}
toolkit=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) || exit $failed
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
by_toolkit "nvcc sm_90" "$toolkit" -x cu -std=c++17 -arch=sm_90 -Werror all-warnings -I"$source/include" \
    -cubin "$kernel" -o "$folder/nvcc.cubin"
if has nvptx64; then
    "$clang" -O1 -ffreestanding -I"$source/include" --target=nvptx64-nvidia-cuda -march=sm_70 -nogpulib \
        -S "$kernel" -o "$folder/kernel.ptx"
    by_toolkit "nvptx64 by ptxas" "${toolkit%nvcc}ptxas" -c -arch=sm_90 "$folder/kernel.ptx" -o "$folder/clang.cubin"
fi
exit $failed

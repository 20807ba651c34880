#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pack.sh [PRESET|BUILD [FOLDER]]: gathers what run.sh needs on a machine with a GPU: no compiler, no
# package and no network is needed there. Without arguments: what the preset release builds, into
# build/hardware. A folder that is built already is taken as it is. Then, on that machine:
#
#   FOLDER/run.sh [BACKEND [RESULTS [STEP...]]]
#
# Programs with target regions are built by GCC, where it has a compiler for NVIDIA's GPUs (Debian:
# gcc-12-offload-nvptx; HARDWARE_CC names another GCC), programs of CUDA's runtime by nvcc, where it is
# (HARDWARE_NVCC). The folder stays below 64 MiB: Clang's runtime for devices needs libLLVM, which
# alone has 129 MB.
set -eu
cd "$(dirname "$0")/../.."
preset=${1:-release}
folder=${2:-build/hardware}
programs='tests/conform/conform bin/memquery bin/memspan-bench bin/memspan-bench-cuda-blocks bin/oshrun
    tests/fakes/cuda/cuda-program tests/fakes/cuda/cuda-calls tests/fakes/cuda/cuda-race
    tests/fakes/cuda/no-descriptors tests/fakes/cuda/cuda-queue tests/fakes/cuda/cuda-shmem tests/queue/queue-model
    tests/soak/memspan-soak tests/shmem/partition/shmem-kinds tests/shmem/partition/shmem-ends
    tests/shmem/collective/shmem-device-reduce'

build=$preset
if [ ! -f "$build/build.ninja" ]; then
    build=build/$preset
    grep -qs '^MEMSPAN_BUILD_TESTS:BOOL=ON' "$build/CMakeCache.txt" ||
        cmake --preset "$preset" -DMEMSPAN_BUILD_TESTS=ON >/dev/null
    targets=
    for program in $programs; do
        targets="$targets ${program##*/}"
    done
    [ ! -d "$build/python" ] || targets="$targets memspan-python"
    # shellcheck disable=SC2086 # names
    cmake --build "$build" --target $targets
fi

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
for program in $programs; do
    cp "$build/$program" "$folder/bin/"
done
# The program over CCCL has CUDA's runtime inside.
nvcc=${HARDWARE_NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ ! -x "$nvcc" ] || "$nvcc" -std=c++17 -arch=sm_90 -O2 -Iinclude tests/hardware/cuda_mr.cu -o "$folder/bin/cuda-mr" \
    -L"$build/lib" -lmemspan
[ ! -d "$build/python" ] || cp -LR "$build/python" "$folder/"
# hwloc is opened at run time: no program names it.
hwloc=$(sed -n 's/^pkgcfg_lib_HWLOC_hwloc:[^=]*=//p' "$build/CMakeCache.txt")
[ -z "$hwloc" ] || cp -L "$hwloc" "$folder/lib/libhwloc.so.15"
# All libraries but the C library's own, which must be that machine's: its drivers use it.
for program in "$folder"/bin/* "$folder"/lib/*; do
    ldd "$program" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r library; do
    case ${library##*/} in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.*) ;;
    libhwloc.so.*) ;;
    *) cp -L "$library" "$folder/lib/" ;;
    esac
done
# Target regions. What a region has of a pointer that is mapped nowhere differs: with GCC 12 it is null.
gcc=${HARDWARE_CC:-gcc-12}
flags='-O2 -w -D_GNU_SOURCE -I. -Iinclude -fopenmp -foffload=nvptx-none
    -foffload-options=nvptx-none=-misa=sm_80 -no-pie'
region() {
    name=$1
    shift
    # shellcheck disable=SC2086 # words
    "$gcc" $flags -o "$folder/regions/$name" "$@" -L"$build/lib" -lmemspan -ljansson -lm
}
mkdir "$folder/regions"
if region kinds tests/programs/offload/kinds.c 2>"$folder/regions/why"; then
    for name in managed bad_lists mapped_named device_only device_lists; do
        region $name "tests/programs/offload/$name.c"
    done
    # shellcheck disable=SC2046 # names
    region memspan-bench-offload bench/daxpy/engine_offload.c \
        $(find "$build/bench/CMakeFiles/memspan-bench.dir" -name '*.o' ! -name 'engine_*') \
        "$build/cmd/common/libmemspan-cli.a"
    for name in libgomp.so.1 libgomp-plugin-nvptx.so.1; do
        cp -L "$("$gcc" -print-file-name=$name)" "$folder/lib/"
    done
fi
# Kernels that call OpenSHMEM: by Clang, whose code the driver translates, and by nvcc where it is.
for clang in ${HARDWARE_CLANG:-clang-19 clang-20 clang-21 clang-22 clang}; do
    "$clang" --target=nvptx64-nvidia-cuda -march=sm_70 -O2 -Werror -ffreestanding -nogpulib -Iinclude -S \
        tests/hardware/cuda_shmem_kernels.c -o "$folder/kernels-clang.ptx" 2>"$folder/why-clang" && break
done
[ ! -x "$nvcc" ] || "$nvcc" -x cu -std=c++17 -arch=sm_90 -Iinclude -cubin tests/hardware/cuda_shmem_kernels.c \
    -o "$folder/kernels-nvcc.cubin"
strip -g "$folder"/regions/* "$folder"/bin/* "$folder"/lib/* 2>/dev/null || true
cp tests/hardware/run.sh tests/hardware/frameworks.py "$folder/"
git rev-parse HEAD >"$folder/commit" 2>/dev/null || echo unknown >"$folder/commit"
du -sh "$folder"

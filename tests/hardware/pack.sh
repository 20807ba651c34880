#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pack.sh [PRESET|BUILD [FOLDER]]: gathers what run.sh needs on a machine with a GPU: no compiler, no
# package and no network is needed there. Without arguments: what the preset release builds, into
# build/hardware. A folder that is built already is taken as it is. Then, on that machine:
#
#   FOLDER/run.sh [BACKEND [RESULTS [STEP...]]]
#
# It stays below 64 MiB, so programs with target regions are not in it (daxpy by OpenMP, the mini-apps
# of bench/hybrid): Clang's runtime for devices needs libLLVM, which alone has 129 MB.
set -eu
cd "$(dirname "$0")/../.."
preset=${1:-release}
folder=${2:-build/hardware}
programs='tests/conform/conform bin/memquery bin/memspan-bench bin/memspan-bench-cuda-blocks bin/oshrun
    tests/fakes/cuda/cuda-program tests/fakes/cuda/cuda-calls tests/fakes/cuda/cuda-race
    tests/fakes/cuda/no-descriptors
    tests/soak/memspan-soak tests/shmem/partition/shmem-kinds tests/shmem/partition/shmem-ends
    tests/shmem/collective/shmem-device-reduce'

build=$preset
if [ ! -f "$build/build.ninja" ]; then
    build=build/$preset
    [ -f "$build/build.ninja" ] || cmake --preset "$preset" >/dev/null
    targets=
    for program in $programs; do
        targets="$targets ${program##*/}"
    done
    # shellcheck disable=SC2086 # names
    cmake --build "$build" --target $targets
fi

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
for program in $programs; do
    cp "$build/$program" "$folder/bin/"
done
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
strip -g "$folder"/bin/* "$folder"/lib/* 2>/dev/null || true
cp tests/hardware/run.sh "$folder/"
git rev-parse HEAD >"$folder/commit" 2>/dev/null || echo unknown >"$folder/commit"
du -sh "$folder"

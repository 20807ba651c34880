#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pack.sh [PRESET [FOLDER]]: gathers what a machine with a GPU needs to run the conformance suite and
# the benchmarks, built here: no compiler, no package and no network is needed there. Without
# arguments: what the preset release builds, into build/hardware. Then, on that machine:
#
#   FOLDER/run.sh [BACKEND [RESULTS [STEP...]]]
set -eu
cd "$(dirname "$0")/../.."
preset=${1:-release}
folder=${2:-build/hardware}
build=build/$preset

[ -f "$build/build.ninja" ] || cmake --preset "$preset" >/dev/null
cmake --build "$build" --target conform memquery memspan-bench memspan-bench-cuda-blocks cuda-program

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
for program in tests/conform/conform bin/memquery bin/memspan-bench bin/memspan-bench-cuda-blocks \
    tests/fakes/cuda/cuda-program; do
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
    *) cp -L "$library" "$folder/lib/" ;;
    esac
done
cp tests/hardware/run.sh "$folder/"
git rev-parse HEAD >"$folder/commit" 2>/dev/null || echo unknown >"$folder/commit"
du -sh "$folder"

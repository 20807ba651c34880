#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install.sh BUILD-FOLDER PREFIX: what `cmake --install` puts there, and nothing outside.
set -eu
build=$1 prefix=$2
rm -rf "$prefix"
# CPack writes the same list in another test: a copy of ours is for the test of uninstalling.
for _ in 1 2 3; do
    cmake --install "$build" --prefix "$prefix" >/dev/null
    cp "$build/install_manifest.txt" "$prefix.manifest"
    ! grep -qv "^$prefix/" "$prefix.manifest" || continue
    break
done
# Uninstalling removes what this list has.
if find "$prefix" ! -type d | grep -vxFf "$prefix.manifest"; then
    echo 'files are installed that install_manifest.txt does not list' >&2
    exit 1
fi
for file in memspan.h memspan.hpp omp.h backend.h; do
    [ -f "$prefix/include/memspan/$file" ] || { echo "$file was not installed" >&2; exit 1; }
done
# Only public headers (the benchmark of OpenSHMEM comes as sources: each library's compiler builds
# it), and each library under its names.
public="^$prefix/(include/(memspan|shmem|mpp)/|include/p?shmem(x|x_device)?\\.h$|libexec/memspan/bench/)"
if find "$prefix" -name '*.h' -o -name '*.hpp' | grep -vE "$public"; then
    echo 'headers that are not public were installed' >&2
    exit 1
fi
find "$prefix" -path '*/doc/memspan/guide/openmp.md' | grep -q . || { echo 'no guide' >&2; exit 1; }
if [ -x "$prefix/bin/memquery" ] && [ ! -f "$prefix/share/memspan/memquery.schema.json" ]; then
    echo 'no schema of memquery' >&2
    exit 1
fi
find "$prefix" -path '*/memspan/_shmem_declarations.py' | grep -q . || { echo 'no Python module' >&2; exit 1; }
find "$prefix" -name 'libmemspan.so' | grep -q . || { echo 'no libmemspan.so' >&2; exit 1; }
find "$prefix" -name 'libmemspan.so.0' | grep -q . || { echo 'no libmemspan.so.0' >&2; exit 1; }
if [ -f "$prefix/include/shmem.h" ]; then
    for file in lib*/libmemspan-shmem.so.0 bin/oshcc bin/oshc++ bin/oshrun share/man/man1/oshrun.1; do
        find "$prefix" -path "$prefix/$file" | grep -q . || { echo "no $file" >&2; exit 1; }
    done
fi
# Where it was built must not matter to what is installed. Debug information names the sources.
if grep -rl "$build" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h' --include='oshc*'; then
    echo 'the build folder is named in what was installed' >&2
    exit 1
fi

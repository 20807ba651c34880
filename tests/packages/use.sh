#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# use.sh VERSION: what users of the Debian packages do, by an ordinary user: programs in C (pkg-config,
# CMake), C++, OpenSHMEM, Fortran and Python, the tools, the manual, and the pages of the installed guide.
# README.md's commands have oshcc and oshrun; the packages have oshcc.memspan and oshrun.memspan.
set -eu
version=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# equal WHAT EXPECTED FOUND
equal() {
    [ "$2" = "$3" ] || { printf '%s: expected %s, found %s\n' "$1" "$2" "$3" >&2; exit 1; }
    echo "  $1"
}

# shellcheck disable=SC2046 # words
cc "$here/consumer/consumer.c" $(pkg-config --cflags --libs memspan) -o by-pkg-config
equal 'C by pkg-config' "$version" "$(./by-pkg-config)"
cmake -S "$here/consumer" -B cmake >log && cmake --build cmake >>log || { cat log; exit 1; }
equal 'C by CMake' "$version" "$(cmake/consumer)"
equal 'OpenSHMEM by CMake' "$version" "$(cmake/shmem-consumer)"
oshcc.memspan "$here/consumer/shmem_consumer.c" -o by-oshcc
equal 'OpenSHMEM by oshcc.memspan' "$version $version" "$(oshrun.memspan -n 2 ./by-oshcc | paste -sd ' ')"
readelf -d by-pkg-config by-oshcc | grep -E 'RPATH|RUNPATH' && { echo 'a run path below /usr' >&2; exit 1; }

mkdir bin
ln -s "$(command -v oshcc.memspan)" bin/oshcc
ln -s "$(command -v oshc++.memspan)" bin/oshc++
ln -s "$(command -v oshrun.memspan)" bin/oshrun
PATH=$work/bin:$PATH
export PATH
for page in cxx openshmem python fortran administrator status; do
    "$here/run.sh" /usr "/usr/share/doc/memspan-doc/guide/$page.md" >log 2>&1 || { cat log >&2; exit 1; }
    echo "  the guide's page $page"
done

memquery --version | grep -qF "$version"
memquery | grep -q '^host'
memquery --check devices=host
memspan-advise true
memspan-bench --list >log
python3 -m memspan | grep -q '^host'
LD_PRELOAD=$(pkg-config --variable=libdir memspan)/libmemspan.so.0 MEMSPAN_STATS=exit true
echo '  memquery, memspan-advise, memspan-bench, python3 -m memspan, LD_PRELOAD'

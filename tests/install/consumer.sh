#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# consumer.sh PREFIX SCRATCH COMPILER VERSION HOW README [FLAGS]: short programs find the libraries HOW
# (cmake, pkg-config by README's command, or oshcc), build, and run without LD_LIBRARY_PATH: one of the C
# interface, and one of OpenSHMEM that asks libmemspan for the reason of a failure. The prefix is moved
# first, as packagers do. FLAGS: what the library's own build needs of every program (a sanitizer).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 scratch=$2 compiler=$3 version=$4 how=$5 readme=$6 flags=${7:-}
rm -rf "$scratch"
mkdir -p "$scratch"
cp -R "$prefix" "$scratch/moved"
prefix=$scratch/moved
has_shmem=no
[ ! -f "$prefix/include/shmem.h" ] || has_shmem=yes

# readme_command SOURCE: README's line that compiles SOURCE.
readme_command() {
    sed -n "s/^.*\(cc $1 \$(pkg-config [^)]*)\).*/\1/p" "$readme"
}

case $how in
cmake)
    cmake -S "$here/consumer" -B "$scratch" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags"
    cmake --build "$scratch"
    ;;
pkg-config)
    command -v pkg-config >/dev/null || { echo 'pkg-config is not here'; exit 77; }
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name memspan.pc)")
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion memspan)" = "$version" ]
    cd "$scratch"
    mkdir -p bin
    ln -s "$(command -v "$compiler")" bin/cc
    PATH=$scratch/bin:$PATH
    cp "$here/consumer/consumer.c" example.c
    eval "$(readme_command example.c) $flags -o consumer"
    if [ "$has_shmem" = yes ]; then
        cp "$here/consumer/shmem_consumer.c" ring.c
        eval "$(readme_command ring.c) $flags -o shmem-consumer"
    fi
    ;;
oshcc)
    [ "$has_shmem" = yes ] || { echo 'OpenSHMEM is not built'; exit 77; }
    # shellcheck disable=SC2086 # none, or a list
    OSH_CC=$compiler "$prefix/bin/oshcc" $flags "$here/consumer/shmem_consumer.c" -o "$scratch/shmem-consumer"
    ;;
*)
    echo "no way $how" >&2
    exit 2
    ;;
esac

# The libraries that are found are those that were installed.
for name in consumer shmem-consumer; do
    program=$scratch/$name
    [ -x "$program" ] || continue
    said=$("$program") || { echo "$name failed" >&2; exit 1; }
    [ "$said" = "$version" ] || { echo "$name said $said" >&2; exit 1; }
    ldd "$program" | grep "$prefix" | grep -q libmemspan.so.0
done
[ "$how" = oshcc ] || [ -x "$scratch/consumer" ]
[ "$has_shmem" = no ] || [ -x "$scratch/shmem-consumer" ]

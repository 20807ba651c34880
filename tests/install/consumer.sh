#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# consumer.sh PREFIX SCRATCH COMPILER VERSION HOW [FLAGS]: a ten-line program finds the library HOW
# (cmake or pkg-config), builds and runs. The prefix is moved first, as packagers do. FLAGS: what
# the library's own build needs of every program (a sanitizer).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 scratch=$2 compiler=$3 version=$4 how=$5 flags=${6:-}
rm -rf "$scratch"
mkdir -p "$scratch"
cp -R "$prefix" "$scratch/moved"
prefix=$scratch/moved
library=$(dirname "$(find "$prefix" -name libmemspan.so)")

case $how in
cmake)
    cmake -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS="$flags"
    cmake --build "$scratch/build"
    program=$scratch/build/consumer
    ;;
pkg-config)
    command -v pkg-config >/dev/null || { echo 'pkg-config is not here'; exit 77; }
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name memspan.pc)")
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion memspan)" = "$version" ]
    # shellcheck disable=SC2046,SC2086 # lists of flags
    "$compiler" $flags "$here/consumer/consumer.c" -o "$scratch/consumer" \
        $(pkg-config --cflags --libs memspan)
    program=$scratch/consumer
    ;;
*)
    echo "no way $how" >&2
    exit 2
    ;;
esac
said=$(LD_LIBRARY_PATH=$library "$program")
[ "$said" = "$version" ] || { echo "the program said $said" >&2; exit 1; }
# The library that was found is the one that was installed.
LD_LIBRARY_PATH=$library ldd "$program" | grep "$prefix" | grep -q libmemspan.so.0

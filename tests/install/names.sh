#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh SOURCES COMPILER: oshrun, oshcc and oshc++ are installed under other names where that is
# asked for, with their manual pages, or not at all.
set -eu
sources=$1 compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

# installed FOLDER OPTIONS...: what a build with these options installs, a name a line.
installed() {
    folder=$scratch/$1
    shift
    cmake -S "$sources" -B "$scratch/build" -G Ninja -DCMAKE_C_COMPILER="$compiler" \
        -DMEMSPAN_BUILD_TESTS=OFF -DMEMSPAN_BUILD_BENCH=OFF "$@" >"$scratch/log" 2>&1 &&
        cmake --build "$scratch/build" --target oshrun >>"$scratch/log" 2>&1 &&
        cmake --install "$scratch/build" --component osh --prefix "$folder" >>"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        exit 1
    }
    [ ! -d "$folder" ] || (cd "$folder" && find . -type f | sort)
}

says() {
    [ "$1" = "$2" ] || { printf 'installed:\n%s\n' "$1" >&2; exit 1; }
}

says "$(installed renamed -DMEMSPAN_OSH_PREFIX=my- -DMEMSPAN_OSH_SUFFIX=.memspan)" \
    './bin/my-oshc++.memspan
./bin/my-oshcc.memspan
./bin/my-oshrun.memspan
./share/bash-completion/completions/my-oshrun.memspan
./share/man/man1/my-oshc++.memspan.1
./share/man/man1/my-oshcc.memspan.1
./share/man/man1/my-oshrun.memspan.1'
grep -q '^\.so man1/my-oshcc.memspan.1$' "$scratch/renamed/share/man/man1/my-oshc++.memspan.1" || {
    echo 'the page of oshc++ leads nowhere' >&2
    exit 1
}
grep -q '^complete .* my-oshrun.memspan ' "$scratch/renamed/share/bash-completion/completions/my-oshrun.memspan" || {
    echo 'bash does not complete my-oshrun.memspan' >&2
    exit 1
}
[ "$("$scratch/renamed/bin/my-oshrun.memspan" --pmix=off -n 1 echo runs)" = runs ]
says "$(installed nothing -DMEMSPAN_INSTALL_OSH=OFF)" ''

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tarball.sh BUILD PREFIX CPACK: the tarball of cpack has what is installed, and runs where it is unpacked; that of
# the sources has what a build needs, and nothing that was built.
set -eu
build=$1 prefix=$2 cpack=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

# packed CONFIGURATION: unpacks its tarball, and prints the folder.
packed() {
    "$cpack" --config "$build/$1" -B "$scratch/$1.d" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
    tar -x -f "$scratch/$1.d"/memspan-*.tar.gz -C "$scratch"
    basename "$scratch/$1.d"/memspan-*.tar.gz .tar.gz
}

listed() {
    (cd "$1" && find . ! -type d ! -name '*.pyc' | sort)
}

folder=$scratch/$(packed CPackConfig.cmake)
listed "$prefix" >"$scratch/installed"
listed "$folder" | diff "$scratch/installed" -
"$folder/bin/memquery" --version
"$folder/bin/oshrun" --pmix=off -n 2 true
sources=$scratch/$(packed CPackSourceConfig.cmake)
[ -x "$sources/cmake/bootstrap" ]
[ -f "$sources/core/CMakeLists.txt" ]
[ ! -e "$sources/build" ]
[ ! -e "$sources/.git" ]

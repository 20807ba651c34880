#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh BUILD-FOLDER SOURCE-FOLDER: README's two commands in their order, `./cmake/bootstrap demo` and
# then `cmake --install`: every file that is installed and has to be built is built by the targets
# that the demo builds. Ninja is asked what these need; nothing is built.
set -eu
build=$1 source=$2
bad=0
[ -f "$build/build.ninja" ] || { echo 'SKIP this build is not of Ninja'; exit 77; }

targets=$(sed -n 's/^ *build_preset release \(.*\) || exit 1$/\1/p' "$source/cmake/bootstrap")
[ -n "$targets" ] || { echo "cmake/bootstrap's demo builds nothing"; exit 1; }
needed=$(mktemp)
trap 'rm -f "$needed"' EXIT
# shellcheck disable=SC2086 # names of targets
ninja -C "$build" -t commands $targets | tr ' =' '\n' >"$needed"

count=0
for file in $(find "$build" -name cmake_install.cmake -exec grep -ho "\"$build/[^\"]*\"" {} + |
    tr -d '"' | grep -v -e /CMakeFiles/ -e /cmake_install.cmake -e '/$' | sort -u); do
    name=${file#"$build/"}
    ninja -C "$build" -t query "$name" >/dev/null 2>&1 || continue # made when the build is configured
    count=$((count + 1))
    # A link that follows a library is named in its folder; what a custom command makes, by its whole path.
    grep -qxF -e "$name" -e "${name##*/}" -e "$build/$name" "$needed" || { echo "installed, and not built by the demo: $name"; bad=1; }
done
[ "$count" -ge 5 ] || { echo "only $count files are built and installed"; bad=1; }
for document in README.md cmake/bootstrap; do # the demo ends with what to do next
    grep -q 'cmake --install build/release' "$source/$document" || { echo "$document installs otherwise"; bad=1; }
done
exit "$bad"

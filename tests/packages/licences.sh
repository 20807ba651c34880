#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# licences.sh TREE: every file has a licence and a copyright by REUSE's rules: `reuse lint` in a copy of those
# that are tracked, or in the tarball, in which Debian's copyright is the .reuse/dep5, whose format it has, and
# LICENSE the text of the licence.
set -eu
cd "$1"
command -v reuse >/dev/null || { echo 'skip: reuse is not here'; exit 77; }
files() {
    if [ "$(git rev-parse --show-toplevel 2>&1)" = "$(pwd -P)" ]; then
        git ls-files -z
    else
        find . -path ./build -prune -o -type f -print0
    fi
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
files | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$scratch"
cd "$scratch"
mkdir .reuse LICENSES
cp cmake/packages/debian/copyright .reuse/dep5
cp LICENSE LICENSES/BSD-3-Clause.txt
# The same text for those who read Debian's file alone.
sed -n '/^License: BSD-3-Clause$/,$p' cmake/packages/debian/copyright | sed -n '/^ /{s/^ \.$//;s/^ //;p;}' |
    tail -n +1 | sed '/./,$!d' >short
sed -n '/^Redistribution/,$p' LICENSE >long
diff short long || { echo 'the licence in cmake/packages/debian/copyright is not that of LICENSE'; exit 1; }
rm short long
reuse --no-multiprocessing lint >report 2>&1 || { cat report; exit 1; }

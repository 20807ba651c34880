#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build.sh PREFIX FOLDER COMPILER: build the example against what was installed in PREFIX.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1 folder=$2 compiler=$3
rm -rf "$folder"
cmake -S "$here/example" -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Debug
cmake --build "$folder"
# The tree's own headers must not have been in reach.
if grep -rq "$here/../../include" "$folder" --include='*.make' --include='*.ninja' --include='*.d'; then
    echo "the example was built against the tree, not against $prefix" >&2
    exit 1
fi

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sample.sh BUILD FOLDER: regions.sh on the programs in sample, of which sample/moved.txt has the calls that are moved,
# the regions, and the calls that stay. FOLDER is for results.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
PLACE=$2 RUNS='2 3:tcp:1' "$here/regions.sh" "$1" "$here/sample" || exit $?
awk '{ print $1, $2, $3, $4 }' "$2/sample.table" | diff "$here/sample/moved.txt" - ||
    { echo 'other calls are moved than before'; exit 1; }

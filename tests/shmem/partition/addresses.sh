#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# addresses.sh OSHRUN PROGRAM: under a limit on address space a job starts wherever it starts under a
# smaller one: what is reserved for partitions leaves room for the rest.
set -u
oshrun=$1
program=$2
bad=0

# shellcheck disable=SC3045 # every sh here has -v
for gigabytes in 12 14 16 17 18 19 20 24 32 34 35 40 68 69 80; do
    said=$( (ulimit -v $((gigabytes * 1000000)) && exec timeout 30 "$oshrun" -n 2 "$program") 2>&1) || {
        echo "ulimit -v of $gigabytes GB: $said"
        bad=1
    }
done
exit $bad

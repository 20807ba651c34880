#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# collective.sh LAUNCHER...: every algorithm of every collective between hosts, by size, one column
# each: for the thresholds of shmem/collective/table.c. LAUNCHER ends with the program, build/release/bin/collective,
# and hands SHMEMX_COLLECTIVE to it:
#
#     SHMEMX_TRANSPORT=ucx:1 bench/collective/collective.sh build/release/bin/oshrun -n 4 build/release/bin/collective
#     bench/collective/collective.sh tests/shmem/fabrics/two_hosts.sh run 4 build/release/bin/collective
#
# Hosts that are namespaces of one machine do not see that their PEs share its processors: SHMEMX_SPIN=16.
# $ROUNDS (3): the algorithms take turns so often, and the best time of each is shown.
set -eu

[ $# -ge 1 ] || { sed -n '3s/^# //p' "$0" >&2; exit 2; }
results=$(mktemp)
trap 'rm -f "$results"' EXIT

compare() {
    call=$1
    names=$2
    shift 2
    : >"$results"
    round=0
    while [ $round -lt "${ROUNDS:-3}" ]; do
        for name in $names; do
            SHMEMX_COLLECTIVE=$call=$name "$@" "$call" |
                awk -v name="$name" -v call="$call" '$1 == call { print $2, name, $3 }' >>"$results"
        done
        round=$((round + 1))
    done
    awk -v call="$call" -v names="$names" '
        !(($1, $2) in best) || $3 < best[$1, $2] { best[$1, $2] = $3 }
        !($1 in seen) { seen[$1] = 1; sizes[++n] = $1 }
        END {
            count = split(names, name, " ")
            printf "%-10s %8s", call, "bytes"
            for (i = 1; i <= count; i++) printf " %10s", name[i]
            printf "\n"
            for (s = 1; s <= n; s++) {
                printf "%-10s %8d", "", sizes[s]
                for (i = 1; i <= count; i++) printf " %10.2f", best[sizes[s], name[i]]
                printf "\n"
            }
        }' "$results"
}

compare broadcast "tree scatter" "$@"
compare reduce "gather doubling scatter pairwise" "$@"
compare scan "gather doubling" "$@"
compare fcollect "gather pairwise" "$@"
compare collect "gather pairwise" "$@"
compare alltoall "leaders bruck pairwise" "$@"

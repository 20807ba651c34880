#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ucx_perftest.sh [quick] ROW...: the points that UCX's own ucx_perftest has too, between two
# processes that a launcher with PMIx starts; "describe" says which UCX. Process 1 is the server,
# $PERFTEST_SERVER its address (127.0.0.1). One run of each point: its average.
set -eu

rank=${PMIX_RANK:-0}
if [ "${1-}" = describe ]; then
    command -v ucx_perftest >/dev/null
    [ "$rank" -ne 0 ] || ucx_info -v | sed -n '1s/.*[Vv]ersion[ =]*/name ucx_perftest /p'
    exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Row, point before the size, test, unit, sizes. At most 64 MiB each; a get takes 1 ms over TCP, because
# the server polls seldom.
awk -v asked=" $* " '
    BEGIN { for (size = 1; size <= 4194304; size *= 2) every = every " " size }
    index(asked, " " $1 " ") {
        sub(/every/, every)
        for (i = 5; i <= NF; i++) {
            bytes = int($i) * ($i ~ /k$/ ? 1024 : $i ~ /m$/ ? 1048576 : 1)
            turns = 67108864 / bytes
            most = $3 == "ucp_get" ? 100 : $3 == "ucp_put_bw" ? 20000 : 2000
            printf "%s:%s%s:%s:%d -t %s -s %d -n %d -w 10 -O 64\n", $1, $2, $2 ~ /-$/ ? $i : "", $4, bytes,
                $3, bytes, turns < most ? turns : most
        }
    }' >"$scratch/tests" <<'ROWS'
get get- ucp_get ns 8 64 1k 8k 64k 1m 4m
nbi nbi- ucp_put_bw M/s 8 1k
nbi nbi- ucp_put_bw GiB/s 64k 1m 4m
atomic fetch-add ucp_fadd ns 8
visible visible-p ucp_put_lat ns 8
get-sizes get-size- ucp_get us every
stream stream- ucp_put_bw MB/s every
rate rate- ucp_put_bw M/s every
ping-pong ping-pong- ucp_put_lat us every
ROWS
[ -s "$scratch/tests" ] || exit 0

# A processor for each process, a port for each job
cpu=$(taskset -cp $$ | awk -v rank="$rank" '{ count = split($NF, part, /[-,]/); print part[rank % count + 1] }')
port=$((20000 + $(printf %s "${PMIX_NAMESPACE-}" | cksum | cut -d ' ' -f 1) % 10000))
set -- -p $port -c "$cpu" -b "$scratch/tests"
if [ "$rank" -ne 0 ]; then
    ucx_perftest "$@" >/dev/null
    exit
fi

# The server may not listen yet. Of nine columns the first is the name, the fifth the time in us, and
# the last messages a second.
tries=0
until ucx_perftest "${PERFTEST_SERVER:-127.0.0.1}" "$@" -v -f >"$scratch/figures" 2>"$scratch/errors"; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { cat "$scratch/errors" >&2; exit 1; }
    sleep 0.1
done
awk -F , '
    NF == 9 && split($1, part, ":") == 4 {
        if (part[1] != row) print "row " (row = part[1])
        times["M/s"] = 1e-6; times["MB/s"] = part[4] / 1e6; times["GiB/s"] = part[4] / 1073741824
        value = part[3] == "ns" ? $5 * 1e3 : part[3] == "us" ? $5 : $NF * times[part[3]]
        print part[2], value, value
    }' "$scratch/figures"

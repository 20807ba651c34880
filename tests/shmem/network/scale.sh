#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scale.sh OSHRUN PROGRAM DRIVER PES...: runs scale.c over TCP with each number of PEs, every PE a host, and
# compares with the formulas of shmem/SCALE.md. DRIVER is ucx, ofi or tcp. Prints a table; fails where a PE needs
# more than the formulas say. 64 PEs: scale.sh bin/oshrun shmem-network-scale ucx 2 4 8 16 32 64
set -eu
oshrun=$1
program=$2
driver=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

export SHMEMX_TRANSPORT="$driver:1" UCX_TLS=tcp FI_PROVIDER=tcp
for pes; do
    if ! timeout 200 "$oshrun" -n "$pes" "$program" >"$folder/out" 2>&1; then
        cat "$folder/out"
        exit 1
    fi
    sed "s/^/$pes /" "$folder/out" >>"$folder/all"
done

# What a driver needs: bytes at start, of a peer, of a queue; sockets of a queue.
case $driver in
ucx) limits='start=6e6 peer=240e3 queue=3.5e6 sockets=6' ;; # 1.13: 1.2e6, 13e3, 0.5e6; 1.23: 4.9e6, 0.2e6, 3e6
ofi) limits='start=16e6 peer=64e3 queue=12e6 sockets=12' ;;
tcp) limits='start=4e6 peer=48e3 queue=1e6 sockets=6' ;;
esac

awk -v limits="$limits" '
function limit(name) { return bound[name] + 0 }
function check(what, value, most) {
    printf "  %-44s %12.0f, at most %.0f\n", what, value, most
    if (value > most) { print "  MORE THAN THE FORMULA: " what; bad = 1 }
}
function same(what, value, wanted) {
    printf "  %-44s %12.0f, wanted %.0f\n", what, value, wanted
    if (value != wanted) { print "  NOT THE FORMULA: " what; bad = 1 }
}
function log2(n,    r) { for (r = 0; 2 ^ r < n; r++) { } return r }
BEGIN {
    n = split(limits, part, " ")
    for (i = 1; i <= n; i++) { split(part[i], pair, "="); bound[pair[1]] = pair[2] }
}
{ value[$1, $2, $3] = $4; if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 } }
END {
    for (i = 1; i <= count; i++) {
        p = order[i]; r = log2(p); first = order[1]
        started = value[p, "start", "peers"]; added = value[p, "contact", "peers"]
        all = p - 1
        printf "%d PEs\n", p
        check("peers after start", started, 2 * r + 2)
        same("peers after each has put to each", started + added, all)
        check("messages of the start", value[p, "start", "messages"], 160 * r)
        check("messages of a barrier", value[p, "nothing", "messages"] / 2, 2 * r)
        check("messages of a team made", value[p, "teams", "messages"] / 16, 8 * r)
        check("sockets", value[p, "start", "sockets"] + value[p, "contact", "sockets"], 2 * all + limit("sockets"))
        same("keys", value[p, "chunks", "keys"], 1)
        check("bytes at start", value[p, "start", "memory_bytes"], limit("start") + started * limit("peer"))
        check("bytes of the further peers", value[p, "contact", "memory_bytes"], 65536 + added * limit("peer"))
        check("bytes of a team", value[p, "teams", "memory_bytes"] / 16, 65536)
        check("bytes of a private context", value[p, "contexts", "memory_bytes"] / 4, limit("queue"))
        check("bytes of a further barrier", value[p, "barriers", "memory_bytes"], 65536)
    }
    exit bad
}' "$folder/all"

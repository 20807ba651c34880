#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# waiting.sh [-b BUILD] [-r ROUNDS] [-s SECONDS] [-n PES[:HOSTS[c]]]... [-w LOOPS]... [-p NAME=COMPILER,LAUNCHER]...
# What a barrier and a ring of waits cost beside other work, in microseconds: PES on this machine, as
# HOSTS hosts over TCP where HOSTS is more than 1, beside LOOPS processes that never sleep. With c, in
# HOSTS containers (containers.sh, root, Open MPI's mpirun for all). Memspan, Open MPI's oshmem where
# it is installed, and the libraries of -p take turns in each round.
#
# For each row the median over the rounds, the worst round, and memspan's median as a multiple of the
# best other's. A run that takes longer than 60 s counts as 60 s of its first measurement.
set -eu

folder=$(dirname "$(readlink -f "$0")")
build=build/release rounds=5 seconds=1 sizes='' loops='' peers=''
while getopts b:r:s:n:w:p: option; do
    case $option in
    b) build=$OPTARG ;;
    r) rounds=$OPTARG ;;
    s) seconds=$OPTARG ;;
    n) sizes="$sizes $OPTARG" ;;
    w) loops="$loops $OPTARG" ;;
    p) peers="$peers
$OPTARG" ;;
    *) exit 2 ;;
    esac
done
bin=$(cd "$build/bin" && pwd)
scratch=$(mktemp -d)
beside=''

# shellcheck disable=SC2086 # numbers of processes
stop_loops() {
    [ -z "$beside" ] || kill $beside 2>/dev/null || :
    beside=''
}
trap 'stop_loops; rm -rf "$scratch"' EXIT

start_loops() {
    n=0
    while [ $n -lt "$1" ]; do
        sh -c 'while :; do :; done' &
        beside="$beside $!"
        n=$((n + 1))
    done
}

# Open MPI over several "hosts": TCP between all of its PEs.
launcher_of() {
    case $1:$3 in
    ompi:1) echo "$2" ;;
    ompi:*) echo "$2 -x UCX_TLS=tcp,self --mca btl tcp,self" ;;
    *:1) echo "$2" ;;
    *) echo "env SHMEMX_TRANSPORT=tcp:$(($4 / $3)) $2" ;;
    esac
}

peers="memspan=$bin/oshcc,$bin/oshrun$peers"
command -v oshcc >/dev/null && peers="$peers
ompi=$(command -v oshcc),mpirun --allow-run-as-root --oversubscribe --bind-to none --mca opal_common_ucx_opal_mem_hooks 0"

printf '%s\n' "$peers" >"$scratch/peers"
# shellcheck disable=SC2016 # a variable of containers.sh
printf '#!/bin/sh\nexec $CONTAINERS_MPIRUN --mca opal_common_ucx_opal_mem_hooks 0 "$@"\n' >"$scratch/in"
chmod +x "$scratch/in"
while IFS='=' read -r name how; do
    "${how%%,*}" -O2 -o "$scratch/$name" "$folder/waiting.c"
done <"$scratch/peers"

# measure NAME LAUNCHER PES HOSTS LOOPS: lines of results
measure() {
    case $4 in
    *c) set -- "$1" "$folder/containers.sh ${4%c} $scratch/in" "$3" "$4" "$5" ;;
    *) set -- "$1" "$(launcher_of "$1" "$2" "$4" "$3")" "$3" "$4" "$5" ;;
    esac
    # shellcheck disable=SC2086 # a command with arguments
    timeout -k 5 60 $2 -n "$3" "$scratch/$1" "$seconds" >"$scratch/said" 2>"$scratch/errors" </dev/null ||
        printf 'barrier 6e7\nring 6e7\n' >"$scratch/said"
    awk -v name="$1" -v row="$3 $4 $5" '{ print row, $1, name, $2 }' "$scratch/said" >>"$scratch/results"
}

: >"$scratch/results"
round=0
while [ $round -lt "$rounds" ]; do
    for size in ${sizes:-2 2:2 16:8}; do
        hosts=${size#*:}
        [ "$hosts" != "$size" ] || hosts=1
        for busy in ${loops:-0 1 2 4}; do
            start_loops "$busy"
            while IFS='=' read -r name how; do
                measure "$name" "${how#*,}" "${size%:*}" "$hosts" "$busy"
            done <"$scratch/peers"
            stop_loops
        done
    done
    round=$((round + 1))
done

sort -k1,1n -k2,2n -k2,2 -k3,3n -k4,4 -k5,5 -k6,6g "$scratch/results" | awk '
    function close_peer() {
        if (n == 0) return
        median = (value[int((n + 1) / 2)] + value[int(n / 2) + 1]) / 2
        line = line sprintf("  %s %.1f (worst %.1f)", name, median, value[n])
        if (name == "memspan") ours = median
        else if (best == 0 || median < best) best = median
        n = 0
    }
    function close_row() {
        close_peer()
        if (row != "") printf "%s:%s%s\n", row, line, (best > 0) ? sprintf("  ratio %.2f", ours / best) : ""
        line = ""; best = 0
    }
    {
        now = sprintf("%d PEs, %d %s, %d loops, %s", $1, $2, ($2 ~ /c$/) ? "containers" : "hosts", $3, $4)
        if (now != row) { close_row(); row = now; name = $5 }
        if ($5 != name) { close_peer(); name = $5 }
        value[++n] = $6
    }
    END { close_row() }'

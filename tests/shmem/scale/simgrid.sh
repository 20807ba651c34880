#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# simgrid.sh BUILD [PES...]: the collectives on a fat tree and a dragonfly, by SimGrid, beside LogGP: rows of
# shmem/SCALE.md. Calls in which a PE sends to all others are left out. A barrier on the fat tree must take as long
# as by LogGP with a latency of 2 to 6 links: its messages are too small to wait for a link. Needs libsimgrid-dev.
set -eu
tape=$1/tests/shmem/scale/shmem-tape
shift
[ $# -gt 0 ] || set -- 1000 10000
[ -e /usr/include/simgrid/engine.h ] || { echo "SKIPPED: libsimgrid-dev is not here"; exit 77; }
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-cc} -std=gnu11 -O2 -o "$folder/simgrid" "$here/simgrid.c" -lsimgrid

# NAME TOPOLOGY PARAMETERS LAST-HOST: 0.25 us and 10 GB/s a link; a message passes 2 to 6.
platform() {
    cat >"$folder/$1.xml" <<EOF
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" topology="$2" topo_parameters="$3" prefix="h" suffix="" radical="0-$4" speed="1Gf" bw="10GBps"
           lat="250ns" sharing_policy="SPLITDUPLEX"/>
</platform>
EOF
}
platform fat-tree FAT_TREE '3;22,22,22;1,22,22;1,1,1' 10647
# SimGrid 3.32 crashes on some shapes of a dragonfly, 18 groups of 6 chassis among them.
platform dragonfly DRAGONFLY '9,2;12,2;12,2;8' 10367

# barrier_us LATENCY GAP PES
barrier_us() {
    "$tape" times "$1" 200 "$2" "$3" | awk '$2 == "barrier" { print $4 }'
}

"$tape" record | while IFS='|' read -r number call; do
    row="| $call |"
    for pes; do
        "$tape" record "$number" "$pes" >"$folder/tape" || { row="$row - / - / - |"; continue; }
        row="$row $(sed -n 's/^us //p' "$folder/tape")"
        for name in fat-tree dragonfly; do
            time=$(grep -v us "$folder/tape" | "$folder/simgrid" "$folder/$name.xml" "$pes" \
                --cfg=network/model:CM02 --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1 \
                --cfg=network/weight-S:0 --cfg=contexts/stack-size:256 --log=root.thres:error)
            row="$row / $time"
            [ "$call/$name" = 'barrier, 0 B/fat-tree' ] || continue
            least=$(barrier_us 500 0 "$pes") most=$(barrier_us 1500 100 "$pes")
            awk "BEGIN { exit !($least <= $time && $time <= $most) }" ||
                { echo "FAILED: a barrier of $pes takes $time us, not $least to $most"; exit 1; }
        done
        row="$row |"
    done
    echo "$row"
done

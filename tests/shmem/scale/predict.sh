#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# predict.sh BUILD [PES...]: medians of collectives of 8 B over the transport tcp on this machine, every PE a host,
# beside those that LogGP predicts from three measurements: a table, and how many are within 25 %.
#
# t2, a barrier of 2 PEs: the latency and twice the overhead. o, what a further put takes, at least 0.1 us. w, the
# processors' time for a message where PEs share them: a barrier of 4 PEs a processor, times the processors, by
# its messages. With more PEs than processors a call takes at least w for each of its messages, divided by the
# processors. The predicted algorithms are those of the table.
set -eu
bin=$1/bin
tape=$1/tests/shmem/scale/shmem-tape
shift
[ $# -gt 0 ] || set -- 2 4 8 16 32 64
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SHMEMX_TRANSPORT=tcp:1
processors=$(nproc)
calls=barrier,broadcast,reduce,scan,fcollect,collect,alltoall

# median NAME BYTES FILE
median() {
    awk -v name="$1" -v bytes="$2" '$1 == name && $2 == bytes { print $4 }' "$3"
}


# Prints t2, o and w.
measure() {
    "$bin/oshrun" -n 2 "$bin/collective" barrier,puts 512 >"$folder/two"
    "$bin/oshrun" -n "$many" "$bin/collective" barrier 8 >"$folder/many"
    awk -v t="$(median barrier 64 "$folder/two")" -v a="$(median puts 128 "$folder/two")" \
        -v b="$(median puts 512 "$folder/two")" -v m="$(median barrier 64 "$folder/many")" -v c="$processors" \
        -v messages="$("$tape" times 1 1 1 "$many" | awk '$2 == "barrier" { print $5 }')" \
        'BEGIN { o = (b - a) / 48; print t, (o > 0.1) ? o : 0.1, m * c / messages }'
}

# Before each number of PEs anew: other work on the machine changes them.
many=$((4 * processors))
echo "# processors $processors"
printf '%-10s %4s %10s %10s %10s %7s\n' call PEs predicted best median ratio
for pes; do
    measure >"$folder/parameters"
    read -r t2 o w <"$folder/parameters"
    echo "# us: t2 $t2, o $o, w $w; load $(cut -d ' ' -f 1 /proc/loadavg)"
    "$tape" times "$(awk "BEGIN { print ($t2 - 2 * $o) * 1000 }")" "$(awk "BEGIN { print $o * 1000 }")" 0 "$pes" |
        sed 's/^/P /' >"$folder/all"
    "$bin/oshrun" -n "$pes" "$bin/collective" "$calls" 8 | awk '$2 ~ /^[0-9]/ { print "M", $1, $3, $4 }' >>"$folder/all"
    # Up to 16 hosts an alltoall of 8 B is by leaders, beyond by bruck.
    awk -v c="$processors" -v w="$w" '
    $1 == "P" && (!($3 in us) || ($3 == "alltoall" && $2 > 16 && $4 ~ /bruck/)) {
        us[$3] = $5
        pes = $2
        least = $6 * w / c
        if (pes > c && least > us[$3]) { us[$3] = least }
    }
    $1 == "M" && $2 in us {
        printf "%-10s %4d %10.1f %10.1f %10.1f %7.2f\n", $2, pes, us[$2], $3, $4, us[$2] / $4
    }' "$folder/all" | tee -a "$folder/rows"
done
awk '{ near += ($6 >= 0.75 && $6 <= 1.25) } END { printf "# within 25 %% of the median: %d of %d\n", near, NR }' "$folder/rows"

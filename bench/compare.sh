#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare.sh [-r ROUNDS] [-a OPTIONS] [-m OPTIONS] [-d OPTIONS] OLD NEW: compares two build folders.
# -a, -m, -d: options of alloc, rma and daxpy; "no" leaves that benchmark out.
#
# The builds are interleaved: each round measures both, and begins with the one or the other in turn.
# For each point: the ratio of the costs, NEW/OLD, as the median over the rounds and of the bests. It
# is "slower" or "faster" where both are beyond 3 % and the better quartile of one build is worse than
# the worse quartile of the other; "noise" where only the median is. NEW's benchmark measures OLD's
# library too: alloc with OLD's workers, rma with OLD's oshcc and oshrun. daxpy is each build's own,
# in processor time.
#
# Exit code: 0 no point is slower; 1 some are; 2 wrong arguments, or a measurement failed.
set -eu
rounds=10 alloc='' rma='' daxpy='--n 1m --reps 10'
while getopts r:a:m:d: option; do
    case $option in
    r) rounds=$OPTARG ;;
    a) alloc=$OPTARG ;;
    m) rma=$OPTARG ;;
    d) daxpy=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || { sed -n '3,4s/^# //p' "$0" >&2; exit 2; }
old=$(cd "$1/bin" && pwd) new=$(cd "$2/bin" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run FOLDER BENCHMARK OPTION...: one round, which joins the figures of $side and $round
run() {
    program=$1/memspan-bench benchmark=$2
    shift 2
    "$program" "$benchmark" --rounds 1 --csv "$folder/csv" "$@" >"$folder/text" 2>&1 ||
        { cat "$folder/text" >&2; echo "$program $benchmark failed" >&2; exit 2; }
    sed "s/^/$side,$round,$benchmark,/" "$folder/csv" >>"$folder/figures"
}

# shellcheck disable=SC2086 # lists of options
measure() {
    side=$1 bin=$2
    [ "$alloc" = no ] || run "$new" alloc --peers memspan --workers "$bin/alloc" $alloc
    [ "$rma" = no ] || run "$new" rma --peers memspan --peer "memspan='$bin/oshcc','$bin/oshrun'" $rma
    [ "$daxpy" = no ] || run "$bin" daxpy $daxpy
}

round=0
while [ "$round" -lt "$rounds" ]; do
    if [ $((round % 2)) -eq 0 ]; then measure old "$old"; measure new "$new"
    else measure new "$new"; measure old "$old"; fi
    round=$((round + 1))
done

awk -F , -v rounds="$rounds" '
function sort(values, n,    i, j, t) {
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
            t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
        }
}
{ gsub(/"[^"]*"/, "text") }
$4 == "date" { for (i = 4; i <= NF; i++) at[$3, $i] = i; next }
{
    name = $3 " " ($3 == "daxpy" ? $at[$3, "variant"] " " $at[$3, "phase"] " n=" $at[$3, "n"] " x" $at[$3, "repetitions"] \
                                 : $at[$3, "point"] " " $at[$3, $3 == "rma" ? "placement" : "peer"])
    value = $at[$3, $3 == "alloc" ? "median" : $3 == "rma" ? "best" : "cpu_median_ns"]
    if (value <= 0) next # none, or one that has no ratio
    if ($3 != "daxpy" && $at[$3, "better"] == "more") value = 1 / value # a cost
    if (!(name in seen)) { seen[name] = 1; names[++count] = name }
    figure[name, $1, $2] = value
}
END {
    printf "%-52s %8s %8s\n", "point", "median", "bests"
    for (k = 1; k <= count; k++) {
        name = names[k]; n = 0
        for (r = 0; r < rounds; r++) {
            if (!((name, "old", r) in figure) || !((name, "new", r) in figure)) continue
            old[++n] = figure[name, "old", r]; new[n] = figure[name, "new", r]
            ratios[n] = new[n] / old[n]
        }
        if (n == 0) continue
        sort(old, n); sort(new, n); sort(ratios, n)
        middle = (ratios[int((n + 1) / 2)] + ratios[int(n / 2) + 1]) / 2; bests = new[1] / old[1]
        low = int((n + 3) / 4); high = n + 1 - low # quartiles
        verdict = (middle > 1.03 && bests > 1.03 && new[low] > old[high]) ? "slower" : \
                  (middle < 1 / 1.03 && bests < 1 / 1.03 && new[high] < old[low]) ? "faster" : \
                  (middle > 1.03 || middle < 1 / 1.03) ? "noise" : ""
        line = sprintf("%-52s %8.3f %8.3f  %s", name, middle, bests, verdict)
        sub(/ +$/, "", line)
        print line
        if (verdict != "") { differ[verdict] = differ[verdict] line "\n"; number[verdict]++ }
    }
    if (count == 0) { print "nothing was measured"; exit 2 }
    printf "\nbeyond 3 %%: %d slower, %d faster, %d noise, of %d points\n%s%s", number["slower"], \
        number["faster"], number["noise"], count, differ["slower"], differ["faster"]
    exit number["slower"] > 0
}' "$folder/figures"

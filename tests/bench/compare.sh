#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# compare.sh SCRIPT: bench/compare.sh over a benchmark whose figures are known: 10 % more in the build
# "slow" than in "fast". Nothing here is timed.
set -eu

script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder/fast/bin" "$folder/slow/bin"
cat >"$folder/fast/bin/memspan-bench" <<'END'
#!/bin/sh
case $* in # which build is measured; of daxpy the one that this is in
alloc*/slow/*alloc* | rma*/slow/*oshrun*) cost=110 rate=50 ;;
alloc* | rma*) cost=100 rate=55 ;;
*) case $0 in */slow/*) cost=110 ;; *) cost=100 ;; esac ;;
esac
while [ "$1" != --csv ]; do benchmark=${benchmark:-$1}; shift; done
case $benchmark in
alloc)
    printf 'date,machine,point,peer,better,median\nx,"a, b",pair,memspan,less,%s\n' $cost
    printf 'x,"a, b",threads,memspan,more,%s\nx,"a, b",limit-wrong,memspan,less,0\n' $rate
    ;;
rma) printf 'date,point,placement,better,best\nx,put-8,apart,less,%s\nx,get-8,apart,less,7\n' $cost ;;
daxpy) printf 'date,variant,n,repetitions,phase,cpu_median_ns\nx,host,1,2,run,%s\n' $cost ;;
esac >"$2"
END
chmod +x "$folder/fast/bin/memspan-bench"
cp "$folder/fast/bin/memspan-bench" "$folder/slow/bin"

# expect CODE OLD NEW LINE: the script ends with that code and prints that line
expect() {
    code=0
    "$script" -r 2 "$folder/$2" "$folder/$3" >"$folder/out" 2>&1 || code=$?
    if [ "$code" -ne "$1" ] || ! grep -q -e "$4" "$folder/out"; then
        cat "$folder/out"
        printf 'FAILED: exit code %s instead of %s, or no "%s"\n' "$code" "$1" "$4"
        exit 1
    fi
}

expect 1 fast slow '^beyond 3 %: 4 slower, 0 faster, 0 noise, of 5 points'
expect 1 fast slow '^daxpy host run n=1 x2  *1.100  *1.100  slower$'
expect 1 fast slow '^alloc threads memspan  *1.100 '
expect 0 slow fast '^beyond 3 %: 0 slower, 4 faster, 0 noise, of 5 points'
expect 0 fast fast '^beyond 3 %: 0 slower, 0 faster, 0 noise, of 5 points'
printf '#!/bin/sh\nexit 1\n' >"$folder/slow/bin/memspan-bench"
expect 2 fast slow 'slow/bin/memspan-bench alloc failed'

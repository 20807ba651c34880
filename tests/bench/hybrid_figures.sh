#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hybrid_figures.sh PROGRAM: forms are scripts whose figures are known: best and median, what follows from
# them, the figures' files, failures. Then the forms themselves, with few operations. Nothing is timed.
set -eu

program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    sed 's/^/  /' "$folder/out" "$folder/err"
    exit 1
}

# expect CODE ARGUMENT...: the benchmark ends with that code; what it wrote is in out and err.
expect() {
    expected=$1
    shift
    code=0
    timeout 120 "$program" hybrid "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code instead of $expected: $*"
}

has() {
    grep -q -e "$2" "$folder/$1" || fail "no '$2' in $1"
}

# form NAME PUT FFT...: best figures; medians are twice as much. Every call prints all points.
form() {
    {
        echo '#!/bin/sh'
        echo "case \$1 in"
        echo "put) echo put-8 $2 $(($2 * 2)) ;;"
        echo "random) echo random-weak-2 0.$2 0.$2 ;;"
        echo "fft) printf 'fft-strong-%d %d %d\n' 1 $3 $(($3 * 2)) 2 $4 $(($4 * 2)) ;;"
        echo '*) echo "$1 is broken" >&2; exit 1 ;;'
        echo 'esac'
    } >"$folder/hybrid-$1"
    chmod +x "$folder/hybrid-$1"
    echo "lines-fft $2" >"$folder/hybrid-$1.lines"
}

form extended 2 10 5
form standard 5 8 6
cat >"$folder/launcher" <<'END'
#!/bin/sh
[ "$1" = -n ] || exit 9
shift 2
exec "$@"
END
chmod +x "$folder/launcher"

expect 0 --workers "$folder" --rounds 2 --rows put,random,fft,rate,efficiency,lines --hosts "$folder/launcher" \
    --peers extended,standard --targets --csv "$folder/csv" --svg "$folder/figure.svg"
has csv ',put,put-8,one-host,extended,.*,us,less,[0-9]*,2,4,4,4,,0.4,'
has csv ',put,put-8,two-hosts,standard,.*,5,10,'
has csv ',rate,rate-weak-2,one-host,extended,.*,M/s,more,1,5,5,'
has csv ',rate,rate-weak-2,two-hosts,standard,.*,2,2,'
has csv ',efficiency,efficiency-fft-1,one-host,extended,.*,0.8,0.8,' # 8 is the best
has csv ',efficiency,efficiency-fft-2,one-host,extended,.*,0.8,0.8,'
has csv ',efficiency,efficiency-fft-2,two-hosts,standard,.*,0.6666666667,'
has csv ',lines,lines-fft,one-host,standard,.*,5,5,'
has out 'put of 8 B  *>= 6 x faster  *2  *5  *standard  *0.4  *MISSED'
has out 'fft, strong, 2 PEs, two hosts  *.*reached'
[ ! -e "$folder/figure-alltoall.svg" ] || fail 'a figure of a row that was not chosen'
for name in put random fft matrix heat; do
    awk -f "$(dirname "$0")/geometry.awk" "$folder/figure-$name.svg" || fail "texts of $name lie on each other"
    ! command -v xmllint >/dev/null || xmllint --noout "$folder/figure-$name.svg" || fail "$name is no XML"
done
has figure-fft.svg '>fft, 2 PEs<'
has figure-fft.svg 'higher is better'

# A row that is computed has those from which it is.
expect 0 --workers "$folder" --rounds 1 --rows rate --peers extended
has out '^rate: '
has out '^weak, 2 PEs  M/s  *[0-9]'

expect 1 --workers "$folder" --rounds 1 --rows heat --peers extended
has out 'extended, heat: FAILED: 1 PEs: .*heat is broken'
expect 1 --workers "$folder/none" --rounds 1 --rows put --peers extended
has out 'extended: not measured: it was not built'
expect 2 --placement two-hosts
has err 'two hosts need --hosts'

expect 0 --quick --rounds 1 --rows put,alltoall,lines --peers extended,standard
has out '^8  *us  *[0-9]'
has out '^arrays  *[0-9]'

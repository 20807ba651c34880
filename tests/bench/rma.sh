#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rma.sh PROGRAM: peers are made of two scripts, a compiler and a launcher, whose figures are known:
# best and median, ratios, files, failures of every kind. Then the programs themselves, with few
# operations, by the limit and by the libraries that are here. Nothing here is timed.
set -eu

program=$1
tools=$(dirname "$program")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    for file in out err; do
        [ ! -s "$folder/$file" ] || sed "s/^/  $file: /" "$folder/$file"
    done
    exit 1
}

# expect CODE ARGUMENT...: the benchmark ends with that code; what it wrote is in out and err.
expect() {
    expected=$1
    shift
    code=0
    timeout 120 "$program" rma "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code instead of $expected: $*"
}

has() {
    grep -q -e "$2" "$folder/$1" || fail "no '$2' in $1"
}

hasnt() {
    ! grep -q -e "$2" "$folder/$1" || fail "'$2' in $1"
}

# --- a compiler that makes a script, a launcher that starts it once: no library at all ---
# fake NAME: reads its figures from $folder/NAME-figures
mkdir "$folder/bin"
cat >"$folder/bin/compiler" <<'END'
#!/bin/sh
name=$1 # the peer
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || out=$2
    shift
done
dirname "$out" >"$(dirname "$0")/../made"
printf '#!/bin/sh\n. %s/program\n' "$(dirname "$0")" >"$out"
printf '%s\n' "$name" >"$out.name"
chmod +x "$out"
END
cat >"$folder/bin/launcher" <<'END'
#!/bin/sh
[ "$1" = -n ] && [ "$2" = 2 ] || exit 9
shift 2
NAME=$(cat "$1.name")
rm -f "$1.name.left"
export NAME
exec "$@"
END
cat >"$folder/bin/program" <<'END'
case $1 in
describe) printf 'library /lib/libfake.so.1\nname Fake of %s\nstandard 1.5\ncompiler 9.9\n' "$NAME" ;;
hello) printf 'start-init 1.25\n' ;;
*) . "${FAKE:?}/$NAME" ;;
esac
END
chmod +x "$folder/bin/compiler" "$folder/bin/launcher"
FAKE=$folder
export FAKE
launcher=$folder/bin/launcher

# ours takes 10, 8, 9 (median 9, best 8); the peer 30 and 20; a bandwidth is the better the larger
cat >"$folder/memspan" <<'END'
count=$(cat "$FAKE/count" 2>/dev/null || echo 0)
echo $((count + 1)) >"$FAKE/count"
case $count in 0) v=10 ;; 1) v=8 ;; *) v=9 ;; esac
printf 'row put\nput-8 %s %s\nput-8k 100 110\n' $v $v
printf 'row barrier\nbarrier 50 60\nno-such-point 1 2\nrow malloc\nmalloc-64 151 160\n'
END
cat >"$folder/quick" <<'END'
printf 'row put\nput-8 20 25\nput-8k nan 3\nrow nbi\nnbi-8 10 8\n'
END
cat >"$folder/slow" <<'END'
printf 'row put\nput-8 30 35\nrow nbi\nnbi-8 20 18\n'
END
with() { # with CODE ARGUMENT...: and the three of them
    expected=$1
    shift
    expect "$expected" "$@" --peer "memspan=$folder/bin/compiler memspan,$launcher" \
        --peer "quick=$folder/bin/compiler quick,$launcher" \
        --peer "slow=$folder/bin/compiler slow,$launcher"
}

with 0 --rounds 3 --rows put,nbi,barrier,malloc,start --placement apart --targets \
    --peers memspan,quick,slow --csv "$folder/csv" --json "$folder/json" --svg "$folder/svg"
[ "$(head -n 1 "$folder/csv" | tr -d '\r')" = date,machine,row,point,placement,peer,version,unit,better,rounds,best,median,median_min,median_max,ratio_to_best_peer,ratio_to_limit,given,result ] ||
    fail 'the CSV header has changed'
has csv ',put,put-8,apart,memspan,"Fake of memspan, OpenSHMEM 1.5",ns,less,3,8,9,8,10,0.4,,,measured'
has csv ',put,put-8,apart,slow,.*,ns,less,3,30,35,35,35,1.5,,,measured'
has csv ',put,put-8k,apart,quick,.*,0,,,,,,,,none' # what is no number counts for nothing
has csv ',nbi,nbi-8,apart,quick,.*,M/s,more,3,10,8,8,8,0.5,'
has csv ',start,start-init,apart,slow,.*,ms,less,3,1.25,1.25,'
hasnt csv 'no-such-point'
hasnt csv ',together,'
has out "^# command .*--peer 'slow=.* slow,.*'"
has out '^# peer  *slow  *Fake of slow, OpenSHMEM 1.5'
has out '^8  *ns  *8 (9)  *20 (25)  *30 (35)  *2.5$'
has out '^8 B put + quiet  *>= 2.5 x faster  *8  *20  *quick  *0.4  *reached$'
has out '^malloc + free.*<= 50 + 2 x barrier  *151  *100  *barrier  *1.51  *MISSED$'
has out '^the same, data segment .*not measured$'
has svg '</svg>'
awk -f "$(dirname "$0")/geometry.awk" "$folder/svg" || fail 'texts lie on each other or outside'
if command -v jq >/dev/null; then
    jq -e '.schema == 1 and .benchmark == "rma" and (.rows[0].best | type) == "number" and
           (.head.pes == "2") and (.notes | length) == 3' "$folder/json" >/dev/null ||
        fail 'the JSON file'
fi
[ -z "$(find /tmp -maxdepth 1 -name 'memspan-rma-*' -newer "$folder/bin/program" -user "$(id -u)" \
    -exec test -e {}/slow.name \; -print)" ] || fail 'what was built for the peers is still there'

# --- a program beside them: its ratio, and the targets between hosts ---
cat >"$folder/bin/raw" <<'END'
#!/bin/sh
[ "$1" != describe ] || { echo 'name Network 1.0'; exit 0; }
[ "$1" != hello ] || exit 1
printf 'row put\nput-8 10 10\nput-8k 100 100\nrow put-sizes\nput-size-4096 1 1.5\n'
END
cat >"$folder/bin/start" <<'END'
#!/bin/sh
shift 2
exec "$@"
END
chmod +x "$folder/bin/raw" "$folder/bin/start"
printf 'printf "row put\\nput-8 11 11\\nput-8k 111 120\\nrow put-sizes\\nput-size-4096 1 1\\n"\n' >"$folder/memspan"
cp "$folder/memspan" "$folder/memspan-two"
sed -i 's/put-8 11 11/put-8 9 9/' "$folder/memspan-two"
with 0 --rounds 1 --rows put,put-sizes,start --placement apart --osu --targets --csv "$folder/csv" \
    --peers memspan,memspan-two,raw-two,raw-one,quick --beside "raw-one=$folder/bin/raw,$folder/bin/start" \
    --beside "raw-two=$folder/bin/raw,$folder/bin/start" \
    --peer "memspan-two=$folder/bin/compiler memspan-two,$launcher"
has out '^# OpenSHMEM put-sizes.*: raw-one Network 1.0$'
has out '^# Size  *Latency (us)$'
has out '^4096  *1\.50$'
has out '^# peer  *raw-one  *Network 1.0$'
has out 'memspan / raw-one  *memspan-two / raw-two$'
has out '^4096  *us  *1 (1) .* 1  *1$'
has out '^memspan at most 1.1 x raw-one: 2 of 3 reached'
has out '^put-8k  *apart  *best  *111  *100  *raw-one  *1.11$'
has out '^memspan-two at most 1.1 x raw-two: 2 of 3 reached'
has out '^memspan at or ahead of the best peer: [4-6] of 6 reached'
has csv ',put-8,apart,memspan-two,.*,0.45,0.9,,measured'
hasnt csv ',start-wall,apart,raw-one,.*measured'
hasnt out 'targets: '

# --- peers that fail in the middle: the rows after that are measured ---
cat >"$folder/quick" <<'END'
echo "$*" >>"$FAKE/calls"
for row in "$@"; do
    echo "row $row"
    case $row in
    put) echo 'put-8 20 25' ;;
    get) echo 'get-8 5 6'; echo 'out of luck' >&2; exit 3 ;;
    atomic) kill -SEGV $$ ;;
    barrier) exec sleep 100 ;;
    sum) echo 'sum-1 7 7' ;;
    esac
done
END
with 0 --rounds 2 --rows put,get,atomic,barrier,sum --placement apart --timeout 1 \
    --peers quick --csv -
has out ',put-8,apart,quick,.*,2,20,25,.*,measured'
has out ',get-8,apart,quick,.*,1,5,6,.*,measured'
has out ',fetch-add,apart,quick,.*,failed'
has out ',barrier,apart,quick,.*,failed'
has out ',sum-1,apart,quick,.*,2,7,7,.*,measured'
has err 'quick, get: FAILED: exited with status 3: out of luck'
has err 'quick, atomic: FAILED: killed by signal 11'
has err 'quick, barrier: FAILED: ran past its limit of 1 s'
[ "$(sed -n 2p "$folder/calls")" = 'atomic barrier sum' ] || fail 'which rows were tried again'
[ "$(tail -n 1 "$folder/calls")" = 'put sum' ] || fail 'what failed is not tried in each round'

# --- Ctrl-C: what was built goes too ---
printf 'touch "$FAKE/runs"; exec sleep 300\n' >"$folder/slow"
# A shell starts background jobs with SIGINT ignored.
env --default-signal=INT "$program" rma --rounds 1 --rows put --placement apart --peers slow \
    --peer "slow=$folder/bin/compiler slow,$launcher" >"$folder/out" 2>"$folder/err" &
bench=$!
until [ -e "$folder/runs" ]; do
    kill -0 $bench 2>/dev/null || fail 'it ended before it was interrupted'
    sleep 0.05
done
made=$(cat "$folder/made")
[ -d "$made" ] || fail "no folder $made"
kill -INT $bench
code=0
wait $bench || code=$?
[ $code -eq 130 ] || fail "exit code $code after SIGINT"
tries=0
while [ -e "$made" ] && [ $tries -lt 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
[ ! -e "$made" ] || fail "$made is left"

# --- both on one processor: the launcher is started there ---
cat >"$folder/slow" <<'END'
grep Cpus_allowed_list /proc/self/status | grep -qE '[,-]' && where=2 || where=1
printf 'row put\nput-8 %s 1\nrow memory\nrss 1 1\n' $where
END
with 0 --rounds 1 --rows put,memory --peers slow --csv -
[ "$(nproc)" -lt 2 ] || has out ',put-8,apart,slow,.*,1,2,1,'
has out ',put-8,together,slow,.*,1,1,1,'
hasnt out ',rss,together,'

# --- ours must not fail, others may; a peer that does not build or start is named ---
echo 'exit 1' >"$folder/memspan"
with 1 --rounds 1 --rows put --placement apart --peers memspan
has out 'memspan, put: FAILED: exited with status 1'
expect 0 --rounds 1 --rows put --peers ghost --peer "ghost=/nowhere/cc,$launcher"
has out 'ghost: not measured: its compiler does not build a program: exited with status 127'
expect 0 --rounds 1 --rows put --peers ghost --peer "ghost=$folder/bin/compiler x,/nowhere/run"
has out 'ghost: not measured: it does not start: exited with status 127'
expect 1 --rounds 1 --rows put --peers memspan --peer "memspan=/nowhere/cc,$launcher"
# a wrapper of Open MPI's name that links another library is not measured as it
mkdir "$folder/path"
printf '#!/bin/sh\nexec %s/bin/compiler quick "$@"\n' "$folder" >"$folder/path/oshcc"
printf '#!/bin/sh\nwhile [ "$1" != -n ]; do shift; done\nexec %s "$@"\n' "$launcher" >"$folder/path/mpirun"
chmod +x "$folder/path/oshcc" "$folder/path/mpirun"
PATH=$folder/path:$PATH expect 0 --rounds 1 --rows put --peers ompi
has out 'ompi: not measured: its compiler wrapper links /lib/libfake.so.1'

# --- arguments ---
expect 0 --help
has out '^  --peer NAME=COMPILER,LAUNCHER'
has out '^  visible '
hasnt out '--workers'
for arguments in '--rows nothing' '--peers unknown' '--rounds 0' '--nonsense' '--peer x' \
    '--peer x=cc' '--peer x=cc,' '--peer =cc,run' '--peer x=,run' '--peer limit=cc,run' \
    '--peer a/b=cc,run' '--beside x' '--beside x=,run' '--beside limit=raw,run' '--placement nowhere' '--csv - --json -' '--csv /nowhere/x'; do
    # shellcheck disable=SC2086
    expect 2 $arguments
    [ -s "$folder/err" ] || fail "nothing was said about: $arguments"
done

# --- the machine's own limits: every point that has one ---
expect 0 --quick --rounds 1 --peers limit --csv -
for point in put-8 put-4m put-data-1m get-8 g nbi-8 nbi-4m fetch-add barrier visible-p; do
    has out ",$point,apart,limit,.*,measured"
    has out ",$point,together,limit,.*,measured"
done

# --- network libraries alone, over TCP ---
for raw in raw-ucx raw-ofi; do
    if [ ! -x "$tools/rma/$raw" ] || ! command -v mpirun >/dev/null; then
        echo "not run: $raw; it was not built, or there is no mpirun"
        continue
    fi
    UCX_TLS=tcp expect 0 --quick --rounds 1 --placement apart --rows put,get,atomic,put-sizes,stream,rate,ping-pong \
        --peers $raw --csv - \
        --beside "$raw=$raw,mpirun --allow-run-as-root --oversubscribe --bind-to none"
    hasnt err 'FAILED'
    for point in put-4m get-8 fetch-add put-size-1 stream-4194304 rate-1 ping-pong-65536; do
        has out ",$point,apart,$raw,.*,measured"
    done
done

if command -v ucx_perftest >/dev/null && command -v mpirun >/dev/null; then
    expect 0 --quick --rounds 1 --placement apart --rows get,nbi,atomic,visible --peers ucx_perftest --csv - \
        --beside 'ucx_perftest=ucx_perftest,mpirun --allow-run-as-root --oversubscribe --bind-to none'
    hasnt err 'FAILED'
    for point in get-1k nbi-4m fetch-add visible-p; do
        has out ",$point,apart,ucx_perftest,.*,measured"
    done
else
    echo 'not run: ucx_perftest; it is not installed, or there is no mpirun'
fi

# --- real libraries, those that are here ---
# all_rows PEER: every row of the worker, data verified
all_rows() {
    expect 0 --quick --rounds 1 --timeout 60 --peers "$1" --placement apart --csv - \
        --rows memory,put,get,scalar,nbi,atomic,barrier,collective,sum,malloc,visible,start,put-sizes,get-sizes,stream,rate,get-rate,ping-pong
    hasnt err 'FAILED'
    for point in rss put-8 put-data-1m get-4m p nbi-8 compare-swap sync alltoall-64k sum-131072 \
        malloc-mix visible-1k start-wall put-size-1 get-size-4194304 stream-64 rate-64 get-rate-64 ping-pong-8; do
        has out ",$point,apart,$1,.*,measured"
    done
}
# A sanitizer's library needs its runtime in every program, which the wrapper does not add.
library=$(find "$tools/../lib" -name 'libmemspan-shmem.so.0' 2>/dev/null | head -n 1)
if [ -x "$tools/oshrun" ] && [ -n "$library" ] && ! ldd "$library" | grep -q 'lib[a-z]*san\.'; then
    all_rows memspan
    expect 0 --quick --rounds 1 --peers memspan --rows partition,stencil,call,queue --csv -
    has out ',partition-1,apart,memspan,.*,measured'
    has out ',partition-8,apart,memspan,.*,measured'
    has out ',stencil-normal,apart,memspan,.*NORMALMEM.*,measured'
    # In a program with target regions, where the build has a compiler of them.
    [ ! -x "$tools/memspan-bench-offload" ] || has out ',stencil-libomp,apart,memspan,.*LIBOMP.*,measured'
    has out ',call-8,apart,memspan,.*,measured'
    has out ',queue-put-1m,apart,memspan,.*,\(measured\|waived\)'
else
    echo 'not run with memspan: there is no oshrun, no library, or one with a sanitizer'
fi
# A wrapper may be there without the headers.
if printf '#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n' |
    oshcc -xc -o "$folder/hello" - >/dev/null 2>&1 && command -v mpirun >/dev/null; then
    all_rows ompi
else
    echo 'not run with ompi: there is no oshcc that compiles, or no mpirun'
fi

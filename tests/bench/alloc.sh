#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# alloc.sh PROGRAM: every row runs and writes correct files; an absent or failed peer is named, not
# measured as another; bad options are refused. Nothing here is timed.
set -eu

program=$1
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
    timeout 60 "$program" alloc "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code instead of $expected: $*"
}

has() {
    grep -q -e "$2" "$folder/$1" || fail "no '$2' in $1"
}

hasnt() {
    ! grep -q -e "$2" "$folder/$1" || fail "'$2' in $1"
}

# --- every row, ours and one peer that is always there ---
expect 0 --quick --rounds 1 --targets --peers memspan,glibc \
    --csv "$folder/csv" --json "$folder/json" --svg "$folder/svg"
[ "$(head -n 1 "$folder/csv" | tr -d '\r')" = date,machine,build,row,point,peer,version,unit,better,rounds,median,min,max,ratio_to_best,ratio_to_memspan,result ] ||
    fail 'the CSV header has changed'
for point in pair-64 random random-write threads-wall producer-consumer-cpu many-threads many-tasks many-allocators footprint limit-usable \
    limit-refusal limit-wrong limit-overshoot init-destroy start-up-added device-mix-64k \
    device-pair-1m device-queue device-queues fill fill-log fill-log-largest lookup-1 lookup-10000 kept kept-later phases \
    phases-later growth growth-write growth-small large-resident large-sparse large-full \
    arrays-step arrays-hash arrays-full arrays-full-again sizes-1 sizes-5 sizes-many init-threads team-64 team-64k; do
    has csv ",$point,memspan,.*,1,.*,measured"
done
has csv ',pair,pair-64,glibc,[0-9.]*,ns,less,1,.*,measured'
has csv ',pair,pair-64,memspan-custom,.*,measured'
has csv ',limit,limit-usable,glibc,[0-9.]*,percent,more,0,,,,,,none'
cp "$folder/out" "$folder/first"
has out '^# quick'
has out '^# peer  *glibc  *[0-9]'
has out '^# build '
has out '^targets: [0-9]* of [0-9]* reached'
has out '^pair 64 B  *<= 1.3 x mimalloc .*not measured'
has svg '</svg>'
awk -f "$(dirname "$0")/geometry.awk" "$folder/svg" || fail 'texts lie on each other or outside'
has svg 'Not drawn, but in the table'
has svg '(logarithmic; lower is better)'
has svg 'a quick run: whether it works'
has svg 'prefers-color-scheme: dark'
if command -v jq >/dev/null; then
    jq -e '.schema == 1 and .benchmark == "alloc" and (.rows | length) == 69 * 3 and
           (.rows[0].median | type) == "number" and (.head.build | length) > 0' \
        "$folder/json" >/dev/null || fail 'the JSON file'
fi

# --- beside an earlier run ---
expect 0 --quick --rounds 2 --rows pair --peers memspan --json "$folder/old"
if command -v jq >/dev/null; then
    scale() { jq "(.rows[] | .median, .min, .max) |= (if . then . * $1 else . end)" "$folder/old" >"$folder/scaled"; }
    scale 0.0001
    expect 3 --quick --rounds 2 --rows pair --peers memspan --compare "$folder/scaled"
    has out '^pair-64 memspan  .* slower$'
    scale 10000
    expect 0 --quick --rounds 2 --rows pair --peers memspan --compare "$folder/scaled"
    has out '^pair-64 memspan  .* faster$'
fi
expect 2 --quick --rounds 1 --rows pair --peers memspan --compare "$folder/none"
has err '^memspan-bench: --compare: .*none: No such file'
[ ! -s "$folder/out" ] || fail 'measured before the file was read'

# --- rows and peers as chosen ---
expect 0 --quick --rounds 2 --rows pair,init --peers memspan-api --csv -
has out ',pair-16,memspan-api,.*,2,'
hasnt out ',memspan,'
hasnt out ',random,'
has err '^pair: '

# --- an absent library is not measured as another ---
expect 0 --quick --rounds 1 --rows pair --peers glibc,ghost --also ghost=/nowhere/libghost.so --csv -
has out ',ghost,.*,absent'
has err 'ghost: not measured: /nowhere/libghost.so is not to be found'

# --- another build of ours, beside ours (a sanitizer's runtime would have to come first) ---
library=$(sed -n 's/^# peer  *memspan  *[^ ]*  *//p' "$folder/first")
if ! ldd "$library" | grep -q 'lib[a-z]*san\.'; then
    cp "$library" "$folder/libmemspan-before.so"
    expect 0 --quick --rounds 1 --rows pair,limit,fill --peers memspan,before --csv - \
        --also "before=$folder/libmemspan-before.so"
    has out ',pair-64,before,.*,measured'
    has out ',fill-log,before,.*,measured'
    has err "^# peer  *before .* $folder/libmemspan-before.so"
fi
expect 0 --quick --rounds 1 --rows pair --peers before --also "before=/nowhere/libmemspan.so.0"
has out 'before: not measured: /nowhere/libmemspan.so.0 is not to be found'

# --- workers that fail, in every way ---
good=$(dirname "$program")/alloc
bad="$folder/workers"
mkdir "$bad"
cp "$good/memspan" "$good/memspan-api" "$bad"
cat >"$bad/malloc" <<'END'
#!/bin/sh
case $1 in
    describe) printf 'library /lib/libfake.so.1\nversion 9.9\n' ;;
    pair) printf 'pair-16 1.5\nno-such-point 3\n' ; echo 'out of luck' >&2 ; exit 3 ;;
    random) kill -SEGV $$ ;;
    threads) exec sleep 100 ;;
    footprint) head -c 100000 /dev/zero | tr '\0' x ;;
esac
END
chmod +x "$bad/malloc"
expect 0 --quick --rounds 2 --timeout 1 --rows pair,random,threads,footprint --peers glibc --csv - \
    --workers "$bad"
has out ',pair-16,glibc,9.9,ns,less,1,1.5,1.5,1.5,1,,measured'
has out ',pair-64,glibc,9.9,ns,less,0,.*,failed'
has out ',random,glibc,.*,failed'
has err 'glibc, pair: FAILED: exited with status 3: out of luck'
has err 'glibc, random: FAILED: killed by signal 11'
has err 'glibc, threads: FAILED: ran past its limit of 1 s'
has out ',footprint,glibc,.*,none'
# ours must not fail
printf '#!/bin/sh\n[ "$1" != describe ] || echo "library x"\n' >"$bad/memspan"
expect 0 --quick --rounds 1 --rows pair --peers memspan --workers "$bad"
printf '#!/bin/sh\n[ "$1" != describe ] && exit 1\necho "library x"\n' >"$bad/memspan"
expect 1 --quick --rounds 1 --rows pair --peers memspan --workers "$bad"
has out 'memspan, pair: FAILED: exited with status 1'
rm "$bad/memspan"
expect 1 --quick --rounds 1 --rows pair --peers memspan --workers "$bad"
has out 'memspan: not measured: its library was not here'

# --- arguments ---
expect 0 --help
has out '^  --also NAME=LIBRARY'
has out '^  producer-consumer '
hasnt out '--workers'
for arguments in '--rows nothing' '--peers unknown' '--rounds 0' '--nonsense' '--also nameless' \
    '--also =x' '--also x=' '--also glibc=/x.so' '--also x=/a:b' '--timeout 0' '--csv - --json -' \
    '--csv /nowhere/x' '--placement apart'; do
    # shellcheck disable=SC2086
    expect 2 $arguments
    [ -s "$folder/err" ] || fail "nothing was said about: $arguments"
done

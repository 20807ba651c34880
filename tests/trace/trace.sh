#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trace.sh CASE PROGRAM: what MEMSPAN_TRACE writes is JSON, and says what the program did.
set -eu
export LC_ALL=C
case=$1 program=$2
command -v jq >/dev/null || { echo 'skipped: jq is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
bad=0

fail() {
    echo "$case: $*" >&2
    bad=1
}

# said NAME: the number that the program printed.
said() {
    sed -n "s/^$1=//p" out
}

# count FILE NAME: events of that name.
count() {
    jq --arg name "$2" '[.traceEvents[] | select(.name == $name)] | length' "$1"
}

# same FILE NAME...: as many events of these names as the program says.
same() {
    file=$1
    shift
    for name in "$@"; do
        [ "$(count "$file" "$name")" = "$(said "$name")" ] ||
            fail "$file has $(count "$file" "$name") events $name, the program did $(said "$name")"
    done
}

# holds FILE WHAT EXPRESSION: the expression is true of the array of events.
holds() {
    [ "$(jq ".traceEvents | $3" "$1")" = true ] || fail "$1: $2 does not hold"
}

# sound FILE: what is true of every trace.
sound() {
    jq -e . "$1" >/dev/null || { fail "$1 is no JSON"; cat "$1" >&2; return; }
    holds "$1" 'times in order' '[.[] | select(.ph == "i") | .ts] | . == sort'
    holds "$1" 'one process' '[.[].pid] | unique | length == 1'
    holds "$1" 'every block event whole' \
        'all(.[] | select(.cat == "block"); (.args.size > 0) and (.tid > 0) and (.ts > 0) and
         (.args.address | test("^0x[0-9a-f]+$")) and .args.allocator and .args.space and
         .args.kind == "host")'
}

run() {
    status=0
    "$program" "$@" >out 2>err || status=$?
}

ends_well() {
    [ "$status" = 0 ] || { fail "exit status $status"; cat err >&2; }
}

quiet() {
    [ ! -s err ] || { fail 'something was said'; cat err >&2; }
}

export MEMSPAN_TRACE=t.json MEMSPAN_FALLBACK=quiet
case $case in
counts)
    run counts
    ends_well
    quiet
    sound t.json
    same t.json alloc free realloc fallback failed
    holds t.json 'sizes' "[.[] | select(.name == \"alloc\") | .args.size] | add == $(said sum)"
    holds t.json 'what is left' \
        "[.[] | select(.ph == \"C\" and (.name | test(\"^live allocator\")))] | last | .args.bytes == $(said left)"
    holds t.json 'curve of the default allocator ends at 0' \
        '[.[] | select(.name == "live omp_default_mem_alloc")] | last | .args.bytes == 0'
    holds t.json 'what is held is what was taken and not given back' \
        '([.[] | select(.name == "take chunk") | .args.size] | add) -
         ([.[] | select(.name == "give chunk back") | .args.size] | add // 0) ==
         ([.[] | select(.ph == "C" and (.name | test("^held ")))] | group_by(.name) |
          map(last | .args.bytes) | add)'
    holds t.json 'spans of big blocks' \
        "([.[] | select(.ph == \"b\")] | length == $(said big)) and
         ([.[] | select(.ph == \"e\")] | length == $(said big)) and
         ([.[] | select(.cat == \"span\") | .id] | unique | length == $(said big))"
    holds t.json 'where a moved block was' \
        'all(.[] | select(.name == "realloc"); .args.old_size and .args.old_address and .args.old_allocator)'
    holds t.json 'the space' '[.[] | select(.name == "alloc") | .args.space] | contains(["large_cap"])'
    holds t.json 'the process has a name' \
        '[.[] | select(.name == "process_name") | .args.name] == ["trace-program"]'
    [ "$(stat -c %a t.json)" = 600 ] || fail "others may read it: $(stat -c %a t.json)"
    ;;
threads)
    run threads
    ends_well
    quiet
    sound t.json
    same t.json alloc free
    holds t.json 'threads' "[.[] | select(.name == \"alloc\") | .tid] | unique | length == $(said threads)"
    # Names may have quotes, and bytes that are no UTF-8.
    holds t.json 'names of threads' \
        '[.[] | select(.name == "thread_name") | .args.name] | length == 2 and all(. == "\"a\\b??\"")'
    holds t.json 'curve' \
        '[.[] | select(.name == "live omp_default_mem_alloc") | .args.bytes] | (last == 0) and (min == 0) and (max > 0)'
    ;;
killed)
    run killed
    [ "$status" = 137 ] || fail "exit status $status"
    sound t.json
    [ "$(count t.json alloc)" -gt 1000 ] || fail "only $(count t.json alloc) of $(said alloc)"
    ;;
aborted)
    run aborted
    [ "$status" = 134 ] || fail "exit status $status"
    sound t.json
    [ "$(count t.json alloc)" = 1 ] || fail 'the event before the end is missing'
    ;;
forked)
    run forked
    ends_well
    quiet
    parent=$(said parent) child=$(said child)
    sound t.json
    sound "t.json.$child"
    [ "$(count t.json alloc),$(count t.json free)" = 1,1 ] || fail 'parent: not one of each'
    [ "$(count "t.json.$child" alloc),$(count "t.json.$child" free)" = 1,1 ] ||
        fail 'child: not one of each'
    holds t.json 'the number of the parent' "first.pid == $parent"
    holds "t.json.$child" 'the number of the child' "first.pid == $child"
    MEMSPAN_TRACE='%p-100%%.json' run forked
    ends_well
    sound "$(said parent)-100%.json"
    sound "$(said child)-100%.json"
    [ "$(find . -name '*.json*' | wc -l)" = 4 ] || fail "files: $(ls)"
    ;;
shared)
    run shared
    ends_well
    quiet
    [ "$(find . -name 't.json*' | wc -l)" = 2 ] || fail "files: $(ls)"
    sound t.json
    sound t.json.*
    [ "$(count t.json alloc)" = 1 ] || fail 'the first program does not have its own'
    same "$(ls t.json.*)" alloc
    ;;
limit)
    MEMSPAN_TRACE_LIMIT=20000 run many
    ends_well
    sound t.json
    [ "$(stat -c %s t.json)" -le 20000 ] || fail "$(stat -c %s t.json) bytes"
    [ "$(stat -c %s t.json)" -gt 15000 ] || fail "$(stat -c %s t.json) bytes only"
    [ "$(grep -c 'MEMSPAN_TRACE_LIMIT=20000' err)" = 1 ] || { fail 'not said once'; cat err >&2; }
    MEMSPAN_TRACE_LIMIT=10 run many
    ends_well
    grep -q 'MEMSPAN_TRACE=t.json.*too small: MEMSPAN_TRACE_LIMIT=10' err || { fail 'too small a limit'; cat err >&2; }
    ;;
full)
    # Past RLIMIT_FSIZE a write ends the process.
    status=0
    (ulimit -f 16 && exec "$program" many) >out 2>err || status=$?
    ends_well
    sound t.json
    [ "$(stat -c %s t.json)" -le 16384 ] || fail "$(stat -c %s t.json) bytes"
    [ "$(grep -c 'limit ([0-9]* bytes, the process.s ulimit -f)' err)" = 1 ] || { fail 'not the limit of the process'; cat err >&2; }
    ! grep -q MEMSPAN_TRACE_LIMIT err || { fail 'a limit that is not reached'; cat err >&2; }
    ;;
closed)
    run closed own.txt
    ends_well
    [ "$(cat own.txt)" = untouched ] || fail 'the program'"'"'s file was written to'
    grep -q 'closed it' err || { fail 'not said'; cat err >&2; }
    sound t.json
    ;;
refused)
    mkdir folder
    mkfifo pipe
    for file in nowhere/t.json folder pipe /dev/null "$(printf '%5000s' x)"; do
        MEMSPAN_TRACE=$file run many
        ends_well
        [ "$(grep -c 'error config: MEMSPAN_TRACE=' err)" = 1 ] ||
            { fail "$file: not said once"; cat err >&2; }
    done
    MEMSPAN_TRACE=/dev/null run many
    grep -q 'not a regular file' err || fail 'a device was taken for a file'
    [ ! -e nowhere ] || fail 'a folder was made'
    # A link may be another user's, to a file of this user's.
    echo untouched >own.txt
    ln -s own.txt link.json
    ln own.txt second.json
    ln -s missing.txt dangling.json
    for file in link.json second.json dangling.json; do
        MEMSPAN_TRACE=$file run many
        ends_well
        grep -q "error config: MEMSPAN_TRACE=.*$file: it .*link" err ||
            { fail "$file: not refused"; cat err >&2; }
    done
    [ "$(cat own.txt)" = untouched ] || fail 'a file was written through a link'
    [ ! -e missing.txt ] || fail 'a file was made through a link'
    # The file is the user's alone, also where it was there before.
    : >open.json
    chmod 666 open.json
    MEMSPAN_TRACE=open.json run counts
    ends_well
    [ "$(stat -c %a open.json)" = 600 ] || fail "open.json has mode $(stat -c %a open.json)"
    # What was there is overwritten whole.
    yes | head -c 1000000 >t.json
    run counts
    ends_well
    sound t.json
    ;;
secure)
    [ "$(id -u)" = 0 ] || { echo 'skipped: needs the right to make a set-user-id program'; exit 77; }
    cp "$program" secure-program
    chmod 755 .
    chown nobody secure-program
    chmod u+s secure-program
    chmod 777 .
    ./secure-program many >out 2>err || { cat err; echo 'skipped: it does not run here'; exit 77; }
    [ "$(stat -f -c %T .)" != nosuid ] || exit 77
    [ ! -e t.json ] || fail 'a set-user-id program wrote a trace'
    quiet
    ;;
*)
    fail 'no such case'
    ;;
esac
exit "$bad"

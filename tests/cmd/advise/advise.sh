#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# advise.sh CASE PROGRAM [AWKWARD ADVISE OWN STATIC [NEWS NEWS-STRIPPED]]: what memspan-advise sees of a program whose uses of memory are known, and
# what it makes of it; and that a program that does what it may not expect runs as it does alone.
set -eu
export LC_ALL=C
case=$1 program=$2 awkward=${3-} advise=${4-} own=${5-} static=${6-} news=${7-} news_stripped=${8-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"

fail() {
    echo "$case: $*" >&2
    [ ! -e out ] || cat out >&2
    [ ! -e err ] || cat err >&2
    exit 1
}

# refused STATUS WORDS COMMAND...: that status, and a message with these words.
refused() {
    status=0
    expected=$1 words=$2
    shift 2
    "$@" >out 2>err || status=$?
    [ "$status" = "$expected" ] || fail "status $status, expected $expected: $*"
    grep -qF -- "$words" err || fail "no \"$words\" in the message: $*"
}

# watch OPTIONS...: the profile of the program has the three uses; file is the proposal.
watch() {
    "$advise" --report out --output file "$@" >said 2>err || fail "status $?"
    grep -q 'known from page faults' out || { echo 'skip: no events of page faults here'; exit 77; }
}

# placed STREAM SCATTER KEEP: what the program says of its memory.
placed() {
    printf 'stream %s\nscatter %s\nkeep %s\n' "$@" >expected
    cmp -s expected out || fail "expected $*"
}

# place_all FOLDER: a placement of every site that has a profile there.
place_all() {
    echo 'memspan-placement 1' >file
    sed -n 's/^site [0-9. ]* /high_bw /p' "$1"/* | sort -u >>file
}

case $case in
malloc | calloc | realloc | memalign | memspan)
    watch --capacity 100m "$program" "$case" 2
    for line in 'bandwidth  high_bw' 'latency    low_lat' 'cold       large_cap'; do
        [ "$(grep -c " 8.0  *[12] .*$line" out)" = 1 ] || fail "not one site is $line"
    done
    "$advise" --apply file "$program" "$case" >out 2>err || fail "applied: status $?"
    placed omp_high_bw_mem_alloc omp_low_lat_mem_alloc omp_large_cap_mem_alloc
    if [ "$case" = memspan ]; then
        MEMSPAN_PLACEMENT="file" "$program" "$case" >out 2>err || fail "by the variable: status $?"
        placed omp_high_bw_mem_alloc omp_low_lat_mem_alloc omp_large_cap_mem_alloc
        "$program" "$case" >out 2>err
        placed omp_default_mem_alloc omp_default_mem_alloc omp_default_mem_alloc
    fi
    ;;
fork) # a child has memory of its own, and the parent's is still right
    watch "$program" malloc 1 fork
    ;;
tables) # without the event: hot or cold, not how
    command -v strace >/dev/null || { echo 'skip: no strace'; exit 77; }
    strace -f -qq -o trace -e trace=perf_event_open -e inject=perf_event_open:error=EACCES \
        "$advise" --report out "$program" malloc 2 >said 2>err || { grep -q ptrace err && { cat err; exit 77; }; fail "status $?"; }
    grep -q 'known from page tables: perf_event_open: Permission denied' out || fail 'the source is not told'
    [ "$(grep -c ' 8.0 .* hot  *high_bw' out)" = 2 ] || fail 'not two sites are hot'
    [ "$(grep -c ' 8.0 .* cold  *large_cap' out)" = 1 ] || fail 'not one site is cold'
    ;;
descriptors | forks | many | shrink | failures) # what is the program's stays as it was
    "$awkward" "$case" || fail "alone: status $?"
    "$advise" "$awkward" "$case" >out 2>err || fail "watched: status $?"
    ;;
grow | family | copies | filtered) # watched and placed, it runs as it does alone
    "$awkward" "$case" || fail "alone: status $?"
    "$advise" --keep kept "$awkward" "$case" >out 2>err || fail "watched: status $?"
    [ "$case" != grow ] || [ "$(awk '/grow at/ { print $2 }' err)" -lt 40 ] || fail 'it is copied at every step'
    place_all kept
    "$advise" --apply file "$awkward" "$case" >out 2>err || fail "placed: status $?"
    ;;
late_copy) # a fork waits as long as the library's thread takes: here in a call that holds its lock
    command -v strace >/dev/null || { echo 'skip: no strace'; exit 77; }
    strace -f -qq -o trace -e trace=madvise -e inject=madvise:delay_enter=4000000:when=5 \
        "$advise" --report out "$awkward" "$case" >said 2>err || { grep -q ptrace err && { cat err; exit 77; }; fail "status $?"; }
    [ ! -s err ] || fail 'it says something'
    ;;
part | ended) # what is never used of an array does not hide what is, nor do blocks that have ended
    watch "$awkward" "$case"
    [ "$(grep -c ' 32.0 .* bandwidth  high_bw .*use_part' out)" = 1 ] || fail 'the array that is used in part'
    [ "$(awk '/use_part/ { print ($1 == 32.0) }' out | head -1)" = 1 ] || fail 'the order'
    ;;
killed) # what was seen until then
    refused 137 'killed by signal 9' "$advise" --report report "$awkward" killed
    mv report out
    grep -q '^ *32.0 ' out || fail 'no report'
    "$advise" --report out --keep kept "$awkward" long >said 2>err &
    until [ -n "$(find kept -name '[0-9]*' 2>/dev/null)" ]; do sleep 0.1; done
    kill $!
    status=0
    wait $! || status=$?
    [ "$status" = 143 ] || fail "SIGTERM: status $status"
    grep -q '^ *32.0 ' out || fail 'no report after SIGTERM'
    refused 137 'in its first second' "$advise" sh -c 'kill -9 $$'
    ;;
folders) # names of files hold when the program changes its folder
    mkdir other
    "$advise" --keep kept sh -c 'cd other && "$0" family' "$awkward" >out 2>err || fail "status $?"
    grep -q '^site' kept/* || fail 'no profile'
    watch --capacity 100m "$program" memspan 2
    "$advise" --apply file sh -c 'cd other && "$0" memspan' "$program" >out 2>err || fail "applied: status $?"
    placed omp_high_bw_mem_alloc omp_low_lat_mem_alloc omp_large_cap_mem_alloc
    ;;
names) # of programs, with characters that mean something elsewhere
    cp "$awkward" 'a b+#c'
    "$advise" --keep kept ./'a b+#c' family >out 2>err || fail "status $?"
    place_all kept
    grep -q '^high_bw a_b+_c:[0-9a-f]*+0x' file || { cat file; fail 'the frames'; }
    "$advise" --apply file ./'a b+#c' family >out 2>err || fail "placed: status $?"
    [ ! -s err ] || fail 'the placement is refused'
    command -v addr2line >/dev/null || { echo 'skip: no addr2line'; exit 77; }
    "$advise" --from kept/* >out
    grep -q 'family at awkward.c:[0-9]*$' out || fail 'no line of source'
    # Symbols are read of files with a frame of a site; a program loads many others.
    mkdir bin
    printf '#!/bin/sh\nfor file; do :; done\necho "${file##*/}" >>"%s/symbols"\nexec "%s" "$@"\n' "$work" "$(command -v nm)" >bin/nm
    chmod +x bin/nm
    PATH="$work/bin:$PATH" "$advise" --from kept/* >out
    [ "$(grep -c '^module' kept/*)" -gt 3 ] || fail 'it loads too few files for this'
    while read -r file; do
        grep -q "^site.* $(echo "$file" | tr ' #' '__'):" kept/* || fail "the symbols of $file are read"
    done <symbols
    ;;
filtered_start) # a filter from before the program's start, of which the library may not know
    "$awkward" filtered_start || fail "alone: status $?"
    "$advise" --keep kept "$awkward" filtered_start >out 2>err || fail "watched: status $?"
    echo 'memspan-placement 1' >file
    "$advise" --apply file "$awkward" filtered_start >out 2>err || fail "placed: status $?"
    ;;
no_files) # a program that may write none, and a folder without room
    # In a folder that nothing is in: kill -9 of memspan-advise leaves nothing there.
    mkdir here
    export TMPDIR="$work/here"
    said=$(ulimit -f 0; "$advise" true 2>&1) && fail 'no profile, and status 0'
    case $said in *killed*) fail "the program is killed: $said" ;; *'ulimit -f'*) ;; *) fail "the limit is not told: $said" ;; esac
    "$advise" sleep 30 >out 2>err &
    until [ -n "$(ls here)" ]; do sleep 0.05; done
    kill -9 $!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -n "$(ls here)" ] || break
        sleep 0.1
    done
    [ -z "$(ls here)" ] || fail "left behind: $(ls here)"
    unshare -m true 2>/dev/null || { echo 'skip: no namespace for a full file system'; exit 77; }
    refused 1 'no room' unshare -m sh -c \
        'mount -t tmpfs -o size=64k none here && { dd if=/dev/zero of=here/full bs=4k 2>/dev/null || :; } && "$@"' \
        sh "$advise" true
    ;;
limits) # where watching is refused, the program runs and the report says so
    sh -c 'ulimit -f 100; exec "$@"' sh "$advise" --report out "$awkward" family >said 2>err || fail "ulimit -f: status $?"
    grep -q 'known from nothing: a memory file: File too large' out || fail 'ulimit -f is not told'
    "$advise" true >said 2>out || fail "status $?"
    grep -q 'no block of 64 KiB or more' out || fail 'an empty report is not explained'
    command -v strace >/dev/null || { echo 'skip: no strace'; exit 77; }
    strace -f -qq -o trace -e trace=memfd_create -e inject=memfd_create:error=ENOSYS \
        "$advise" --report out "$awkward" family >said 2>err || { grep -q ptrace err && { cat err; exit 77; }; fail "status $?"; }
    grep -q 'known from nothing: a memory file: Function not implemented' out || fail 'memfd_create is not told'
    unshare -m mount -t tmpfs none /proc 2>/dev/null || { echo 'skip: no namespace without /proc'; exit 77; }
    strace -f -qq -o trace -e trace=perf_event_open -e inject=perf_event_open:error=EACCES unshare -m sh -c \
        'mount -t tmpfs none /proc && exec "$@"' sh "$advise" --report out "$awkward" family >said 2>err || fail "no /proc: status $?"
    grep -q 'known from nothing: perf_event_open: Permission denied' out || fail 'a missing /proc is not told'
    ;;
recorded) # classes, capacity and two processes, from files
    for profile in uses tables weight; do
        "$advise" --capacity 40m --from "$here/$profile.profile" --output file >out 2>err || fail "status $?"
        sed 's/  *$//; /^# this machine/d' out >shown
        cat file >>shown
        cmp -s shown "$here/$profile.expected" || { diff "$here/$profile.expected" shown || :; fail "$profile"; }
    done
    HWLOC_SYNTHETIC='numa:1 core:2 pu:1' "$advise" --from "$here/uses.profile" >out
    grep -q 'no effect here (--machine names another)' out || fail 'it is not said that all memory is of one kind'
    "$advise" --machine "$here/../../machines/ddr-hbm.xml" --from "$here/uses.profile" >out
    grep -q 'no effect' out && fail 'it is said of a machine that has two kinds'
    "$advise" --from "$here/uses.profile" --from "$here/uses.profile" --rows 1 >out
    grep -q '^ *96.0 *2 ' out || fail 'two processes are not added'
    "$advise" --from "$here/uses.profile" --from "$here/tables.profile" >out
    grep -q '^ *64.0 *2 .* 98%  bandwidth' out || fail 'two sources are not told apart'
    grep -q '^ *8.0 *8 .* cold' out || fail 'what two processes use seldom'
    ;;
output) # the program's output is the program's, and so is the description of a machine
    said=$(HWLOC_XMLFILE=mine "$advise" --machine "$here/../../machines/ddr-hbm.xml" \
        printenv HWLOC_XMLFILE 2>err)
    [ "$said" = mine ] || fail "the program said: $said"
    grep -q 'known from' err || fail 'no report on standard error'
    "$advise" --report file ls / none-such >out 2>err && fail 'status 0'
    ls / none-such >alone 2>&1 || :
    [ "$(cat err out)" = "$(cat alone)" ] || fail 'beside the report there is something else'
    grep -q 'known from' file || fail 'no report in the file'
    ;;
allocators) # new and delete are an allocator's own, and malloc() may be
    for library in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4 libtbbmalloc_proxy.so.2; do
        [ -n "$(ldconfig -p | grep -F "$library")" ] || continue
        LD_PRELOAD=$library "$news" >out 2>err || continue # wrong by itself
        tried=1
        LD_PRELOAD=$library "$advise" --report out "$news" >said 2>err || fail "$library: status $?"
        grep -q '^ *32.0 ' out || fail "$library: the array of new is not seen"
    done
    "$advise" --report out "$news" >said 2>err || fail "status $?"
    grep -q '^ *32.0 .* grow_all' out || fail 'the caller of the container is not named'
    # Its functions have names without lines of source, by the symbols of its dynamic linkage.
    "$advise" --report out "$news_stripped" >said 2>err || fail "stripped: status $?"
    grep -q '^ *32.0 .* grow_all.* in advise-news' out || fail 'the function of a stripped program is not named'
    [ -n "${tried-}" ] || { echo 'skip: no other allocator is installed'; exit 77; }
    ;;
own_malloc) # a program with an allocator of its own
    "$advise" --report out "$own" >said 2>err || fail "status $?"
    grep -q "^# malloc() is that of .*${own##*/}: its blocks are not seen" out || fail 'it is not told'
    ;;
unseen) # small blocks: one line
    "$advise" --report out "$awkward" small >said 2>err || fail "status $?"
    grep -q 'not seen: blocks below 64 KiB.* in all [0-9.]* of [0-9.]* MiB resident' out || fail 'it is not told'
    ;;
wrong)
    refused 2 'a program is to be named' "$advise"
    refused 2 'a program is to be named' "$advise" --from x program
    refused 2 'no other option' "$advise" --apply x --from x
    refused 1 'none-such: No such file' "$advise" --apply none-such "$program"
    refused 127 'none-such' "$advise" ./none-such
    refused 1 'none-such: No such file' "$advise" --from none-such
    refused 1 'out-folder/file' "$advise" -o out-folder/file touch ran
    [ ! -e ran ] || fail 'it ran before the file was refused'
    printf 'other\n%4096s\n' x >file
    "$advise" --from "$here/uses.profile" -o file >out
    head -1 file | grep -q memspan-placement || fail 'the file begins with what was there'
    refused 1 'No space left' "$advise" --from "$here/uses.profile" -o /dev/full
    mkdir kept
    refused 1 'kept: File exists' "$advise" --keep kept "$program"
    for line in 'program' 'site 1 2 3' 'site 1 2 3 4 5 6 7 8 frame' 'site 1 2 3 4 5 6 -7 -8 frame' \
        'site 1 2 3 nan 5 6 6 6 f' 'site 0 2 3 4 5 6 6 6 f' 'site 1 0 3 4 5 6 6 6 f'; do
        printf 'memspan-profile 1\nprogram x\n%s\n' "$line" >profile
        refused 1 'profile, line 3' "$advise" --from profile
    done
    status=0
    mkfifo pipe
    refused 1 'a profile is a file' "$advise" --from pipe
    refused 1 'this is no placement' "$advise" --apply /etc/passwd touch ran
    refused 1 'no-machine: No such file' "$advise" --machine no-machine touch ran
    [ ! -e ran ] || fail 'it ran before the file was refused'
    refused 127 'linked statically' "$advise" "$static"
    if [ "$(id -u)" != 0 ]; then
        for program in $(command -v passwd su mount || :); do
            [ ! -u "$program" ] || refused 127 'rights of another user' "$advise" "$program" --help
        done
    fi
    "$advise" sh -c 'exit 7' >out 2>err || status=$?
    [ "$status" = 7 ] || fail "the program's status 7 is $status"
    ;;
file) # malformed placements are named with their line; the program goes on without
    frame=known:00000000+0x1
    for wrong in 'nothing' 'memspan-placement 2' 'memspan-placement 1|fast '$frame 'memspan-placement 1|high_bw' \
        'memspan-placement 1|# comment||high_bw known+0x1' 'memspan-placement 1|high_bw '$frame'  '$frame \
        'memspan-placement 1|low_lat known:0+1' 'memspan-placement 1|low_lat known:0+0xg'; do
        printf '%s\n' "$wrong" | tr '|' '\n' >wrong
        MEMSPAN_PLACEMENT=wrong "$program" memspan >out 2>err || fail "status $?"
        placed omp_default_mem_alloc omp_default_mem_alloc omp_default_mem_alloc
        grep -q "MEMSPAN_PLACEMENT.*wrong, line $(grep -c '' wrong)" err || fail "no line of: $wrong"
    done
    mkfifo pipe
    for wrong in none-such . pipe; do
        MEMSPAN_PLACEMENT=$wrong "$program" memspan >out 2>err || fail "status $?"
        grep -q "MEMSPAN_PLACEMENT.*$wrong" err || fail "$wrong is not named"
        [ "$wrong" = none-such ] || grep -q 'no regular file' err || fail "$wrong: it is not said what it is"
    done
    printf 'memspan-placement 1\nhigh_bw known-memory:12345678+0x1\n' | sed "s/known-memory/${program##*/}/" >stale
    MEMSPAN_PLACEMENT=stale "$program" memspan >out 2>err || fail "status $?"
    grep -q 'another build of' err || fail 'another build is not told'
    printf 'memspan-placement 1 # empty \n\n' >empty
    MEMSPAN_PLACEMENT=empty "$program" memspan >out 2>err || fail "status $?"
    [ ! -s err ] || fail 'a message about an empty placement'
    ;;
esac

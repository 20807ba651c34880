#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun.sh CASE OSHRUN LAUNCH-PE: what oshrun does with its PEs' output, input, ends and deaths.
set -eu
case_name=$1 oshrun=$2 pe=$3
scratch=$(mktemp -d)
cleanup() {
    pkill -9 -P $$ 2>/dev/null || : # its own children, should any be left
    rm -rf "$scratch"
}
trap cleanup EXIT
cd "$scratch"

fail() {
    echo "$case_name: $*"
    echo '--- output'
    cat out 2>/dev/null || :
    echo '--- errors'
    cat err 2>/dev/null || :
    exit 1
}

# run STATUS COMMAND...: its output in out, its errors in err; it must end with that status.
run() {
    expected=$1
    shift
    status=0
    timeout 60 "$@" >out 2>err || status=$?
    [ "$status" -eq "$expected" ] || fail "status $status, not $expected: $*"
}

says() { grep -q -- "$1" err || fail "no \"$1\" among the errors"; }
is_silent() { [ ! -s err ] || fail 'something was complained about'; }
prints() { [ "$(sort out)" = "$1" ] || fail "other output than: $1"; }
ms() { echo $(($(date +%s%N) / 1000000)); }
# ended_within MS START: two jobs since START took no more than MS longer than two jobs that end well.
ended_within() {
    took=$(($(ms) - $2))
    start=$(ms)
    run 0 "$oshrun" -n 4 "$pe"
    run 0 "$oshrun" -n 4 "$pe"
    well=$(($(ms) - start))
    [ $took -lt $((well + $1)) ] || fail "two jobs took $took ms to end, and $well ms where no PE dies"
}
# No process is left that has this word on its command line.
gone() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -f "$1" >left || return 0
        sleep 0.2
    done
    fail "left behind: $(cat left)"
}
# shell VARIABLE PES: the words that give the number to each PE of another launcher.
shell() { printf '/bin/sh -c OSHRUN_PE=$%s OSHRUN_PES=%s; export OSHRUN_PE OSHRUN_PES; exec "$0" "$@"' "$1" "$2"; }
# A number that marks this run's processes.
mark=77$$

case $case_name in
orphans | group | killed_launcher | signals | second_interrupt | stop | stubborn)
    for tool in pgrep ps setsid; do
        command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
    done
    ;;
esac
case $case_name in
barrier)
    run 0 "$oshrun" -n 3 "$pe" print rounds again
    is_silent
    prints 'PE 0 of 3, local 0 of 3, by oshrun 0.1.0
PE 1 of 3, local 1 of 3, by oshrun 0.1.0
PE 2 of 3, local 2 of 3, by oshrun 0.1.0'
    ;;
many)
    run 0 "$oshrun" -n 64 "$pe" print
    is_silent
    [ "$(wc -l <out)" -eq 64 ] || fail 'not 64 lines'
    ;;
in_a_script)
    # A shell between, two programs one after the other, and a parent that closes descriptors.
    command -v bash >/dev/null || { echo 'skip: no bash, which closes descriptors beyond 9'; exit 77; }
    run 0 "$oshrun" -n 2 bash -c "'$pe' print && exec 200>&- && '$pe' print"
    [ "$(wc -l <out)" -eq 4 ] || fail 'not 4 lines'
    ;;
inherited_place)
    run 3 "$oshrun" -n 1 sh -c "'$pe' hang & sleep 0.3; '$pe'"
    says 'is process [0-9]* already'
    ;;
output)
    # Long lines and pieces of lines, many PEs at once: no line is broken.
    cat >./talk <<'TALK'
i=0
line=$(printf "%4000d" "$OSHRUN_PE")
while [ $i -lt 40 ]; do
    printf "%s" "begin "
    echo "$line end"
    echo "error $OSHRUN_PE" >&2
    i=$((i + 1))
done
printf "last %s without an end" "$OSHRUN_PE"
TALK
    run 0 "$oshrun" --pmix=off -n 5 sh ./talk
    [ "$(grep -cE '^begin +[0-4] end$' out)" -eq 200 ] || fail 'lines are broken or lost'
    [ "$(grep -o 'last [0-4] without an end' out | sort -u | wc -l)" -eq 5 ] || fail 'ends are lost'
    [ "$(grep -cE '^error [0-4]$' err)" -eq 200 ] || fail 'errors are broken or lost'
    run 0 "$oshrun" --pmix=off --tag-output -n 5 sh ./talk
    [ "$(grep -cE '^\[([0-4])\] begin +[0-4] end$' out)" -eq 200 ] || fail 'tags are wrong'
    grep -E '^\[([0-4])\] begin +[0-4] end$' out | awk '{ if ($1 != "[" $3 "]") exit 1 }' ||
        fail 'a tag names another PE'
    # The reader is slow, and the start of a line waits in oshrun for the rest in the pipe.
    "$oshrun" --pmix=off -n 4 seq 1 60000 | (sleep 1; cat) >out
    [ "$(sort out | uniq -c | awk '$1 == 4' | wc -l)" -eq 60000 ] || { : >out; fail 'lines are split for a slow reader'; }
    # Both to one file: in the order in which they were written.
    "$oshrun" --pmix=off -n 1 sh -c 'for i in 1 2 3 4 5 6; do echo $i; echo $i >&2; done' >both 2>&1
    [ "$(tr -d '\n' <both)" = 112233445566 ] || fail "another order: $(cat both)"
    ;;
broken_pipe)
    (timeout 20 "$oshrun" -n 2 sh -c 'while echo yes; do :; done' 2>err || echo $? >status) |
        head -n 3 >out
    [ "$(wc -l <out)" -eq 3 ] || fail 'not 3 lines'
    for _ in 1 2 3 4 5; do [ -s status ] || sleep 0.2; done
    [ "$(cat status)" = 141 ] || fail "status $(cat status), not 141, when the reader has gone"
    is_silent
    ;;
input)
    echo 'for PE 0' >in
    run 0 "$oshrun" --pmix=off --tag-output -n 2 cat <in
    prints '[0] for PE 0'
    ;;
environment)
    run 0 "$oshrun" --pmix=off -n 2 -x COLOR=red --env SIZE=a=b --wdir / sh -c \
        'echo $OSHRUN_PE $OSHRUN_PES $COLOR $SIZE $PWD'
    prints '0 2 red a=b /
1 2 red a=b /'
    PMIX_RANK=7 PMIX_NAMESPACE=other PMI_SIZE=9 OMPI_COMM_WORLD_SIZE=9 \
        run 0 "$oshrun" --pmix=off -n 1 env
    ! grep -E '^(PMIX_RANK|PMIX_NAMESPACE|PMI_SIZE|OMPI_COMM_WORLD_SIZE)=' out ||
        fail 'another launcher shows through'
    ;;
wdir)
    # A relative name is one in the folder of the PEs, by PATH too.
    mkdir sub bin
    printf '#!/bin/sh\necho there\n' >sub/there
    printf '#!/bin/sh\necho here\n' >here
    chmod +x sub/there here
    cp sub/there sub/relative
    run 0 "$oshrun" --pmix=off -n 1 --wdir sub ./there
    prints there
    run 0 env PATH=":$PATH" "$oshrun" --pmix=off -n 1 --wdir sub relative
    prints there
    run 0 "$oshrun" --pmix=off -n 1 --wdir sub "$scratch/here"
    prints here
    run 127 "$oshrun" --pmix=off -n 1 --wdir sub ./here
    says 'cannot run ./here in sub'
    ;;
status)
    run 4 "$oshrun" -n 3 "$pe" return=4 1
    is_silent
    run 7 "$oshrun" -n 3 "$pe" abort=7 2 hang
    says 'PE 2 (pid [0-9]*) ended the job with status 7'
    run 0 "$oshrun" -n 3 "$pe" abort=0 2 hang
    is_silent
    run 1 "$oshrun" -n 3 "$pe" abort=256 0 hang
    run 5 "$oshrun" -n 3 "$pe" exit=5 1
    says 'PE 1 (pid [0-9]*) exited with status 5 before finalizing'
    run 9 "$oshrun" --pmix=off -n 3 sh -c 'test $OSHRUN_PE = 1 && exit 9; exec sleep 30'
    says 'PE 1 (pid [0-9]*) exited with status 9'
    run 0 "$oshrun" --pmix=off -n 2 sh -c 'exit 0'
    is_silent
    ;;
death)
    start=$(ms)
    run 137 "$oshrun" -n 4 "$pe" kill=9 3
    says 'PE 3 (pid [0-9]*) was killed by signal 9 (Killed)'
    run 134 "$oshrun" -n 4 "$pe" kill=6 0 hang
    says 'PE 0 (pid [0-9]*) was killed by signal 6'
    ended_within 1500 "$start"
    # The reason of a PE comes before what is said of its end.
    for end in 'exit 3' 'kill -9 $$' 'exit 4' 'exit 5' 'kill -15 $$' 'exit 6'; do
        status=0
        "$oshrun" --pmix=off -n 2 sh -c "[ \$OSHRUN_PE = 1 ] || exec sleep 5; echo reason >&2; $end" 2>err || status=$?
        [ "$(sed 1q err)" = reason ] || fail "the reason comes late ($end)"
    done
    ;;
leaving)
    start=$(ms)
    run 1 "$oshrun" -n 4 "$pe" exit=0 1
    says 'PE 1 (pid [0-9]*) exited without finalizing, and 3 others are waiting'
    run 1 "$oshrun" --pmix=off -n 2 sh -c "test \$OSHRUN_PE = 1 || exec '$pe'"
    says 'PE 1 (pid [0-9]*) exited without initializing, and 1 other is waiting'
    ended_within 2500 "$start"
    # All of them: no PE waits, and it is not for oshrun to judge.
    run 0 "$oshrun" -n 2 "$pe" exit=0
    ;;
stubborn)
    run 137 "$oshrun" --pmix=off -n 2 sh -c \
        'test $OSHRUN_PE = 1 && { sleep 0.2; kill -9 $$; }; trap "" TERM INT HUP; sleep '$mark
    gone "sleep $mark"
    ;;
orphans)
    # What PEs have started goes with them, even from a session of its own.
    run 0 "$oshrun" --pmix=off -n 2 sh -c "sleep $mark & setsid sleep ${mark}1 & sleep 0.2"
    gone "sleep $mark"
    ;;
group)
    # What a PE has started ends with that PE, not with the job.
    run 0 "$oshrun" --pmix=off -n 2 sh -c "
        if test \$OSHRUN_PE = 1; then sleep $mark & exit 0; fi
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            sleep 0.1
            pgrep -f '^sleep $mark' >/dev/null || { echo gone; exit 0; }
        done
        echo left"
    prints gone
    ;;
second_interrupt)
    # PEs that do not listen: the second signal kills them.
    env --default-signal=INT "$oshrun" --pmix=off -n 2 sh -c \
        "trap '' INT; : >ready.\$OSHRUN_PE; while :; do sleep 0.0$mark; done" >out 2>err &
    launcher=$!
    while [ ! -e ready.0 ] || [ ! -e ready.1 ]; do sleep 0.05; done
    kill -INT $launcher
    sleep 0.8
    [ "$(pgrep -cf "sleep 0.0$mark; done")" -ge 2 ] || fail 'one interrupt has ended PEs that ignore it'
    kill -INT $launcher
    status=0
    wait $launcher || status=$?
    [ $status -eq 130 ] || fail "status $status, not 130, after two interrupts"
    gone "sleep 0.0$mark"
    ;;
kill_after)
    # timeout(1) sends one SIGTERM, to PEs that catch it.
    status=0
    timeout 1 "$oshrun" --pmix=off --kill-after=0.3 -n 2 sh -c \
        "trap 'trap : TERM; echo caught' TERM; while :; do sleep 0.0$mark; done" >out 2>err || status=$?
    [ $status -eq 124 ] || fail "status $status, not timeout's"
    prints 'caught
caught'
    says 'PEs have not ended 0.3 s after signal 15'
    gone "sleep 0.0$mark"
    ;;
full)
    # What cannot be written is said and makes the status; the job goes on.
    [ -c /dev/full ] || { echo 'skip: no /dev/full'; exit 77; }
    status=0
    "$oshrun" --pmix=off -n 2 sh -c 'echo output; sleep 0.3; echo more; : >after.$OSHRUN_PE' >/dev/full 2>err || status=$?
    [ $status -eq 1 ] || fail "status $status, not 1"
    says 'standard output: No space left on device'
    [ "$(grep -c 'No space left' err)" -eq 1 ] || fail 'said more than once'
    [ -e after.0 ] && [ -e after.1 ] || fail 'the job has been ended'
    status=0
    "$oshrun" --pmix=off -n 1 sh -c 'echo error >&2; echo output' >out 2>/dev/full || status=$?
    [ $status -eq 1 ] || fail "status $status, not 1, without standard error"
    prints output
    status=0
    "$oshrun" --pmix=off -n 1 sh -c 'echo output; exit 5' >/dev/full 2>err || status=$?
    [ $status -eq 5 ] || fail "status $status, not the program's 5"
    # A limit on the size of files is an end of the room, too.
    status=0
    (ulimit -f 16; exec "$oshrun" --pmix=off -n 1 head -c 100000 /dev/zero) >out 2>err || status=$?
    if [ -s err ] && grep -q 'job file of' err; then
        : # the job's own memory is larger than that
    else
        [ $status -eq 1 ] || fail "status $status, not 1, with ulimit -f 16"
        says 'standard output: File too large'
    fi
    ;;
several_programs)
    run 2 "$oshrun" -n 1 echo a : -n 1 echo b
    says '":" begins another program'
    run 0 "$oshrun" --pmix=off -n 1 -- echo a : b
    prints 'a : b'
    printf '#!/bin/sh\necho "$@"\n' >mpirun
    chmod +x mpirun
    run 0 env PATH="$scratch:$PATH" "$oshrun" --launcher=mpirun -n 1 a : -n 1 b
    prints "$([ "$(id -u)" -ne 0 ] || printf -- '--allow-run-as-root ')--oversubscribe --bind-to none -n 1 $(shell PMIX_RANK 1) a : -n 1 b"
    ;;
small_limits)
    run 0 sh -c "ulimit -s 64; exec '$oshrun' --pmix=off -n 2 echo small"
    prints 'small
small'
    # The thread sanitizer makes a file of its own before main(), and is ended by the limit.
    if [ -z "${TSAN_OPTIONS-}" ]; then
        run 0 sh -c "(ulimit -f 0; exec '$oshrun' --pmix=off -n 2 true) 2>&1 | cat >&2"
        says 'job file of 2 PEs: File too large (limit: ulimit -f'
    fi
    ;;
short_forms)
    for words in -n2 -c2 '-c 2' '-np 2' --n=2; do
        # shellcheck disable=SC2086 # two words
        run 0 "$oshrun" --pmix=off $words echo PE
        prints 'PE
PE'
    done
    run 2 "$oshrun" -n2x true
    says '-n: "2x" is not a number'
    run 2 "$oshrun" -nx true
    says '-n: "x" is not a number'
    ;;
killed_launcher)
    "$oshrun" --pmix=off -n 3 sh -c "sleep $mark & exec sleep ${mark}1" >out 2>err &
    launcher=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(pgrep -cf "^sleep $mark")" -eq 6 ] && break
        sleep 0.1
    done
    [ "$(pgrep -cf "^sleep $mark")" -eq 6 ] || fail 'the PEs did not start'
    kill -9 $launcher
    wait $launcher || :
    gone "sleep $mark"
    ;;
signals)
    for signal in USR1 USR2; do
        "$oshrun" --pmix=off -n 2 sh -c \
            "trap 'echo $signal; exit 0' $signal; : >ready.\$OSHRUN_PE; while :; do sleep 0.05; done" >out 2>err &
        launcher=$!
        while [ ! -e ready.0 ] || [ ! -e ready.1 ]; do sleep 0.05; done
        kill -$signal $launcher
        wait $launcher || fail "status $? after $signal"
        prints "$signal
$signal"
        rm ready.*
    done
    for signal in TERM INT HUP; do
        # A shell starts background jobs with SIGINT ignored: env does not.
        env --default-signal=INT "$oshrun" --pmix=off -n 2 sleep $mark >out 2>err &
        launcher=$!
        while [ "$(pgrep -cf "^sleep $mark")" -ne 2 ]; do sleep 0.05; done
        kill -$signal $launcher
        status=0
        wait $launcher || status=$?
        [ $status -gt 128 ] && [ "$(kill -l $status)" = $signal ] || fail "status $status after $signal"
        grep -qE "^oshrun: signal [0-9]+ \(.*\) forwarded to the PEs; a second one kills them" err ||
            fail "it does not say why it ends: $(cat err)"
        [ "$(wc -l <err)" -eq 1 ] || fail "it says more: $(cat err)"
        gone "sleep $mark"
    done
    # Under nohup, the end of a session is not the end of the job.
    (trap '' HUP; exec "$oshrun" --pmix=off -n 2 sleep $mark) >out 2>err &
    launcher=$!
    while [ "$(pgrep -cf "^sleep $mark")" -ne 2 ]; do sleep 0.05; done
    kill -HUP $launcher
    kill -HUP $launcher
    sleep 0.2
    [ "$(pgrep -cf "^sleep $mark")" -eq 2 ] || fail 'an ignored signal has ended the job'
    kill -TERM $launcher
    wait $launcher || :
    gone "sleep $mark"
    ;;
stop)
    "$oshrun" --pmix=off -n 2 sleep $mark >out 2>err &
    launcher=$!
    while [ "$(pgrep -cf "^sleep $mark")" -ne 2 ]; do sleep 0.05; done
    kill -TSTP $launcher
    sleep 0.3
    [ "$(ps -o stat= -p "$(pgrep -d, -f "^sleep $mark")" | grep -c T)" -eq 2 ] || fail 'PEs run on'
    ps -o stat= -p $launcher | grep -q T || fail 'oshrun runs on'
    kill -CONT $launcher
    sleep 0.3
    [ "$(ps -o stat= -p "$(pgrep -d, -f "^sleep $mark")" | grep -c S)" -eq 2 ] || fail 'PEs are stopped'
    kill -TERM $launcher
    wait $launcher || :
    gone "sleep $mark"
    ;;
terminal)
    script -qec true /dev/null </dev/null >out 2>&1 || { echo "skip: no terminal: $(cat out)"; exit 77; }
    # On a terminal the PEs see it; PE 0 reads what is typed; Ctrl-C ends the job.
    script -qec "'$oshrun' --pmix=off -n 2 sh -c 'test -t 1 && echo terminal'" /dev/null </dev/null >out 2>err ||
        fail "status $?"
    [ "$(grep -c terminal out)" -eq 2 ] || fail 'no terminal'
    (echo typed; sleep 0.5; printf '\004'; sleep 0.3) |
        timeout 20 script -qec "'$oshrun' --pmix=off --tag-output -n 2 cat" /dev/null >out 2>err ||
        fail "status $?"
    grep -q '^\[0\] typed' out || fail 'what is typed does not arrive'
    status=0
    (sleep 0.4; printf '\003'; sleep 0.3) |
        timeout 20 script -qec "'$oshrun' --pmix=off -n 2 sleep $mark" /dev/null >out 2>err || status=$?
    [ $status -eq 130 ] || fail "status $status, not 130, after Ctrl-C"
    ;;
timeout)
    start=$(ms)
    run 124 "$oshrun" --timeout 0.3 -n 2 "$pe" hang
    says 'time limit of 0.3 s reached'
    took=$(($(ms) - start))
    [ $took -lt 2000 ] || fail "it took $took ms"
    ;;
binding)
    run 0 "$oshrun" --pmix=off --bind-to core -n 2 sh -c 'grep Cpus_allowed_list /proc/self/status'
    if [ "$(getconf _NPROCESSORS_ONLN)" -ge 2 ] && [ "$(nproc)" -ge 2 ] &&
        [ "$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list | sort -u | wc -l)" -ge 2 ]; then
        [ "$(sort -u out | wc -l)" -eq 2 ] || fail 'both are on one core'
    fi
    here=$(grep Cpus_allowed_list /proc/self/status)
    run 0 "$oshrun" --pmix=off --bind-to none -n 1 grep Cpus_allowed_list /proc/self/status
    prints "$here"
    ;;
wrong_usage)
    run 2 "$oshrun" -n 0 true
    says '-n: "0" is out of range: 1 to 65536'
    for number in -1 abc 1x 99999999999999999999 '' 65537; do
        run 2 "$oshrun" -n "$number" true
        says "-n: \"$number\" is "
    done
    run 2 "$oshrun" -n
    run 2 "$oshrun"
    run 2 "$oshrun" --nonsense true
    says 'unknown option --nonsense'
    run 2 "$oshrun" --bind-to sofa true
    says '"sofa" is not one of none, core'
    run 2 "$oshrun" --timeout never true
    run 2 "$oshrun" --env =x true
    run 0 "$oshrun" --help
    grep -q 'usage: oshrun' out || fail 'no help'
    ;;
no_program)
    run 127 "$oshrun" -n 2 no-such-program
    says 'no program no-such-program in PATH'
    run 127 "$oshrun" -n 2 ./no-such-program
    : >plain
    run 126 "$oshrun" -n 2 ./plain
    says 'Permission denied'
    printf '#!/no/such/interpreter\n' >script
    chmod +x script
    run 127 "$oshrun" -n 2 ./script
    says 'cannot run ./script'
    run 127 "$oshrun" --wdir /no/such/folder -n 2 true
    says 'in /no/such/folder'
    echo 'echo shell' >bare
    chmod +x bare
    run 0 "$oshrun" --pmix=off -n 1 ./bare
    prints shell
    ;;
other_launcher)
    printf '#!/bin/sh\necho "$@"\n' >mpirun
    chmod +x mpirun
    root=
    [ "$(id -u)" -ne 0 ] || root='--allow-run-as-root '
    run 0 env PATH="$scratch:$PATH" "$oshrun" --launcher=mpirun -n 3 prog -x y
    prints "$root--oversubscribe --bind-to none -n 3 $(shell PMIX_RANK 3) prog -x y"
    run 0 env PATH="$scratch:$PATH" OSHRUN_LAUNCHER=mpirun "$oshrun" -n 3 --allow-run-as-root prog
    prints "$root--oversubscribe --bind-to none -n 3 $(shell PMIX_RANK 3) prog"
    run 0 env OSHRUN_LAUNCHER=mpirun "$oshrun" --launcher= --pmix=off -n 1 echo itself
    prints itself
    run 127 "$oshrun" --launcher=no-such-launcher -n 3 prog
    says 'cannot run no-such-launcher'
    run 0 env PATH="$scratch:$PATH" FOO=1 "$oshrun" --launcher=mpirun -l --wdir=/tmp -x A=1 -x FOO --bind-to=core -n 2 prog
    prints "$root--oversubscribe --bind-to core --tag-output --wdir /tmp -x A -x FOO -n 2 $(shell PMIX_RANK 2) prog"
    ;;
hosts)
    unset UCX_MEM_MMAP_HOOK_MODE # of the tests under sanitizers; handed on, as all of UCX's are
    # Launchers that print what they are given; mpirun is recognised by what it says of itself.
    mkdir own bin
    for tool in sh echo cat grep; do
        ln -s "$(command -v $tool)" bin/ # Open MPI 5 has a prterun beside them
    done
    printf '#!/bin/sh\n[ "$1" != --version ] || { echo "mpirun (Open MPI) 4.1.4"; exit; }\necho "$@"\n' >own/mpirun
    # srun judges what it is given, as Slurm's does from 24.11 on.
    cat >srun <<'SRUN'
#!/bin/sh
case $1 in
--mpi=list) cat "${0%/*}/plugins"; exit ;;
--mpi=*) grep -qx "[[:space:]]*${1#*=}" "${0%/*}/plugins" || { echo "srun: error: no plugin ${1#*=}" >&2; exit 1; } ;;
*) echo "srun: error: $1 is no --mpi" >&2; exit 1 ;;
esac
case " $* " in
*' --nodes'*' --distribution=arbitrary '*) echo 'srun: error: --nodes is incompatible with it' >&2; exit 1 ;;
esac
echo "$@" "$A"
SRUN
    printf 'MPI plugin types are...\n\tnone\n\tcray_shasta\n\tpmi2\n\tpmix\n' >plugins
    echo 'specific pmix plugin versions available: pmix_v5' >>plugins
    printf '#!/bin/sh\necho "$@"\n' >prterun
    printf '#!/bin/sh\n[ "$1" != --version ] || { echo "HYDRA"; exit; }\necho "$@"\n' >mpirun
    chmod +x own/mpirun srun prterun mpirun
    root=
    [ "$(id -u)" -ne 0 ] || root='--allow-run-as-root '
    printf '# two\n\na slots=4 max_slots=8 # fast\nb:2\nc\na slots=1\n' >file
    # Numbers of PEs, in the order of the hosts.
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch/own:$scratch/bin" UCX_TLS=tcp A=2 "$oshrun" --hosts=a:4,b -x A=1 prog -y
    prints "$root--host a:4,b:1 --oversubscribe --map-by slot --bind-to none -x A -x UCX_TLS -n 5 $(shell PMIX_RANK 5) prog -y"
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch/own:$scratch/bin" "$oshrun" --hostfile=file -n 3 prog
    prints "$root--host a:5,b:2,c:1 --oversubscribe --map-by slot --bind-to none -n 3 $(shell PMIX_RANK 3) prog"
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch/own:$scratch/bin" "$oshrun" --hosts=me@a:2,b prog
    prints "$root--host me@a:2,b:1 --oversubscribe --map-by slot --bind-to none -n 3 $(shell PMIX_RANK 3) prog"
    printf 'me@a slots=2\n' >user
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch/own:$scratch/bin" "$oshrun" --hostfile=user prog
    prints "$root--host me@a:2 --oversubscribe --map-by slot --bind-to none -n 2 $(shell PMIX_RANK 2) prog"
    printf 'a slots = 2 max_slots = 8\nb\tslots= 1\n' >user
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch/own:$scratch/bin" "$oshrun" --hostfile=user prog
    prints "$root--host a:2,b:1 --oversubscribe --map-by slot --bind-to none -n 3 $(shell PMIX_RANK 3) prog"
    # PEs have their numbers, and a missing program is 127.
    printf '#!/bin/sh\nwhile [ "$1" != -n ]; do shift; done\nshift 2\nPMIX_RANK=1 exec "$@"\n' >numbering
    chmod +x numbering
    ln -s ../numbering own/mpirun-numbering
    run 0 "$oshrun" --launcher=own/mpirun-numbering --hosts a:3 sh -c 'echo "$OSHRUN_PE of $OSHRUN_PES: $*"' sh 'a b' c
    prints '1 of 3: a b c'
    run 127 "$oshrun" --launcher=own/mpirun-numbering --hosts a:3 ./no-such-program
    # The order: prterun, Open MPI's mpirun, srun.
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch:$PATH" "$oshrun" -H a:2 -l prog
    prints "$root--host a:2 --map-by slot:OVERSUBSCRIBE --bind-to none --output tag -n 2 $(shell PMIX_RANK 2) prog"
    rm prterun
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch:$scratch/bin" "$oshrun" --hosts a:2,b:2 -n 3 -x A=1 --bind-to core prog
    prints "--mpi=pmix --overcommit --kill-on-bad-exit=1 --cpu-bind=cores --distribution=arbitrary --nodelist=a,a,b -n 3 $(shell SLURM_PROCID 3) prog 1"
    run 0 env -u LD_LIBRARY_PATH PATH="$scratch:$PATH" OSHRUN_LAUNCHER=srun A=2 "$oshrun" --hosts a,b -n 1 prog
    prints "--mpi=pmix --overcommit --kill-on-bad-exit=1 --cpu-bind=none --distribution=arbitrary --nodelist=a -n 1 $(shell SLURM_PROCID 1) prog 2"
    # Without PMIx by PMI-2; without either it is said.
    for listed in pmi2 pmix_v4; do
        printf 'MPI plugin types are...\n\tnone\n\t%s\n' $listed >plugins
        run 0 env -u LD_LIBRARY_PATH PATH="$scratch:$PATH" "$oshrun" --launcher srun --hosts a,b prog
        prints "--mpi=$listed --overcommit --kill-on-bad-exit=1 --cpu-bind=none --distribution=arbitrary --nodelist=a,b -n 2 $(shell SLURM_PROCID 2) prog "
    done
    printf 'none\ncray_shasta\n' >plugins
    run 126 env PATH="$scratch:$PATH" "$oshrun" --launcher srun --hosts a,b prog
    says 'names neither pmix nor pmi2, .* "none"'
    run 127 env PATH="$scratch/bin" "$oshrun" --launcher srun --hosts a,b prog
    says 'cannot run srun'
    rm srun
    run 127 env PATH="$scratch:$scratch/bin" "$oshrun" --hosts a prog
    says 'mpirun here is another MPI'
    run 127 env PATH="$scratch/bin" "$oshrun" --hosts a prog
    says 'install openmpi-bin'
    # What is wrong is named.
    for words in a:0 a:x ,a a/b -- '' a:70000; do
        run 2 "$oshrun" "--hosts=$words" prog
    done
    run 2 "$oshrun" --hosts a:2 -n 3 prog
    says '-n 3: the hosts are for 2 PEs'
    run 2 "$oshrun" --hosts a:2 --launcher oshrun prog
    run 2 "$oshrun" --hosts a:2 --pmix=off prog
    says PMIx
    run 2 "$oshrun" --hosts a:2 --launcher other prog
    says 'other is not known'
    run 2 "$oshrun" --hostfile none prog
    says 'cannot read none'
    printf 'a slots=2\nb slots=x\n' >file
    run 2 "$oshrun" --hostfile file prog
    says 'file:2: "slots=x" is not slots=PES'
    for line in '::1 slots=2' 'fe80::1' '[::1]:4'; do
        echo "$line" >file
        run 2 "$oshrun" --hostfile file prog
        says 'file:1: .* takes no IPv6 address'
    done
    : >file
    run 2 "$oshrun" --hostfile file prog
    says 'file names no host'
    # Names that a launcher or a shell would take for something else, in either form.
    for word in -oProxyCommand=x 'a;touch${IFS}x' '$(x)' 'a`x`' 'a|b' '~root' 'a*' 'a b' '\a' 'a[1-2]' \
        @a a@ a@b@c a@-b @; do
        printf '%s slots=1\n' "$word" >file
        run 2 "$oshrun" --hostfile file prog
        run 2 "$oshrun" --hosts "$word" prog
        says 'is no name of a host'
    done
    # Files without an end, of a long line or of many.
    run 2 "$oshrun" --hostfile /dev/zero prog
    says 'too long'
    mkfifo endless
    yes '#' >endless &
    run 2 "$oshrun" --hostfile endless prog
    says 'too many lines'
    # Time is linear: comparing each host with each takes a minute.
    seq -f 'host%g slots=1' 65536 >file
    run 2 timeout 5 "$oshrun" --launcher=true --hostfile file -n 1 prog
    says 'true is not known'
    ;;
hosts_timeout)
    printf '#!/bin/sh\ntrap "echo ended; exit 3" TERM\nwhile :; do sleep 0.1; done\n' >mpirun
    chmod +x mpirun
    run 124 env PATH="$scratch:$PATH" "$oshrun" --launcher=mpirun --hosts a --timeout 0.3 prog
    says 'time limit of 0.3 s reached'
    prints ended
    printf '#!/bin/sh\nexit 5\n' >mpirun
    run 5 env PATH="$scratch:$PATH" "$oshrun" --launcher=mpirun --hosts a --timeout 20 prog
    # Its signals are the launcher's.
    printf '#!/bin/sh\ntrap "exit 7" TERM\ntouch ready; while :; do sleep 0.1; done\n' >mpirun
    env PATH="$scratch:$PATH" "$oshrun" --launcher=mpirun --hosts a --timeout 20 prog &
    while [ ! -e ready ]; do sleep 0.05; done
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ $status -eq 7 ] || fail "status $status, not 7, after SIGTERM"
    ;;
closed_descriptors)
    status=0
    "$oshrun" --pmix=off -n 2 "$pe" <&- >&- 2>&- || status=$?
    [ $status -eq 0 ] || fail "status $status"
    ;;
*)
    echo "no case $case_name"
    exit 2
    ;;
esac

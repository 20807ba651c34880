#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh [BACKEND [RESULTS [STEP...]]]: what is worth knowing of a machine with a GPU, in ten minutes,
# in a folder that pack.sh made: nothing is needed there but a driver. RESULTS (a folder; "results"
# beside this script) gets results.tar.gz, whole after each step, and summary.txt, a line for each
# step. Every step has a time limit, and none stops the others. Exit code: 0 no step has failed, and
# none but those that have nothing to do on this machine (skipped) was left out; 1 otherwise; 2 there
# is no such step; 77 there is no such device.
#
# STEP: facts query share suite program queues frameworks regions shmem kernels race soak measure calls
# daxpy blocks sanitizer; none: all, in this order, as long as HARDWARE_SECONDS (570) allow. DAXPY_N and
# DAXPY_N_LARGE are the sizes that daxpy runs with, SOAK_SECONDS (60) the time of the soak, MODEL_SECONDS (15)
# that of the model of queues, MEASURE the words of --measure (quick).
# HARDWARE_SCALE (1) multiplies the time limits.
# shellcheck disable=SC2317 # steps are called by their names
set -u
here=$(cd "$(dirname "$0")" && pwd)
backend=${1:-cuda}
results=${2:-$here/results}
all='facts query share suite program queues frameworks regions shmem kernels race soak measure calls daxpy blocks sanitizer'
steps=$all
if [ $# -gt 2 ]; then
    shift 2
    steps=$*
fi
for step in $steps; do
    case " $all " in
    *" $step "*) ;;
    *)
        echo "no step \"$step\"; there are: $all" >&2
        exit 2
        ;;
    esac
done
seconds=${HARDWARE_SECONDS:-570}
scale=${HARDWARE_SCALE:-1}
start=$(date +%s)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$results" "$work/results" || exit 1
out=$work/results
bad=0

end=$((start + seconds)) # of all steps, later of the step

left() {
    echo $((start + seconds - $(date +%s)))
}

# LIMIT, or what is left of the step's time, and at least a second.
limit() {
    most=$((end - $(date +%s)))
    set -- $(($1 * scale))
    [ "$most" -ge "$1" ] || set -- "$most"
    [ "$1" -ge 1 ] || set -- 1
    echo "$1"
}

# within SECONDS COMMAND...: a program of the machine's own, with its own libraries.
within() {
    within_seconds=$(limit "$1")
    shift
    timeout -k 5 "$within_seconds" "$@"
}

# own SECONDS [NAME=VALUE...] PROGRAM ARGUMENT...: a program of ours, with our libraries for it alone:
# they could break the machine's.
own() {
    own_seconds=$(limit "$1")
    shift
    timeout -k 5 "$own_seconds" env LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        PATH="$here/bin:$PATH" HOME="$work" "$@"
}

# keep FILE COMMAND...: its output goes to FILE, and the step has failed where it does; 77 is a skip.
keep() {
    keep_file=$out/$1
    shift
    if [ "$(date +%s)" -ge "$end" ]; then
        step_bad=1
        echo "   $*: left out: no time" | tee -a "$keep_file"
        return
    fi
    echo "\$ $*" >>"$keep_file"
    code=0
    "$@" >>"$keep_file" 2>&1 </dev/null || code=$?
    [ "$code" -eq 0 ] || echo "exit code $code" >>"$keep_file"
    case $code in
    0) step_done=$((step_done + 1)) ;;
    77) step_skipped=$((step_skipped + 1)) ;;
    *)
        step_bad=1
        echo "   $*: exit code $code"
        ;;
    esac
}

# The same for what tells a fact, and need not be there.
tell() {
    tell_file=$out/$1
    shift
    echo "\$ $*" >>"$tell_file"
    "$@" >>"$tell_file" 2>&1 </dev/null || true
}

step_facts() {
    {
        echo "date      $(date -u '+%Y-%m-%d %H:%M UTC')"
        echo "commit    $(cat "$here/commit")"
        echo "system    $(uname -srm), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null)"
        echo "processor $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads"
        echo "memory    $(sed -n 's/^MemTotal: *//p' /proc/meminfo)"
        echo "locked    $(sed -n 's/^Max locked memory *\([^ ]*\) .*/\1/p' /proc/self/limits) bytes"
        echo "yama      $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo none)"
        echo "seccomp   $(sed -n 's/^Seccomp:[[:space:]]*//p' /proc/self/status)"
        own 10 no-descriptors
        echo "user      $(id -u)"
        head -n 1 /proc/driver/nvidia/version 2>/dev/null || true
        sed 's/^/amdgpu    /' /sys/module/amdgpu/version 2>/dev/null || true
    } >"$out/facts.txt"
    for tool in 'nvidia-smi -q' 'nvidia-smi topo -m' 'rocm-smi --showproductname --showdriverversion' 'lspci -nn'; do
        # shellcheck disable=SC2086 # words
        command -v ${tool%% *} >/dev/null 2>&1 && tell facts.txt within 20 $tool
    done
    head -n 13 "$out/facts.txt"
    step_done=1
}

step_query() {
    keep memquery.txt own 60 memquery --timeout 60
    keep memquery.txt own 60 memquery --timeout 60 --why "$backend"
    code=0
    own 60 memquery --timeout 60 -o json >"$out/memquery.json" 2>>"$out/memquery.txt" || step_bad=1
    for kind in $kinds; do
        tell memquery.txt own 30 SHMEM_SYMMETRIC_PARTITION5="16m:KIND=$kind" memquery --shmem
    done
}

# Memory of each device for another process, by moving data.
step_share() {
    keep share.txt own 60 memquery --timeout 60 --probe=full
    keep share.json own 60 memquery --timeout 60 --probe=full -o json
}

step_suite() {
    device=0
    while [ "$device" -lt "$count" ] && [ "$device" -lt 4 ]; do
        keep "conform-$device.txt" own 120 MEMSPAN_DEVICES="$backend:$device" CONFORM_BACKEND="$backend" conform -j1
        tail -n 1 "$out/conform-$device.txt"
        device=$((device + 1))
    done
}

# A program that captures, resets and ends beside the library. Others than CUDA's are not written.
step_program() {
    [ "$backend" != cuda ] || keep program.txt own 30 MEMSPAN_DEVICES=cuda:0 cuda-program
}

# Memory in the order of streams: threads held to the bytes, then each kind of stream and its costs.
step_queues() {
    keep queues.txt own 60 MEMSPAN_DEVICES="$backend:0" queue-model --seconds "${MODEL_SECONDS:-15}" --threads 16
    [ "$backend" != cuda ] || keep queues.txt own 30 MEMSPAN_DEVICES=cuda:0 cuda-queue
    grep -E ' ns' "$out/queues.txt" || true
}

# PyTorch and CuPy by the machine's own Python, and CCCL; their libraries are the machine's. PyTorch's
# own allocator is first.
step_frameworks() {
    [ "$backend" = cuda ] || return 0
    for _ in torch memspan; do
        keep frameworks.txt within 60 env MEMSPAN_DEVICES=cuda:0 PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}" \
            MEMSPAN_LIBRARY="$here/lib/libmemspan.so.0" sh -c 'command -v python3 >/dev/null ||
                { echo "skipped: no Python 3"; exit 77; }; exec python3 "$@"' python "$here/frameworks.py" "$work/losses"
    done
    keep frameworks.txt own 30 MEMSPAN_DEVICES=cuda:0 sh -c '[ -x "$0" ] ||
        { echo "skipped: there was no nvcc where this was packed"; exit 77; }; exec "$0"' "$here/bin/cuda-mr"
    grep -E '^(right|WRONG|skipped|.*:.* us)' "$out/frameworks.txt" || true
}

# Target regions of OpenMP, on memory of the device that OpenMP numbers. 77: for more devices.
step_regions() {
    if [ "$backend" != cuda ] || [ ! -x "$here/regions/kinds" ]; then
        return 0
    fi
    for name in kinds managed bad_lists mapped_named device_only device_lists; do
        keep regions.txt own 30 OMP_TARGET_OFFLOAD=MANDATORY "$here/regions/$name"
    done
    keep daxpy-regions.txt own 60 OMP_TARGET_OFFLOAD=MANDATORY "$here/regions/memspan-bench-offload" daxpy \
        --n "${DAXPY_N:-1m,16m}" --reps 1,10,100 --rounds 1 --csv "$out/daxpy-regions.csv"
}

# Every kind with 2, 4 and 8 PEs on the first device. Memory of a device is shared by a descriptor;
# then by the driver's handle, as where no descriptor may be fetched.
step_shmem() {
    for kind in $kinds; do
        for pes in ${PES:-2 4 8}; do
            keep shmem.txt own 40 MEMSPAN_DEVICES="$backend:0" SHMEM_SYMMETRIC_SIZE=16m \
                SHMEM_SYMMETRIC_PARTITION5="16m:KIND=$kind" oshrun -n "$pes" "$here/bin/shmem-kinds" "$kind" 0 "$backend"
        done
    done
    for pes in ${PES:-2 4 8}; do
        keep shmem.txt own 40 MEMSPAN_DEVICES="$backend:0" SHMEM_SYMMETRIC_SIZE=16m \
            SHMEM_SYMMETRIC_PARTITION5=16m:KIND=DEVICE oshrun -n "$pes" "$here/bin/shmem-ends" "$backend"
        keep shmem.txt own 40 MEMSPAN_DEVICES="$backend:0" SHMEM_SYMMETRIC_PARTITION5=8m:KIND=DEVICE \
            oshrun -n "$pes" "$here/bin/shmem-device-reduce"
        keep handles.txt own 40 MEMSPAN_DEVICES="$backend:0" SHMEM_SYMMETRIC_SIZE=16m \
            SHMEM_SYMMETRIC_PARTITION5=16m:KIND=DEVICE no-descriptors \
            oshrun -n "$pes" "$here/bin/shmem-kinds" DEVICE 0 "$backend"
    done
    tell handles.txt own 30 MEMSPAN_DEVICES="$backend:0" no-descriptors memquery --probe=full -o json
}

# Kernels that call OpenSHMEM, by each compiler that there was; on one host, and each PE on a host of its own.
step_kernels() {
    [ "$backend" = cuda ] || return 0
    for image in "$here"/kernels-*; do
        for pes in ${PES:-1 2 4}; do
            for transport in smp tcp:1; do
                [ "$pes$transport" != 1tcp:1 ] || continue
                keep kernels.txt own 60 MEMSPAN_DEVICES=cuda:0 SHMEMX_TRANSPORT=$transport SHMEM_SYMMETRIC_SIZE=160m \
                    SHMEM_SYMMETRIC_PARTITION5=160m:KIND=DEVICE SHMEM_SYMMETRIC_PARTITION6=160m:KIND=PINNED \
                    SHMEM_INFO=1 oshrun -n "$pes" "$here/bin/cuda-shmem" "$image"
            done
        done
    done
    grep -E '^(\$|partition .*(:|,) (kernels|a (thread|put)|random))' "$out/kernels.txt" | sed 's/.*KIND=PINNED//' || true
}

# The program's own copy, and at once a put and a peer's read.
step_race() {
    [ "$backend" = cuda ] || return 0
    for pes in ${PES:-2 4 8}; do
        keep race.txt own 60 MEMSPAN_DEVICES=cuda:0 SHMEM_SYMMETRIC_SIZE=16m \
            SHMEM_SYMMETRIC_PARTITION5=160m:KIND=DEVICE oshrun -n "$pes" "$here/bin/cuda-race" "${RACE_ROUNDS:-40}" "${RACE_KIB:-65536}"
    done
    [ ! -e "$out/race.txt" ] || tail -n 1 "$out/race.txt"
}

# Managed memory stays within what is free: its limit is that of the soak.
step_soak() {
    keep soak.txt own $((${SOAK_SECONDS:-60} + 30)) MEMSPAN_DEVICES="$backend:0" memspan-soak \
        --seconds "${SOAK_SECONDS:-60}" --threads 4 --seed 1
    tail -n 2 "$out/soak.txt"
}

step_measure() {
    keep measure.txt own 120 memquery --timeout 100 --measure="${MEASURE:-quick}"
}

# The cost of our calls beside the driver's.
step_calls() {
    [ "$backend" != cuda ] || keep calls.txt own 60 MEMSPAN_DEVICES=cuda:0 cuda-calls "${CALLS_MIB:-1024}"
    [ ! -e "$out/calls.txt" ] || cat "$out/calls.txt"
}

step_daxpy() {
    keep daxpy.txt own 90 MEMSPAN_DEVICES="$backend:0" memspan-bench daxpy --n "${DAXPY_N:-1m,16m}" \
        --reps 1,10,100 --csv "$out/daxpy.csv" --svg "$out/daxpy.svg"
    keep daxpy-large.txt own 60 MEMSPAN_DEVICES="$backend:0" memspan-bench daxpy --n "${DAXPY_N_LARGE:-64m}" \
        --reps 1,10 --rounds 1 --csv "$out/daxpy-large.csv"
}

# The programs for other drivers' own calls are not written.
step_blocks() {
    [ "$backend" != cuda ] || keep blocks.txt own 60 MEMSPAN_DEVICES=cuda:0 memspan-bench-cuda-blocks
}

step_sanitizer() {
    tool=$(command -v compute-sanitizer 2>/dev/null || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null) || {
        echo 'no compute-sanitizer' >"$out/sanitizer.txt"
        return 0
    }
    keep sanitizer.txt within 120 "$tool" --target-processes all --error-exitcode 9 env \
        LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" MEMSPAN_DEVICES="$backend:0" \
        CONFORM_BACKEND="$backend" "$here/bin/conform" -j1
}

# What has been found so far, whole at any time.
save() {
    cp "$work/summary.txt" "$out/summary.txt"
    tar -czf "$work/results.tar.gz" -C "$work" results && mv "$work/results.tar.gz" "$results/results.tar.gz"
    cp "$work/summary.txt" "$results/summary.txt"
}

: >"$work/summary.txt"
# A driver's first start can be slow.
own 90 memquery --timeout "${DRIVER_SECONDS:-60}" >"$work/devices" 2>&1
count=$(grep -cE "^d[0-9]+ +[0-9][0-9,]* +$backend:" "$work/devices" || true)
if [ "$count" -eq 0 ]; then
    own 60 memquery --timeout "${DRIVER_SECONDS:-60}" --why "$backend"
    echo "no device of $backend"
    exit 77
fi
kinds='DEVICE PINNED MANAGED COHERENT'
[ "$backend" != cuda ] || kinds="CUDA $kinds"

# Seconds for a step: where all hangs, the next ones have their turn.
budget() {
    case $1 in
    shmem | kernels) echo 150 ;;
    regions) echo 90 ;;
    suite | frameworks | sanitizer | measure | daxpy) echo 120 ;;
    soak) echo $((${SOAK_SECONDS:-60} + 30)) ;;
    queues) echo $((${MODEL_SECONDS:-15} + 45)) ;;
    *) echo 60 ;;
    esac
}

green=
for step in $steps; do
    if [ "$(left)" -lt 5 ]; then
        bad=1 # nothing is known of it
        echo "$step: left out: no time" | tee -a "$work/summary.txt"
        save
        continue
    fi
    echo "== $step, $(left) s left"
    step_bad=0
    step_done=0
    step_skipped=0
    from=$(date +%s)
    end=$((start + seconds))
    end=$((from + $(limit "$(budget "$step")")))
    "step_$step"
    words=green
    if [ "$step_bad" -ne 0 ]; then
        words=RED
        bad=1
    elif [ "$step_done" -eq 0 ]; then
        words=skipped
    else
        green="$green $step"
    fi
    [ "$step_skipped" -eq 0 ] || words="$words ($step_skipped of $((step_done + step_skipped)) programs skipped)"
    echo "$step: $words, $(($(date +%s) - from)) s" | tee -a "$work/summary.txt"
    save
done
[ "$bad" -eq 0 ] && echo "green on $count device(s) of $backend:$green"
exit "$bad"

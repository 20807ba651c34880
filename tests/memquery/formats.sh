# SPDX-License-Identifier: BSD-3-Clause
# formats.sh CASE PROGRAM SCHEMA [FOLDER]: what other programs read of memquery: JSON and its schema,
# metrics, plug-in lines. The program describes the machine of stub.c, or
# is memquery itself with FOLDER, the recorded machines.
case=$1
memquery=$2
schema=$3
machines=${4-}
here=$(dirname "$0")
. "$here/expect.sh"

# is NAME: the output is that document of the schema
is() {
    python3 "$here/schema.py" "$schema" "$1" "$out" >"$err" || die "not a document of \"$1\""
}

case $case in
schema)
    need python3
    for words in '' --measure --probe=full --probe=none '--plan devices=0,host,memory_access=managed' \
        '--plan devices=2,memory_access=managed,guarantee=required' '--why hip' '--why device7' --config; do
        case $words in --plan* | --why*) name=${words%% *} ;; --config) name=$words ;; *) name=--machine ;; esac
        # shellcheck disable=SC2086 # words
        run --json $words
        is "${name#--}"
    done
    for fault in cuda:crash host:none both:crash; do
        run_with MEMQUERY_STUB=$fault --json
        is machine
    done
    run_with MEMSPAN_BACKENDS=cuda --json
    is machine
    # The checker finds what is wrong.
    for filter in 'del(.devices[0].uid)' '.devices[0].x = 1' '.devices[0].ordinal = "0"' \
        '.nodes[1].latency_ns_reason = ""' 'del(.nodes[1].latency_ns_reason)' '.peers[0].access = "far"' \
        '.devices[0].free_bytes = -1' '.devices[0].name_reason = "it has one"' '.schema = 2'; do
        run --json
        jq "$filter" "$out" >"$scratch/bad"
        ! python3 "$here/schema.py" "$schema" machine "$scratch/bad" >"$err" || die "$filter is in the schema"
    done
    ;;
machines)
    # The machine of each recording, emulated devices, and the answers about OpenSHMEM and variables.
    need python3 jq
    for machine in "$machines"/*.xml; do
        run_with HWLOC_XMLFILE="$machine" --timeout 60 --json
        is machine
        expect_jq '.variables[] | select(.name == "HWLOC_XMLFILE") | .source == "environment"'
    done
    run_with MEMSPAN_DEVICES=emu:2 --timeout 60 --json --probe=full
    is machine
    run --json --config
    is config
    run --timeout 60 --json --why high_bw
    is why
    run --timeout 60 --json --plan devices=host,pinned=true
    is plan
    run --json --shmem
    if [ -s "$out" ]; then is shmem; fi
    # Fast memory that is a cache is noted.
    run_with HWLOC_XMLFILE="$machines/ddr-cache.xml" --timeout 60 --json
    expect_jq '[.nodes[] | .side_cache_bytes] == [68719476736, 0]'
    run_with HWLOC_XMLFILE="$machines/ddr-cache.xml" --timeout 60
    expect_out '^node0 has a memory-side cache of 64 GiB: '
    expect_no_out '^node1 has a memory-side cache'
    run_with HWLOC_XMLFILE="$machines/ddr-cache.xml" --timeout 60 -o svg
    expect_out 'node0  dram  [0-9.]+ GiB behind a cache of 64 GiB<'
    ;;
metrics)
    need python3
    for words in '' --measure --probe=none; do
        # shellcheck disable=SC2086 # words
        run --format prometheus $words
        expect_code 0
        python3 "$here/metrics.py" "$out" >"$err" || die "not in the exposition format"
    done
    run --format=prometheus --measure
    expect_out '^memspan_device_memory_bytes\{device="cuda:0"\} 150323855360$'
    expect_no_out '^memspan_device_memory_bytes\{device="opencl:0"'
    expect_out '^memspan_numa_node_latency_seconds\{node="0",kind="dram"\} 9e-08$'
    expect_out '^memspan_numa_node_side_cache_bytes\{node="1",kind="dram"\} 68719476736$'
    expect_out '^memspan_memory_access\{memory="cuda0.device",kind="device",device="cuda:1",access="copy",coherence="none"\} 1$'
    expect_out '^memspan_memory_bandwidth_bytes_per_second\{memory="node0",kind="host",device="host:0",method="loads"\} [0-9]'
    expect_out '^memspan_probe_success 1$'
    run_with MEMQUERY_STUB=cuda:crash --format=prometheus
    expect_code 3
    expect_out '^memspan_backend_failed\{backend="cuda"\} 1$'
    expect_out '^memspan_probe_success 0$'
    # Labels are escaped.
    run_with 'MEMQUERY_STUB_CPU=a"b\c' --format=prometheus
    python3 "$here/metrics.py" "$out" >"$err" || die "names break the exposition format"
    expect_out 'name="a\\"b\\\\c"'
    run --format prometheus --why cuda && expect_code 2 && expect_err 'cannot be combined with a question'
    ;;
nagios)
    # plugin CODE LINE EXPR
    plugin() {
        run --format=nagios --check "$3"
        expect_code "$1"
        [ "$(wc -l <"$out")" -eq 1 ] || die "not one line"
        [ "$(cat "$out")" = "$2" ] || die "not the line \"$2\""
    }
    plugin 0 "MEMSPAN OK - backend=cuda" backend=cuda
    plugin 0 "MEMSPAN OK - device=0,size>=100g,free<200g | 'device 0 size'=150323855360B;;107374182400:;0 'device 0 free'=149250113536B;;~:214748364799;0" \
        'device=0,size>=100g,free<200g'
    plugin 1 "MEMSPAN WARNING - space=low_lat conditional: node0: alias of default: one tier" space=low_lat
    plugin 2 "MEMSPAN CRITICAL - devices>2 absent: it is 2 | 'backend cuda devices'=2;;3:;0" 'backend=cuda,devices>2'
    plugin 2 "MEMSPAN CRITICAL - rdma absent: the device cannot" device=0,managed,rdma
    plugin 3 "MEMSPAN UNKNOWN - size>=1 not known: it is not known | 'device 2 size'=U;;1:;0" 'device=2,size>=1'
    plugin 3 "MEMSPAN UNKNOWN - nonsense malformed" nonsense
    plugin 3 "MEMSPAN UNKNOWN - malformed command line; standard error has the reason" ''
    plugin 3 "MEMSPAN UNKNOWN - backend=a/b'c malformed" "backend=a|b'c"
    MEMQUERY_STUB=cuda:crash
    export MEMQUERY_STUB
    run --format=nagios --check backend=cuda
    expect_code 2
    expect_out '^MEMSPAN CRITICAL - backend=cuda a driver failed: crashed '
    MEMQUERY_STUB=host:exit
    run --format=nagios --check backend=cuda
    expect_code 3
    expect_out '^MEMSPAN UNKNOWN - the probe of this machine failed'
    unset MEMQUERY_STUB
    run --chekc backend=cuda --format nagios
    expect_code 3
    expect_out '^MEMSPAN UNKNOWN - malformed command line'
    run --format nagios && expect_code 3 && expect_err 'nagios needs --check'
    run --format nagios -v --check backend=cuda && expect_code 3
    ;;
*)
    die "no such case: $case"
    ;;
esac
exit 0

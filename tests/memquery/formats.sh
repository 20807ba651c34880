# SPDX-License-Identifier: BSD-3-Clause
# formats.sh CASE PROGRAM SCHEMA [FOLDER]: what other programs read of memquery: JSON and its schema,
# metrics, plug-in lines, and --diff of two documents. The program describes the machine of stub.c, or
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

# change FILTER: the other side of a comparison, from $scratch/a
change() {
    jq "$1" "$scratch/a" >"$scratch/b" || die "jq failed"
}

# differs CODE [PATTERN...]: --diff of both, whose rows have these patterns and no more
differs() {
    run --diff "$scratch/a" "$scratch/b"
    expect_code "$1"
    expect_quiet
    shift
    for row; do
        expect_out "$row"
    done
    rows=$(sed -n '/^WHAT/,$p' "$out" | sed 1d | wc -l)
    [ "$rows" -eq $# ] || die "$rows differences, not $#"
}

# refused PATTERN: neither side can be that file
refused() {
    for files in "$scratch/bad $scratch/a" "$scratch/a $scratch/bad"; do
        # shellcheck disable=SC2086 # two files
        run --diff $files
        expect_code 2
        expect_silent
        expect_err "$1"
    done
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
        ! grep -q 'taken for one node of DRAM' "$out" || skip "hwloc is not here"
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
    if [ -s "$out" ]; then
        is shmem
        jq '.partitions[0].peers = "service"' "$out" >"$scratch/shmem"
        cp "$out" "$scratch/again"
        run --diff "$scratch/again" "$scratch/shmem" && expect_code 1
        expect_out '^partition 1 peers +load/store +service$'
        # The nodes of a kind's tier, and ordinary memory where there is none.
        for row in 'ddr-hbm FASTMEM FASTMEM node2,node3' 'tiers FASTMEM FASTMEM node1' \
            'tiers LARGEMEM LARGEMEM node2' 'ddr-cxl LARGEMEM LARGEMEM node2' \
            'ddr-pmem LARGEMEM LARGEMEM node1' 'ddr-pmem FASTMEM SYSDEFAULT host' \
            'ddr-hbm LARGEMEM SYSDEFAULT host'; do
            # shellcheck disable=SC2086 # words
            set -- $row
            SHMEM_SYMMETRIC_PARTITION2=1m:kind=$2 \
                run_with HWLOC_XMLFILE="$machines/$1.xml" --timeout 60 --json --shmem
            expect_jq "(.partitions[1] | [.kind_given, .resource]) == [\"$3\", \"$4\"]"
        done
        # A huge page would undo the placement page by page.
        SHMEM_SYMMETRIC_PARTITION2=1m:policy=INTERLEAVED \
            run_with HWLOC_XMLFILE="$machines/tiers.xml" --timeout 60 --json --shmem
        expect_jq '[.partitions[].huge_pages[0:3]] == ["blo", "no:"]'
    fi
    # Fast memory that is a cache is noted.
    run_with HWLOC_XMLFILE="$machines/ddr-cache.xml" --timeout 60 --json
    expect_jq '[.nodes[] | .side_cache_bytes] == [68719476736, 0]'
    run_with HWLOC_XMLFILE="$machines/ddr-cache.xml" --timeout 60
    expect_out '^node0 has a memory-side cache of 64 GiB: '
    expect_no_out '^node1 has a memory-side cache'
    run_with HWLOC_XMLFILE="$machines/ddr-cache.xml" --timeout 60 -o svg
    expect_out 'node0  dram  [0-9.]+ GiB behind a cache of 64 GiB<'
    # Large memory that is no node is told, and why no space has it.
    run_with HWLOC_XMLFILE="$machines/ddr-nvdimm.xml" --timeout 60 --json
    expect_jq '[.memory_devices[] | .name, .kind, .capacity_bytes, .numa_node, .usable] ==
        ["pmem0", "block", 1610612736000, 0, false]'
    expect_jq '.spaces[] | select(.name == "large_cap") | .note | test("; pmem0 is no NUMA node: memquery")'
    run_with HWLOC_XMLFILE="$machines/ddr-nvdimm.xml" --timeout 60
    expect_out '^pmem0 +block +- +1500.0 .* mounted with -o dax, '
    run_with HWLOC_XMLFILE="$machines/ddr-pmem.xml" --timeout 60
    expect_no_out '^MEMORY'
    # The same machine twice, and another one.
    for name in ddr-hbm ddr-cxl; do
        run_with HWLOC_XMLFILE="$machines/$name.xml" --timeout 60 --json
        jq '.variables = []' "$out" >"$scratch/$name"
    done
    run_with HWLOC_XMLFILE="$machines/ddr-hbm.xml" --timeout 60 --json
    jq '.variables = []' "$out" >"$scratch/again"
    expect_jq '[.nodes[].free_bytes] == [null, null, null, null]' # that of this machine is not its
    run --diff "$scratch/ddr-hbm" "$scratch/again" && expect_code 0
    run --diff "$scratch/ddr-hbm" "$scratch/ddr-cxl" && expect_code 1
    expect_out '^NUMA node2 kind +hbm +cxl$'
    expect_out '^NUMA node3 +present +absent$'
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
diff)
    need jq
    run --json
    cp "$out" "$scratch/a"
    change .
    differs 0
    expect_out '^no difference$'
    # What changes by itself, and what firmware reserves, is no difference.
    change '.devices[1].free_bytes = 5 | .nodes[0].free_bytes = 6 | .nodes[0].capacity_bytes += 4194304'
    differs 0
    change '.devices[1].driver = "580.1" | .devices[1].capacity_bytes = 153545080832'
    differs 1 '^device cuda:0 driver +unknown: the driver does not tell +580\.1$' \
        '^device cuda:0 capacity_bytes +140 GiB +143 GiB$'
    change '(.spaces[] | select(.name == "default") | .resources[0].reach[1].access) = "remote" |
        (.peers[] | select(.home == 0 and .device == 1) | .access) = "remote" |
        .backends[3].reason = "a reason" | .nodes[1].latency_ns = 300 | del(.nodes[1].latency_ns_reason) |
        .memory_devices[0].mode = "system-ram" | .devices[1].kinds.coherent.offered = true | .devices[1].modes[0].on = true'
    differs 1 '^space default resource host node0 of host from cuda:0 access +copy +remote$' \
        '^memory of cuda:0 from cuda:1 access +copy +remote$' '^backend hip reason .* a reason$' \
        '^NUMA node1 latency_ns +unknown: .* +300.0 ns$' '^memory dax dax0.0 mode +devdax +system-ram$' \
        '^device cuda:0 kinds coherent offered +no +yes$' \
        '^device cuda:0 mode pageable memory access on +no +yes$'
    change '.warnings += ["a warning"] | .variables += [{name: "MEMSPAN_LOG", value: "debug"}] |
        .nodes[0].latency_ns_reason = "x"'
    differs 1 '^warning +absent +a warning$' '^variable MEMSPAN_LOG +absent +debug$'
    # A key that only one file has is of another version, and not compared.
    change 'del(.nodes[].side_cache_bytes) | .devices[0].new_key = 1'
    differs 0
    # Devices are known by their identity, in any order and under any number.
    swap='def swap: if . == 0 then 1 elif . == 1 then 0 else . end;
        (.devices[].number, .peers[].home, .peers[].device, .spaces[].devices[], .spaces[].resources[].home,
        .spaces[].resources[].reach[].device) |= swap | .devices |= [.[0], .[2], .[1], .[3]]'
    change "$swap"
    differs 1 '^device cuda:0 number +0 +1$' '^device cuda:1 number +1 +0$'
    # Cards changed their slots: they are the same by their identity.
    change '.devices[1].pci_address = "0000:c1:00.0" | .devices[2].pci_address = "0000:41:00.0"'
    differs 1 '^device cuda:0 pci_address +0000:41:00.0 +0000:c1:00.0$' \
        '^device cuda:1 pci_address +0000:c1:00.0 +0000:41:00.0$'
    # The card was replaced: on one host its identity differs, on another host that is no difference.
    change '.devices[2].uid = "GPU-cccc"'
    differs 1 '^device cuda:1 uid +GPU-bbbb +GPU-cccc$'
    change '.devices[2].uid = "GPU-cccc" | .host_name = "another"'
    differs 0
    # Of two hosts, cards of the same slots are pairs, whatever their identities are.
    change '.devices[1].uid = "GPU-bbbb" | .devices[2].uid = "GPU-aaaa" | .host_name = "another"'
    differs 0
    # Where nothing else is known, by name.
    change "$swap"' | .devices[1:3][] |= (.uid = "" | .pci_address = "")'
    differs 1 '^device cuda:0 number +0 +1$' '^device cuda:1 number +1 +0$' '^device cuda:0 uid ' \
        '^device cuda:1 uid ' '^device cuda:0 pci_address ' '^device cuda:1 pci_address '
    # A device that is gone takes its memory and its links with it.
    change 'def gone: . == 1;
        del(.devices[2]) | del(.peers[] | select((.home | gone) or (.device | gone))) |
        del(.spaces[] | select(.devices | index(1))) | del(.spaces[].resources[].reach[] | select(.device | gone))'
    differs 1 '^device cuda:1 +H200 +absent$'
    run --diff "$scratch/b" "$scratch/a" --format=json
    expect_code 1
    expect_jq '.same == false and (.differences | length) == 1 and .differences[0].a == null'
    if command -v python3 >/dev/null; then is diff; fi
    # Measured figures differ where they are further apart than both spreads.
    # The same memory of several spaces is one row.
    reach='(.spaces[] | select(.devices == [-1]) | .resources[] | select(.name == "node0") | .reach[0])'
    jq "$reach |= (.bandwidth_bytes_per_s = 100e9 | .latency_ns = 90 | .method = \"loads\" | .measured_at = \"x\" |
        .spread_percent = 4 | .busy = false)" "$scratch/a" >"$scratch/measured"
    mv "$scratch/measured" "$scratch/a"
    change "$reach.bandwidth_bytes_per_s = 93e9"
    differs 0
    change "$reach.bandwidth_bytes_per_s = 91e9 | $reach.latency_ns = 100"
    differs 1 '^space default resource host node0 of host from host bandwidth_bytes_per_s +100.0 GB/s ~4% +91.0 GB/s ~4%$' \
        '^space default .* latency_ns +90.0 ns ~4% +100.0 ns ~4%$'
    change "$reach.bandwidth_bytes_per_s = 91e9 | $reach.busy = true"
    differs 0
    change ".spaces[0].resources[0].reach[0] |= (.bandwidth_bytes_per_s = null |
        .bandwidth_bytes_per_s_reason = \"wrong result\")"
    differs 1 '^space default .* bandwidth_bytes_per_s +100.0 GB/s +unknown: wrong result$'
    # Other questions.
    run --config --json
    cp "$out" "$scratch/a"
    change '.variables[0].value = "cuda"'
    differs 1 '^variable MEMSPAN_BACKENDS value .* cuda$'
    run --json
    cp "$out" "$scratch/bad"
    refused 'memquery --config, .* they cannot be compared|memquery, .* they cannot be compared'
    run --diff "$scratch/a" && expect_code 2 && expect_err '^memquery: --diff needs 2 values'
    run --diff "$scratch/a" "$scratch/b" -o svg && expect_code 2 && expect_err 'cannot be combined'
    "$memquery" --diff "$scratch/a" "$scratch/b" >/dev/full 2>"$err"
    code=$?
    expect_code 3
    ;;
diff_bad)
    # Files that are no answers, or broken ones: the message has the file, and the line or the key.
    need jq
    run --json
    cp "$out" "$scratch/a"
    refused 'cannot read ".*/bad": No such file'
    mkdir "$scratch/bad" && refused 'cannot read ".*/bad": Is a directory' && rmdir "$scratch/bad"
    truncate -s 17M "$scratch/bad" && refused 'bad: larger than 16 MiB'
    : >"$scratch/bad" && refused 'bad:1:'
    head -n 40 "$scratch/a" >"$scratch/bad" && refused 'bad:4[01]:[0-9]+: '
    printf '{"schema": 1, "schema": 1}' >"$scratch/bad" && refused 'bad:1:[0-9]+: duplicate'
    printf '{"schema": 1, "a": "\377\033"}' >"$scratch/bad" && refused 'bad:1:[0-9]+: '
    printf '[1]' >"$scratch/bad" && refused 'bad: the document is no JSON object'
    printf '{"schema": 1}' >"$scratch/bad" && refused 'bad: the document is no answer of memquery'
    printf '{"schema": 2, "spaces": []}' >"$scratch/bad" && refused 'bad: schema is not 1'
    printf '{"schema": 1, "spaces": %s1%s}' "$(printf '[%.0s' $(seq 1500))" "$(printf ']%.0s' $(seq 1500))" \
        >"$scratch/bad" && refused 'bad: spaces\[0\] is no object'
    while read -r filter message; do
        jq "$filter" "$scratch/a" >"$scratch/bad"
        refused "bad: $message"
    done <<'CASES'
.devices=5 devices is not a list
.devices[2].backend=7 devices\[2\]\.backend is not a text
.devices[1].number="x" devices\[1\]\.number is not a number
.devices[1].number=1e99 devices\[1\]\.number is not a number
.devices[3]=null devices\[3\]\.number is missing
del(.devices[1].uid) devices\[1\]\.uid is missing
.devices[2].number=0 devices\[2\] is there twice
.host_name=[] host_name is not a text
.backends[1]="x" backends\[1\] is no object
.spaces[0].resources[0].kind=1 spaces\[0\]\.resources\[0\]\.kind is not a text
.spaces[0].resources[0].reach=1 spaces\[0\]\.resources\[0\]\.reach is not a list
.spaces[7].devices=1 spaces\[7\]\.devices is not a list
.nodes[1].os_index=0 nodes\[1\] is there twice
.warnings=[1] warnings\[0\] is not a text
.x={a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:1}}}}}}}}}}}}}} x\.a\.a.* is nested deeper
CASES
    # Values that nothing depends on may be anything.
    for filter in '.devices[1].capacity_bytes = "much"' '.nodes[0].pus = []' 'del(.devices[1].kinds)' \
        '.devices[1].sharing = 3' '.memspan_version = 7' '.spaces[0].resources[0].reach[0].spread_percent = []'; do
        change "$filter"
        run --diff "$scratch/a" "$scratch/b"
        [ "$code" -le 1 ] || die "refused: $filter"
    done
    ;;
*)
    die "no such case: $case"
    ;;
esac
exit 0

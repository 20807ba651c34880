# SPDX-License-Identifier: BSD-3-Clause
# real.sh CASE PROGRAM BROKEN MANUAL OLD: memquery on this machine, over the library itself.
# BROKEN is a folder with a libOpenCL.so.1 that fails; MANUAL is the manual page; OLD is a folder
# with a libhwloc.so.15 that is too old.
case=$1
memquery=$2
broken=$3
manual=$4
old_hwloc=$5
. "$(dirname "$0")/expect.sh"

# Drivers may be slow under a sanitizer; no case but "hang" is about time.
limit="--timeout 60"

# Leaves the table's JSON in $out.
run_json() {
    run $limit --json
    expect_code 0
    expect_schema
}

need_opencl() {
    need jq
    run_json
    jq -e '.devices[] | select(.backend == "opencl")' "$out" >/dev/null || skip "no OpenCL device"
}

case $case in
table)
    run $limit
    expect_code 0
    expect_plain 60
    expect_out '^DEV +omp +backend'
    expect_out '^h +-1,[0-9]+ +host:0'
    expect_out '^NODE +kind'
    expect_out '^default +node[0-9].* (ok|COND)'
    # At least one line for each backend that is off.
    need jq
    run_json
    off=$(jq -r '.backends[] | select(.state == "off") | .name' "$out")
    run $limit
    for name in $off; do
        expect_out "^$name off: .+"
    done
    ;;
json)
    run_json
    expect_jq '.devices[0].number == -1 and .host_number >= 0'
    expect_jq '[.spaces[].name] | index("default") == 0'
    expect_jq '[.spaces[] | .resources[] | .reach | length] | all(. > 0)'
    # The same keys on every machine: objects here have the keys of the machine in stub.c.
    keys='[.devices[0], .nodes[0], .backends[0], .spaces[0], .spaces[0].resources[0]]
          | map(keys | map(select(endswith("_reason") | not)))'
    jq "$keys" "$out" >"$scratch/keys"
    [ "$(jq 'flatten | length' "$scratch/keys")" -gt 60 ] || die "keys are missing"
    jq -e '[.devices[] | keys | map(select(endswith("_reason") | not))] | unique | length == 1' \
        "$out" >/dev/null || die "devices differ in their keys"
    ;;
share)
    # A device that every machine has, and a real second process.
    need jq
    export MEMSPAN_DEVICES=emu:2
    run $limit --json --probe=full
    jq -e '.backends[] | select(.name == "emu" and .state == "on")' "$out" >/dev/null ||
        skip "no emulated devices"
    expect_code 0
    expect_schema
    expect_jq '[.devices[] | select(.backend == "emu") | .sharing.ipc.state]
               == ["proved", "proved"]'
    expect_jq '[.devices[] | select(.backend == "emu") | .sharing.dmabuf.state] | unique == ["no"]'
    expect_jq '[.devices[] | .capability_sources[]] | all(. != null)'
    run $limit --json
    expect_jq '[.devices[] | select(.backend == "emu") | .sharing.ipc.state] | unique
               == ["claimed"]'
    run $limit --matrix
    expect_out '^d0 +device +c +L\+a +R\+a$'
    expect_out '^MEMSPAN_EMU_PEERS: reaches it .*d1>d0'
    run_with MEMSPAN_EMU_PEERS=none $limit --matrix
    expect_out '^d0 +device +c +L\+a +c$'
    run $limit --probe=none --json
    expect_jq '.devices | length == 1'
    ;;
measure)
    # On the host, and on an emulated device, which stops a program that breaks its rules.
    need jq
    run_with MEMSPAN_DEVICES=emu:1 --timeout 80 --measure --json
    expect_code 0
    expect_schema
    for resource in emu0.device emu0.coherent emu0.managed emu0.host-pinned; do
        for device in -1 0; do
            expect_jq "[.spaces[].resources[] | select(.name == \"$resource\") | .reach[]
                | select(.device == $device)] | length > 0 and
                all(.bandwidth_bytes_per_s > 0 and .latency_ns > 0 and .measured_at != null)"
        done
    done
    expect_jq '[.spaces[].resources[] | select(.name == "emu0.device") | .reach[] | .method]
        | unique == ["copy", "kernel"]'
    expect_jq '[.spaces[0].resources[0].reach[] | select(.device == -1) | .method] == ["loads"]'
    ;;
svg)
    need xmllint
    for setting in MEMSPAN_DEVICES=emu:7 MEMSPAN_DEVICES=emu:4 MEMSPAN_DEVICES=emu:5 \
        MEMSPAN_BACKENDS=host 'HWLOC_SYNTHETIC=numa:6 core:2 pu:2'; do
        run_with "$setting" $limit -o svg
        expect_code 0
        xmllint --noout "$out" || die "not well-formed: $setting"
        expect_out '</svg>'
        expect_no_out '<title>emu' # every resource of every space is there, and whole
        awk -f "$(dirname "$0")/../bench/geometry.awk" "$out" >"$err" ||
            die "$setting: texts lie on each other, on links, or outside"
    done
    expect_out '>node5  dram'
    ;;
hwloc)
    need jq hwloc-info lstopo-no-graphics
    run_json
    nodes=$(hwloc-info --of numa all 2>/dev/null | grep -c '^NUMANode')
    [ "$nodes" -gt 0 ] || nodes=$(hwloc-info 2>/dev/null | sed -n 's/.*depth.*: *\([0-9]*\) NUMANode.*/\1/p')
    [ "$(jq '.nodes | length' "$out")" -eq "$nodes" ] || die "hwloc has $nodes nodes"
    units=$(hwloc-info 2>/dev/null | sed -n 's/.*: *\([0-9]*\) PU .*/\1/p')
    [ "$(jq '[.nodes[].pu_count] | add' "$out")" -eq "$units" ] || die "hwloc has $units PUs"
    # Memory may be plugged in meanwhile (virtual machines): try again before failing.
    for attempt in 1 2 3; do
        run_json
        ours=$(jq '[.nodes[].capacity_bytes] | add' "$out")
        theirs=$(lstopo-no-graphics --of xml 2>/dev/null |
            sed -n 's/.*type="NUMANode".*local_memory="\([0-9]*\)".*/\1/p' |
            awk '{ sum += $1 } END { printf "%.0f", sum }')
        [ "$ours" = "$theirs" ] && exit 0
        sleep 1
    done
    die "nodes hold $ours bytes, hwloc says $theirs"
    ;;
clinfo)
    need clinfo
    need_opencl
    clinfo --raw >"$scratch/clinfo" 2>/dev/null
    theirs=$(grep -c 'CL_DEVICE_GLOBAL_MEM_SIZE ' "$scratch/clinfo")
    ours=$(jq '[.devices[] | select(.backend == "opencl")] | length' "$out")
    [ "$ours" -eq "$theirs" ] || die "clinfo has $theirs devices, we have $ours"
    # Some versions of PoCL report free memory: within 5 % is equal.
    jq -r '.devices[] | select(.backend == "opencl")
           | "\(.capacity_bytes) \(.alloc_max_bytes)"' "$out" | sort >"$scratch/ours"
    paste -d ' ' \
        "$(awk '$2 == "CL_DEVICE_GLOBAL_MEM_SIZE" { print $3 }' "$scratch/clinfo" \
            >"$scratch/global"; echo "$scratch/global")" \
        "$(awk '$2 == "CL_DEVICE_MAX_MEM_ALLOC_SIZE" { print $3 }' "$scratch/clinfo" \
            >"$scratch/single"; echo "$scratch/single")" | sort >"$scratch/theirs"
    paste -d ' ' "$scratch/ours" "$scratch/theirs" |
        awk 'function far(a, b) { d = a - b; if (d < 0) d = -d; return d > 0.05 * b }
             far($1, $3) || far($2, $4) { exit 1 }' ||
        die "capacities differ: $(cat "$scratch/ours") is not $(cat "$scratch/theirs")"
    ;;
plan)
    run $limit --plan host && expect_code 2
    run $limit --plan devices=host,pinned=false && expect_code 0 && expect_out '^given +host$'
    run $limit --plan base=high_bw,alignment=3 && expect_code 2 && expect_err 'alignment cannot be 3; it can be a power'
    run $limit --plan sync_hint=none && expect_code 2 && expect_err '"none"; it can be contended, uncontended'
    run $limit --plan zzzz=3 && expect_code 2 && expect_err 'memspan_allocator_create.3. lists them'
    run $limit --plan devices=4711 && expect_code 1 && expect_out MEMSPAN_ERR_NOT_FOUND
    run $limit --plan preferred_place=0,partition=interleaved && expect_code 2 &&
        expect_err 'contradict each other'
    # A trait that cannot be kept makes it conditional.
    run_with MEMSPAN_DEVICES=emu:1 $limit --plan pinned=true,preferred_location=0
    expect_code 4
    expect_out '^serves +no$'
    need_opencl
    number=$(jq 'first(.devices[] | select(.backend == "opencl")).number' "$out")
    # Managed memory, or a stronger kind that serves.
    run $limit --plan "devices=$number,host,memory_access=managed"
    expect_code 0
    expect_out '^serves +yes$'
    expect_out '^asked +managed$'
    expect_out '^given +(managed|coherent|host-pinned)$'
    expect_out '(SVM|host memory)'
    expect_out "device $number .*: local|remote"
    run $limit --json --plan "devices=$number,host,memory_access=managed"
    expect_schema
    expect_jq '.given.kind_asked == "managed" and (.reach | length) == 2'
    ;;
check)
    expect_check 0 'backend=host,space=default,atomic,size>=1m'
    expect_check 1 'space=default,size>=1000000t'
    expect_check 1 device=4711
    expect_check 2 space=defualt
    expect_check 2 size && expect_err '"size" is a quantity: compare it, as in size>=1$'
    expect_check 2 'pinned>=1' && expect_err '"pinned" stands alone'
    expect_check 2 space && expect_err '"space" needs a value: space=NAME'
    expect_check 2 devices=host,alignment=3 && expect_err 'alignment cannot be 3; it can be a power of two'
    run $limit --verbose --check 'space=default,size>=1000000t'
    expect_code 1
    expect_out '^size>=1000000t +absent +it is [0-9.]+ [A-Z]iB$'
    need_opencl
    number=$(jq 'first(.devices[] | select(.backend == "opencl")).number' "$out")
    expect_check 0 "devices=$number,host,memory_access=managed"
    expect_check 0 backend=opencl
    expect_check 0 'backend=opencl,devices>=1'
    # A space has the kinds of memory that the table does not show as OFF.
    for svm in none coarse; do
        run_with MEMSPAN_OPENCL_SVM=$svm $limit --json
        jq -r '.spaces[] | select(.devices | max >= 0) | .name as $name | .resources | group_by(.kind)[] |
            "\(map(select(.state != "OFF")) | length) \($name) \(.[0].kind)"' "$out" >"$scratch/kinds"
        while read -r has name kind; do
            run_with MEMSPAN_OPENCL_SVM=$svm $limit --check "space=$name,$kind"
            [ "$has" != 0 ] || [ "$code" -eq 1 ] || die "$svm: $name has no $kind, and the answer is $code"
            [ "$has" = 0 ] || [ "$code" -ne 1 ] || die "$svm: $name has $kind, and the answer is $code"
        done <"$scratch/kinds"
        [ -s "$scratch/kinds" ] || die 'no spaces'
    done
    ;;
why)
    run $limit --why host && expect_code 0
    run $limit --why cuda && expect_code 1
    run $limit --why hihg_bw && expect_code 2 && expect_err 'did you mean "high_bw"\?'
    run $limit --why openmp
    case $code in 0 | 1) ;; *) die "openmp is neither on nor off" ;; esac
    expect_out 'cause +.+'
    run $limit --json --why managed && expect_schema
    # Long lists of reasons are complete.
    long=/$(printf '%0200d' 0)
    run_with "MEMSPAN_BACKEND_PATH=$long:$long:$long" $limit --why device99 --json
    end=$(jq -r '.chain[0].cause' "$out" | tail -c 40)
    run_with "MEMSPAN_BACKEND_PATH=$long:$long:$long" $limit --why device99
    grep -qF -e "$end" "$out" || die "not to the end: $end"
    need_opencl
    run_with OCL_ICD_VENDORS=/nonexistent $limit --why opencl
    [ "$code" -eq 1 ] || skip "this ICD loader finds drivers by itself"
    expect_out 'native +clGetPlatformIDs: -1001'
    expect_out 'remedy +[^-]'
    ;;
config)
    run --config && expect_code 0 && expect_out '^MEMSPAN_LOG=warn$'
    run_with MEMSPAN_LGO=debug --config
    expect_code 2
    expect_out 'problem: MEMSPAN_LGO .*MEMSPAN_LOG'
    run_with MEMSPAN_CHUNK_SIZE=3 --json --config
    expect_code 2
    expect_schema
    expect_jq '.variables[] | select(.name == "MEMSPAN_CHUNK_SIZE") | .source == "refused"'
    run_with MEMSPAN_DEVICES=opencl:x --config && expect_code 2
    ;;
shmem)
    need jq
    run --shmem && expect_code 0 && expect_out '^1\* +512 MiB +SYSDEFAULT'
    run_with SHMEM_SYMMETRIC_PARTITION7=2m:kind=N --json --shmem
    expect_code 0
    expect_schema
    expect_jq '[.partitions[].id] == [1, 7]'
    expect_jq '.partitions[1] | .kind_given == "NORMALMEM" and .size == 2097152'
    expect_jq '.partitions[1] | .peers == "load/store" and .atomics == "processor" and .available'
    expect_jq '.partitions[1].other_hosts == "registered"'
    expect_jq '.partitions[1].huge_pages | contains("where they are filled")'
    export SHMEMX_HUGE_PAGES=off
    run_with SHMEM_SYMMETRIC_PARTITION7=2m:pgsize=4k --json --shmem
    unset SHMEMX_HUGE_PAGES
    expect_code 0
    expect_jq '[.partitions[].huge_pages | contains("no: ")] == [true, true]'
    run_with SHMEM_SYMMETRIC_PARTITION7=2m:kind=DEVICE@99 --json --shmem
    expect_code 1
    expect_jq '.partitions[1] | (.available | not) and .kind_given == null'
    expect_jq '.partitions[1].why | contains("DEVICE@99")'
    run_with SHMEM_SYMMETRIC_PARTITION7=2m:kind=DEVICE@99:policy=P --json --shmem
    expect_code 0
    expect_jq '.partitions[1] | .kind_asked == "DEVICE" and .kind_given == "SYSDEFAULT"'
    run_with SHMEM_SYMMETRIC_PARTITION7=2m:kin=N --shmem && expect_code 2
    run --shmem && expect_out '^smp\* +PEs of its host +loads and stores +load/store +processor'
    run_with MEMSPAN_SHMEM_TRANSPORT=smp --json --shmem && expect_schema
    expect_jq '[.transports[].name] == ["smp"] and .transports[0].chosen'
    run_with SHMEMX_TRANSPORT=tcp:2 --json --shmem && expect_schema
    expect_jq '.transports[1] | .name == "tcp" and .chosen and .atomics == "service" and .device_memory == "staged"'
    run_with FI_PROVIDER=none --json --shmem && expect_code 0 && expect_schema
    expect_jq '.transports[2] | .name == "ofi" and (.available | not) and .path == null and (.why | length > 20)'
    expect_jq '.transports[3] | .name == "tcp" and .available'
    expect_jq '(.transports[1] | .available and (.path | endswith(", tcp") | not)) != .transports[3].chosen'
    # Kernels that call OpenSHMEM: the host, and a device whose driver imports pages of the host.
    run_with MEMSPAN_DEVICES=emu:1 --json --shmem && expect_code 0 && expect_schema
    expect_jq '.kernel_reach[0] | .device == -1 and .own == "load/store" and .peers == "load/store"'
    expect_jq '.kernel_reach[1] | .available and .own == "load/store" and .peers == "load/store"'
    expect_jq '.kernel_reach[1] | .other_hosts == "request" and (.why | contains("emu: host pages are mapped"))'
    run_with MEMSPAN_SHMEM_TRANSPORT=smp,none --shmem && expect_code 2 && expect_err 'there is no such transport'
    # Variables of OpenSHMEM, and those that look like one.
    misspelt='environment: SHMEM_SYMETRIC_SIZE is no variable of Memspan; perhaps SHMEM_SYMMETRIC_SIZE\?'
    run_with SHMEM_SYMETRIC_SIZE=1g --shmem && expect_code 0 && expect_out "warning: $misspelt"
    run_with SHMEM_SYMETRIC_SIZE=1g --probe=none && expect_code 0 && expect_out "warning: $misspelt"
    run_with SHMEM_SYMETRIC_SIZE=1g --json --config && expect_code 2 && expect_schema
    expect_jq '(.problems | length) == 1 and (.problems[0] | startswith("SHMEM_SYMETRIC_SIZE is no variable"))'
    expect_jq '.variables[] | select(.name == "SHMEM_SYMMETRIC_SIZE") | .value == "512m" and .source == "default"'
    run_with SHMEM_SYMMETRIC_SIZE=none --config && expect_code 2 && expect_out 'PROBLEM: SHMEM_SYMMETRIC_SIZE=none is no size'
    run_with SHMEM_SYMMETRIC_PARTITION7=size=2m --config && expect_code 0 && expect_out '^SHMEM_SYMMETRIC_PARTITION7=size=2m$'
    ;;
crash | hang)
    need_opencl
    BROKEN_OPENCL=$case LD_LIBRARY_PATH=$broken
    export BROKEN_OPENCL LD_LIBRARY_PATH
    [ "$case" = hang ] && limit="--timeout 5"
    run $limit --json
    expect_code 3
    expect_schema
    expect_jq '.backends[] | select(.name == "opencl") | .state == "failed"'
    expect_jq '[.devices[].backend] | index("opencl") == null and index("host") == 0'
    expect_no_process_left
    # Its devices are not requested any more; this is no usage error.
    run_with MEMSPAN_DEVICES=opencl:0 $limit --json
    expect_code 3
    expect_jq '.warnings | map(contains("MEMSPAN_DEVICES")) | any | not'
    # An excluded backend cannot fail.
    MEMSPAN_BACKENDS=^opencl
    export MEMSPAN_BACKENDS
    run $limit --json && expect_code 0
    ;;
bare)
    # Without hwloc the machine is one node; the reason is reported once.
    LD_LIBRARY_PATH=$old_hwloc
    export LD_LIBRARY_PATH
    need jq
    "$memquery" $limit --json >"$out" 2>"$err"
    [ "$(grep -c 'is hwloc 2.4' "$err")" -eq 1 ] || die "the log tells it not once"
    expect_jq '[.warnings[] | select(contains("is hwloc 2.4"))] | length == 1'
    expect_jq '.nodes | length == 1'
    expect_jq '.nodes[0].kind == "dram" and .nodes[0].pu_count > 0'
    expect_jq '[.spaces[].name] | index("default") == 0'
    ;;
manual)
    "$memquery" --help >"$out" 2>"$err"
    for option in $(grep -oE -e '--[a-z]+' "$out" | sort -u); do
        grep -q -e "\\\\-\\\\-${option#--}" "$manual" || die "the manual lacks $option"
    done
    need groff
    groff -man -ww -Tascii "$manual" >"$out" 2>"$err"
    expect_quiet
    ;;
*)
    die "no such case: $case"
    ;;
esac
exit 0

# SPDX-License-Identifier: BSD-3-Clause
# stub.sh CASE PROGRAM FOLDER VERBS: memquery over the machine of stub.c.
case=$1
memquery=$2
folder=$3
verbs=$4 # a folder with a libibverbs.so.1
. "$folder/expect.sh"

fell='crashed \(signal 11, Segmentation fault\) while probed'

case $case in
table)
    run
    expect_code 0
    expect_quiet
    expect_plain 57 # one of them where locked memory is limited
    grep -q '^host\.pinned .* ok$' "$out" || skip "a limit on locked memory changes the table"
    sed '1s/^[^ ]* *//' "$out" >"$scratch/table" # the host's name
    diff -u "$folder/stub.table" "$scratch/table" || die "not the table of stub.table"
    ;;
width)
    # On a terminal tables leave out minor columns, and name them; remarks follow the table, and other lines
    # are folded. No word is lost. At 80 columns no row is folded; elsewhere nothing is.
    need_terminal
    run
    cp "$out" "$scratch/full"
    words() { tr -s ' \n:' '\n\n\n' <"$1" | sort -u; }
    for width in 60 80 100; do
        COLUMNS=$width script -qec "$memquery" /dev/null </dev/null | tr -d '\r' >"$out"
        awk -v width="$width" 'length($0) > width { exit 1 }' "$out" || die "wider than $width"
        expect_out '^not shown at this width: .*uid'
        expect_no_out '^DEV .* uid '
        expect_out '^large_cap node0..node1: alias of default'
    done
    COLUMNS=80 script -qec "$memquery" /dev/null </dev/null | tr -d '\r' >"$out"
    # A table's line has two blanks in a row, a sentence has not.
    awk '/^    / && (before ~ /[^ ]  /) { print before; exit 1 } { before = $0 }' "$out" || die "a row is folded"
    expect_out '^SPACE .* COHER +STATE$'
    COLUMNS=180 script -qec "$memquery" /dev/null </dev/null | tr -d '\r' >"$out"
    expect_no_out 'not shown'
    [ "$(words "$out")" = "$(words "$scratch/full")" ] || die "not the same words"
    COLUMNS=140 script -qec "$memquery" /dev/null </dev/null | tr -d '\r' >"$out"
    [ "$(words "$out")" = "$(words "$scratch/full")" ] || die "not the same words"
    script -qec "stty cols 70; unset COLUMNS; exec $memquery" /dev/null </dev/null | tr -d '\r' >"$out"
    awk 'length($0) > 70 { exit 1 }' "$out" || die "wider than the terminal"
    COLUMNS=60 script -qec "$memquery --json" /dev/null </dev/null | tr -d '\r' >"$out"
    jq -e . "$out" >/dev/null || die "JSON was folded"
    awk 'length($0) > 60 { found = 1 } END { exit !found }' "$scratch/full" || die "nothing is wide"
    COLUMNS=60 run
    cmp "$out" "$scratch/full" || die "folded in a file"
    ;;
json)
    run --json
    expect_code 0
    expect_quiet
    expect_schema
    expect_jq '(.devices | length) == 4 and (.nodes | length) == 4 and .host_number == 3'
    expect_jq '.devices[1].numbers == [0, 2] and .devices[2].numbers == [1]'
    expect_jq '.devices[0].numbers == [-1, 3]'
    # Parts of one card have its address: their identity tells which is the other backend's.
    run_with MEMQUERY_STUB_PARTS=1 --json
    expect_jq '.devices[1].numbers == [0] and .devices[2].numbers == [1, 2]'
    run --json
    expect_jq '.devices[2].free_bytes == null and .devices[1].free_bytes == 149250113536'
    expect_jq '.devices[1].kinds.coherent | .offered == false and .note != null'
    expect_jq '.nodes[0] | .latency_ns == 90 and .bandwidth_bytes_per_s == 214748364800'
    expect_jq '.nodes[3] | .kind == "gpu" and .owner == "0000:41:00.0"'
    expect_jq '.backends[3] | .state == "off" and (.native | contains("dlopen: 2"))'
    expect_jq '[.spaces[].name] | index("{host,0}") != null and index("{0}") != null'
    expect_jq '.spaces[0].resources | length == 2 and .[1].capacity_bytes == 541165879296'
    expect_jq '[.spaces[] | select(.status != "MEMSPAN_OK")] | length == 1'
    expect_jq '.devices[1].capability_sources | .share_addresses == "UNIFIED_ADDRESSING 1" and
        .access_pageable == "PAGEABLE_MEMORY_ACCESS ? 0" and .ipc == null'
    expect_jq '.devices[1].modes[0] | .on == false and .remedy == "Linux with HMM"'
    expect_jq '.devices[1].modes[1] | .on == null and .source == null'
    # Bytes outside of UTF-8 become "?", and no key is lost.
    run_with MEMQUERY_STUB_CPU="$(printf 'a\377b\001c')" --json
    expect_code 0
    expect_schema
    expect_jq '.devices[0] | .name == "a?b?c" and .vendor == "a?b?c" and .uid == "a?b?c"'
    ;;
measure)
    # All figures are of verified work; fills for memory of a device without kernels.
    run --measure -o json
    expect_code 0
    expect_quiet
    expect_schema
    reach='.spaces[] | .resources[] | . as $r | .reach[] | .resource = $r.name'
    expect_jq "[$reach | select(.resource == \"cuda0.managed\" and .device == 0)] | .[0] |
        .bandwidth_bytes_per_s > 0 and .latency_ns > 0 and .method == \"kernel\"
        and .spread_percent >= 0 and (.settled | type) == \"boolean\"
        and (.busy | type) == \"boolean\" and .source == \"measured now, quick\" and (.measured_at | test(\"^20..-..-..T..:..:..Z\"))"
    expect_jq "[$reach | select(.resource == \"node0\" and .device == -1)] | length == 4 and
        all(.bandwidth_bytes_per_s > 0 and .latency_ns > 0 and .method == \"loads\")"
    expect_jq "[$reach | select(.resource == \"cuda0.device\" and .device == -1)] |
        .[0].method == \"copy\" and .[0].latency_ns > 0"
    expect_jq "[$reach | select(.resource == \"cuda1.device\" and .device == 1)] |
        .[0].method == \"fill\" and .[0].latency_ns == null"
    expect_jq "[$reach | select(.resource == \"cuda1.coherent\" and .device == 1)] |
        .[0].bandwidth_bytes_per_s == null and (.[0].source_reason | test(\"no built-in kernels\"))"
    never="[$reach | select(.resource == \"cuda1.coherent\" and .device == 1) | .latency_ns_reason]"
    expect_jq '[.. | objects | to_entries[] | select(.key | endswith("_reason")) | .value
        | select(type == "string" and test("--measure"))] == []'
    # Without --measure every key is there.
    run --json
    expect_schema
    expect_jq "[$reach | select(.resource == \"node0\" and .device == -1) | .latency_ns_reason
        == \"not measured; --measure does\"] | all"
    # Memory that is never measured does not recommend --measure.
    expect_jq "$never | length > 0 and all(test(\"no built-in kernels\"))"
    run -o csv
    expect_out '^[^,]*,cuda1.coherent,coherent,d1,1,.*,the device has no built-in kernels,,,$'
    run --measure
    expect_code 0
    expect_plain 76
    expect_out '^MEASURED +KIND +h +d0 +d1 +d2$'
    figure='[0-9.]+/[0-9.]+~[0-9]+%!?'
    expect_out "^cuda0.managed +managed +$figure +$figure +\\. +\\.\$"
    # The same figures stand with their node, where the firmware is silent.
    expect_out '^node0 +dram +503.0 +250.0 +214.7 +90 +HMAT +0-63 '
    expect_out '^node1 +dram +504.0 +250.0 +[0-9.]+ +[0-9]+ +measured now, quick +64-127 '
    expect_out '^measured \(quick\) 20'
    run --measure -o csv
    expect_code 0
    expect_out '^space,resource,kind,home,device,device_name,access,.*,measured_at,source,reason,spread_percent,settled,busy$'
    expect_out '^"\{host,0\}",cuda0.managed,managed,d0,0,cuda:0,[a-z]+,[a-z]+,[0-9]+,[0-9.]+,kernel,20[^,]*Z,"measured now, quick",,[0-9]+,[01],[01]$'
    [ "$(awk 'NR > 1' "$out" | wc -l)" -eq "$(run --json; jq '[.spaces[].resources[].reach[]] | length' "$out")" ] ||
        die "not a row for each space, resource and device"
    ;;
progress)
    # On a terminal --measure says on standard error how far it is; the answer has nothing of it.
    need_terminal
    script -qec "$memquery --measure >$scratch/answer" /dev/null </dev/null >"$out"
    expect_out 'memquery: measuring node0 from h[a-z:0]*, [0-9]+ left'
    grep -q '^MEASURED' "$scratch/answer" || die "no answer"
    ! grep -q ' left' "$scratch/answer" || die "progress in the answer"
    ;;
measure_busy)
    # Other work on all processors is detected.
    hogs=
    for hog in $(seq $(($(nproc) + 1))); do
        (while :; do :; done) &
        hogs="$hogs $!"
    done
    trap 'kill $hogs; rm -rf "$scratch"' EXIT
    run --timeout 100 --measure --json
    expect_code 0
    expect_jq '[.spaces[].resources[].reach[] | select(.method == "loads") | .busy] | any'
    ;;
measure_faults)
    # A failure in one memory is reported for that memory; the others are measured.
    others='[.spaces[] | .resources[] | select(.name == "cuda0.host-pinned") | .reach[]
             | select(.device == 0)] | .[0].bandwidth_bytes_per_s > 0'
    managed='[.spaces[] | .resources[] | select(.name == "cuda0.managed") | .reach[]
              | select(.device == 0)] | .[0]'
    for fault in refuse wrong ones error crash hang; do
        MEMQUERY_STUB_MEASURE=$fault
        export MEMQUERY_STUB_MEASURE
        limit=
        words=
        expected=0
        case $fault in
        refuse) words='the device is full \\(cuMemCreate: 2' ;;
        wrong | ones) words='wrong result: element' ;;
        error) words='cuLaunchKernel: 719 CUDA_ERROR_LAUNCH_FAILED' ;;
        crash) words='the driver crashed while this was measured, or the time was up' expected=3 ;;
        hang) words='the driver crashed while this was measured, or the time was up' expected=3 limit='--timeout 6' ;;
        esac
        run --measure=quick $limit --json
        expect_code $expected
        expect_schema
        expect_jq "$managed | .bandwidth_bytes_per_s == null and
            (.bandwidth_bytes_per_s_reason | test(\"$words\"))"
        case $fault in
        refuse | crash | hang) expect_jq "$others" ;;
        esac
        expect_jq '[.backends[] | select(.state == "failed")] | length == 0'
        expect_no_process_left
    done
    MEMQUERY_STUB_MEASURE=crash run --measure=quick
    expect_out '^cuda0.managed .* FAILED'
    expect_out '^not measured: the driver crashed.*cuda0.managed from cuda:0'
    ;;
svg)
    need xmllint
    run -o svg
    expect_code 0
    expect_quiet
    xmllint --noout "$out" || die "not well-formed"
    expect_no_out '<script|href|@import|url\(h'
    expect_out 'prefers-color-scheme: dark'
    expect_out '>d0  cuda:0<'
    expect_out 'the same hardware as d0'
    expect_out '>d0-d1: '
    expect_out '>hip off: '
    expect_out 'Nothing was measured'
    LC_ALL=C grep -q '[^ -~]' "$out" && die "names that are no text were not cleaned"
    run -o svg --measure
    xmllint --noout "$out" || die "not well-formed when measured"
    expect_out '[0-9] GB/s, [0-9]+ ns ~[0-9]+%!?<'
    expect_out 'spread of the repetitions'
    expect_out '>measured \(quick\) 20'
    awk -f "$folder/../bench/geometry.awk" "$out" >"$err" || die "texts lie on each other"
    # Names are escaped.
    run_with 'MEMQUERY_STUB_CPU=a<b> & "c"' -o svg
    xmllint --noout "$out" || die "a name breaks it"
    awk -f "$folder/../bench/geometry.awk" "$out" >"$err" || die "texts lie on each other"
    expect_out 'a&lt;b&gt; &amp; &quot;c&quot;'
    ;;
matrix)
    run --matrix
    expect_code 0
    expect_quiet
    expect_plain 12
    expect_out '^PEER +memory +h +d0 +d1 +d2$'
    expect_out '^d0 +device +c +L\+a +c +c$'
    expect_out '^two\?backends \(device>home\): d2>d0$'
    run --matrix --json
    expect_code 0
    expect_schema
    expect_jq '.peers | length == 16'
    expect_jq '.peers[] | select(.home == 0 and .device == 2)
        | .access == "copy" and .source == "two?backends" and (.load_store | not) and .copy'
    expect_jq '.peers[] | select(.home == 1 and .device == 1) | .load_store and .atomics'
    ;;
share)
    # Without --probe=full nothing is tried.
    run --json
    expect_code 0
    expect_schema
    expect_jq '.devices[1].sharing | .ipc.state == "claimed" and (.ipc.detail | test("--probe=full"))'
    expect_jq '.devices[2].sharing.ipc.state == "no" and .devices[0].sharing.ipc.state == "no"'
    run --json --probe=full
    expect_code 0
    expect_schema
    expect_jq '.devices[1].sharing | .ipc.state == "proved" and .ipc.native == null'
    # A file is no dma-buf, but holds the bytes that were written.
    expect_jq '.devices[1].sharing.dmabuf | .state == "partly" and (.detail | test("65536 bytes"))'
    expect_jq '.devices[1].capabilities.ipc'
    expect_jq '.devices[1].sharing.rdma.state | . == "no" or . == "claimed"'
    [ -e /sys/class/infiniband ] || expect_jq '.devices[1].sharing.rdma.state == "no"'
    expect_check 0 device=0,ipc
    # Data that does not arrive is a failure, although every call succeeded.
    export MEMQUERY_STUB_SHARE=lie
    run --json --probe=full
    expect_code 0
    expect_jq '.devices[1].sharing | .ipc.state == "failed" and .dmabuf.state == "failed"'
    expect_jq '.devices[1].sharing.ipc.detail | test("every call succeeded, but")'
    expect_jq '.devices[1].capabilities.ipc | not'
    expect_check 0 device=0,ipc
    run --probe=full --check device=0,ipc
    expect_code 1
    export MEMQUERY_STUB_SHARE=import
    run --devices --probe=full
    expect_code 0
    expect_out '^  probe ipc: failed .*cannot open it.*; pidfd_getfd: 1 Operation not permitted\)$'
    expect_out '^    remedy: see kernel.yama.ptrace_scope$'
    run --why device0 --probe=full
    expect_code 0
    expect_out 'sharing by ipc is failed$'
    expect_out 'native +pidfd_getfd: 1 Operation not permitted$'
    expect_out 'remedy +see kernel.yama.ptrace_scope$'
    for words in 'export:cuMemExportToShareableHandle: 801' 'refuse:cuMemCreate: 2' \
        'crash:crashed .signal 6' 'exit:exit status 3' 'hang:did not answer within 1 s'; do
        export MEMQUERY_STUB_SHARE=${words%%:*}
        run --devices --probe=full --timeout 3.5
        expect_code 0
        expect_quiet
        expect_out "^  probe ipc: failed .*${words#*:}"
        expect_no_process_left
    done
    unset MEMQUERY_STUB_SHARE
    # A network card that registers the memory, one that does not, and none.
    export LD_LIBRARY_PATH=$verbs
    run --json --probe=full
    expect_code 0
    expect_jq '.devices[1].sharing.rdma | .state == "partly" and
        (.detail | test("card fake_1 registered 65536 bytes.*not proved"))'
    run --json
    expect_jq '.devices[1].sharing.rdma.state != "partly"'
    run_with FAKE_VERBS=old --json --probe=full
    expect_code 0
    expect_jq '.devices[1].sharing.rdma | .state == "failed" and
        (.native | startswith("ibv_reg_dmabuf_mr: 95 ")) and .remedy != null'
    run_with FAKE_VERBS=none --json --probe=full
    expect_jq '.devices[1].sharing.rdma.state | . == "no" or . == "claimed"'
    unset LD_LIBRARY_PATH
    run --probe=none --json
    expect_code 0
    expect_jq '.devices | length == 1'
    run --probe && expect_code 2
    run --probe=some && expect_code 2 && expect_err 'not one of safe, none, full'
    ;;
devices)
    run --devices
    expect_code 0
    expect_quiet
    expect_plain 70
    expect_out '^d0 cuda:0, H200'
    expect_out '^ +share_addresses +yes +UNIFIED_ADDRESSING 1$'
    expect_out '^ +access_pageable +no +PAGEABLE_MEMORY_ACCESS \? 0$'
    expect_out '^ +mode pageable memory access: off \(PAGEABLE_MEMORY_ACCESS 0\)$'
    expect_out '^ +remedy: Linux with HMM$'
    expect_out '^ +mode some mode: \?'
    run --why device0
    expect_code 0
    expect_out 'pageable memory access is off$'
    expect_out 'remedy +Linux with HMM$'
    ;;
lock)
    need prlimit setpriv
    # Without CAP_IPC_LOCK the limit binds, and both the table and JSON must say so.
    set -- prlimit --memlock=65536:65536
    [ "$(id -u)" -ne 0 ] || set -- "$@" setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock
    "$@" true 2>/dev/null || skip "capabilities cannot be dropped here"
    "$@" "$memquery" >"$out" 2>"$err"
    code=$?
    expect_code 0
    expect_out 'host\.pinned .* COND  locked-memory limit 64 KiB'
    expect_out '^warning: locked-memory limit 64 KiB'
    "$@" "$memquery" --check space=host.pinned >"$out" 2>"$err"
    code=$?
    expect_code 4
    ;;
options)
    run --help && expect_code 0 && expect_out '^usage: memquery'
    run --version && expect_code 0 && expect_out '^memquery [0-9.]+ \(libmemspan stub\)$'
    run -o json --why cuda && expect_code 0 && expect_out '"schema": 1'
    run --why=cuda -o=table && expect_code 0 && expect_out '^cuda \(backend\)'
    for bad in --jsn --timeot=3 -x; do
        run $bad
        expect_code 2
        expect_silent
        expect_err "unknown option ${bad%%=*}"
    done
    run --jsn && expect_err 'did you mean --json\?'
    run --timeout 0 && expect_code 2 && expect_err 'out of range: 0.01 to 3600'
    run --timeout 5s && expect_code 2
    run --timeout nan && expect_code 2
    run --timeout && expect_code 2 && expect_err 'needs a value'
    run --json=1 && expect_code 2 && expect_err 'takes no value'
    run -o xml && expect_code 2 && expect_err 'not one of table, json, csv, svg, prometheus, nagios'
    run --measure=fast && expect_code 2 && expect_err '"fast" is not one of quick'
    run --measure= && expect_code 2 && expect_err 'is not one of'
    run --measure --why cuda && expect_code 2 && expect_err 'cannot be combined with a question'
    run -o svg --check backend=cuda && expect_code 2 && expect_err 'cannot be combined with a question'
    run --plan devices=0 --why cuda && expect_code 2 && expect_err 'one question'
    run cuda && expect_code 2 && expect_err 'did you mean --why cuda'
    "$memquery" >/dev/full 2>"$err"
    code=$?
    expect_code 3
    expect_err 'cannot write .*: No space left'
    # A limit on the size of files is reported, too, instead of SIGXFSZ.
    said=$( (ulimit -f 0 && exec "$memquery" >"$scratch/limited") 2>&1) && code=0 || code=$?
    expect_code 3
    case $said in *'cannot write '*': File too large'*) ;; *) die "it said: $said" ;; esac
    ;;
plan)
    run --plan devices=0,host,memory_access=managed
    expect_code 0
    expect_out '^given +managed$'
    expect_out '^migratable +yes$'
    expect_out 'host: fault, sync'
    run --plan devices=2,memory_access=managed
    expect_code 4
    expect_out '^asked +managed$'
    expect_out '^given +device$'
    expect_out '^exact +no$'
    expect_out '^why +a step up$'
    run --plan devices=2,memory_access=managed,guarantee=required
    expect_code 1
    expect_out 'MEMSPAN_ERR_NOT_GUARANTEED'
    expect_out '^remedy +leave guarantee out$'
    run --json --plan devices=2,memory_access=managed,guarantee=required
    expect_code 1
    expect_schema
    expect_jq '.given == null and .hint == "leave guarantee out"'
    run --json --plan devices=all,host
    expect_code 1
    expect_schema
    expect_jq '.status == "MEMSPAN_ERR_UNREACHABLE"'
    run --json --plan base=high_bw,pinned=true
    expect_code 0
    expect_schema
    expect_jq '.given.kind_given == "host-pinned" and .given.numa_node == 2'
    for bad in pinnd=true base=hihg_bw devices=x , devices=0, 'devices>=1,pinned=true' ''; do
        run --plan "$bad"
        expect_code 2
        expect_silent
        [ -s "$err" ] || die "no message for \"$bad\""
    done
    # A stronger kind serves; it is not exact.
    run_with MEMQUERY_STUB_STRONGER=1 --plan devices=1,host,memory_access=managed
    expect_code 0
    expect_out '^given +coherent$'
    expect_out '^exact +no$'
    expect_out '^serves +yes$'
    run_with MEMQUERY_STUB_STRONGER=1 --json --plan devices=1,host,memory_access=managed
    expect_code 0
    expect_jq '.given.serves and (.given.exact | not)'
    # The words of a question may be binary.
    run --json --plan "devices=0,$(printf 'x\377')=1"
    expect_code 0
    expect_schema
    expect_jq '.traits == "x?=1"'
    # Contradictory traits are a usage error, on every machine.
    run --plan devices=0,pinned=true,guarantee=required
    expect_code 2
    expect_silent
    expect_err 'contradict each other; leave one out'
    # A device named twice is one device, also under both numbers of the host.
    run --json --plan devices=0,0,host,host,3,0
    expect_code 1
    run --json --plan devices=0,0,host,0,host
    expect_code 0
    expect_jq '[.reach[].device] == [0, -1]'
    run --plan devices=0,0,host,0,host
    [ "$(grep -c ': fault\|: local\|: remote\|: copy' "$out")" -eq 2 ] || die "devices are told twice"
    run --plan devices=3,host && expect_code 1 && expect_out 'that number means the host here'
    run --plan base=hihg_bw && expect_err 'did you mean "high_bw"\?'
    ;;
check)
    expect_check 0 backend=cuda
    expect_check 1 backend=hip
    expect_check 1 backend=level_zero
    expect_check 2 backend=cudaa
    expect_check 0 'backend=cuda,devices>=2'
    expect_check 1 'backend=cuda,devices>=3'
    expect_check 0 device=0
    expect_check 1 device=9
    expect_check 1 device=3
    expect_check 0 device=host
    expect_check 0 device=0,managed,kernels
    expect_check 1 device=0,coherent
    expect_check 1 device=0,rdma
    expect_check 0 'device=0,size>=100g,free<200g'
    expect_check 1 'device=0,size>=1t'
    expect_check 5 'device=2,size>=1'
    expect_check 5 'device=2,size<1'
    expect_check 5 'device=1,free>=1'
    # Absent outranks unknown, and unknown outranks conditional.
    expect_check 1 'device=2,size>=1,managed'
    expect_check 5 'space=low_lat,device=2,size>=1'
    expect_check 5 'device=2,size>=1,space=low_lat'
    expect_check 0 space=default
    expect_check 0 'space=default,size>=900g'
    expect_check 1 'space=node1,size>=900g'
    expect_check 4 space=low_lat
    expect_check 1 'space=low_lat,size>=100t'
    expect_check 0 'space=cuda1.coherent,concurrent,size>=1g'
    expect_check 1 space=cuda1.coherent,atomic
    # The weaker of what the host and a memory's home are promised.
    expect_check 1 space=cuda0.host-pinned,atomic
    export MEMQUERY_STUB_PINNED=1
    expect_check 1 space=cuda0.host-pinned,atomic
    expect_check 0 space=cuda0.host-pinned,concurrent
    unset MEMQUERY_STUB_PINNED
    # A space is as good as its best resource, in any place, and has the kinds of all.
    expect_check 0 'space={host,0},managed,host-pinned'
    expect_check 1 'space={host,0},device'
    expect_check 1 space=cuda0.coherent
    expect_check 1 space=cuda7.device
    expect_check 2 space=cuda0.cohernt
    expect_check 0 'space={host,0}'
    expect_check 1 'space={host,17}'
    expect_check 4 space=cuda0.managed
    expect_check 0 devices=0,host,memory_access=managed,exact
    expect_check 0 devices=1,host,memory_access=managed
    export MEMQUERY_STUB_STRONGER=1
    expect_check 0 devices=1,host,memory_access=managed
    expect_check 1 devices=1,host,memory_access=managed,exact
    # The weakest of what the devices are promised, in any order.
    expect_check 0 devices=1,host,memory_access=managed,concurrent
    expect_check 1 devices=1,host,memory_access=managed,atomic
    expect_check 1 devices=host,1,memory_access=managed,atomic
    unset MEMQUERY_STUB_STRONGER
    # Neither a sum of nodes nor one node exceeds the limit of the machine.
    export MEMQUERY_STUB_LIMIT_GIB=600
    expect_check 0 'space=default,size=600g'
    expect_check 1 'space=default,size>600g'
    export MEMQUERY_STUB_LIMIT_GIB=100
    expect_check 1 'space=node1,size>100g'
    unset MEMQUERY_STUB_LIMIT_GIB
    # A missing space is absent under every condition; usage errors stay usage errors.
    expect_check 1 'space={host,0,1,2},size>=1,atomic'
    expect_check 2 'space={host,0,1,2},kernels'
    expect_check 2 'device=9,atomic'
    expect_check 4 devices=2,memory_access=managed
    expect_check 1 devices=2,memory_access=managed,exact
    expect_check 1 devices=2,memory_access=managed,guarantee=required
    expect_check 1 devices=5,host
    expect_check 1 devices=3,host
    expect_check 1 devices=all
    expect_check 2 devices=0,pinnd=true
    expect_check 0 'devices>=3,nodes>=4'
    expect_check 1 'devices>=4'
    expect_check 0 backend=cuda,device=1,managed,space=default,atomic
    expect_check 2 exact
    expect_check 2 nonsense
    expect_check 2 'device=0,size>=big'
    expect_check 2 'backend=cuda,atomic'
    expect_check 2 ''
    # page_size= is a trait, page_size>= a quantity (which the driver decides here).
    expect_check 0 devices=0,host,page_size=2m
    expect_check 5 'devices=0,host,page_size>=1'
    # --verbose: each word, its verdict and the reason; the exit code is the same.
    run --verbose --check 'space=low_lat,atomic,size>=100t'
    expect_code 1
    expect_quiet
    expect_out '^space=low_lat +conditional +node0: alias of default: one tier$'
    expect_out '^atomic +yes +the weakest promise is atomic$'
    expect_out '^size>=100t +absent +it is 1007 GiB$'
    expect_out '^answer: absent \(exit code 1\)$'
    run -v --check 'device=2,size>=1'
    expect_code 5
    expect_out '^size>=1 +not known +it is not known$'
    run -v --check devices=2,host,memory_access=managed,guarantee=required
    expect_out '^devices=2,host +absent +managed memory is not to be had'
    run -v --check backend=hip && expect_code 1 && expect_out 'absent +library not found: libamdhip64'
    run -v --check 'device=0,rdma,managed,kernels'
    expect_out '^rdma +absent +the device cannot$'
    expect_out '^managed +yes +kinds: .*managed'
    run -v && expect_code 2 && expect_err 'needs --check'
    run --check devise=0
    expect_err 'did you mean "device(s=)?"\?'
    ;;
why)
    run --why hip && expect_code 1 && expect_out 'native  dlopen: 2 cannot open' &&
        expect_out 'cause +library not found: libamdhip64' && expect_out 'remedy +install ROCm'
    run --why cuda && expect_code 0
    run --why level_zero && expect_code 1 && expect_out 'no backend for level_zero'
    run --why device1 && expect_code 0 && expect_out 'cuda:1 is device 1: H200'
    run --why device7 && expect_code 1 && expect_out 'd0 d1 d2'
    run --why low_lat && expect_code 4 && expect_out 'ALIAS'
    run --why cuda0.managed && expect_code 4 && expect_out 'page faults'
    run --why cuda0.coherent && expect_code 1 && expect_out 'no concurrent access'
    run --why coherent && expect_code 0 && expect_out 'd1 .*offers coherent'
    run --why '{host,0,1,2}' && expect_code 1 && expect_out 'device 2 reaches nothing'
    run --why cudda && expect_code 2 && expect_silent && expect_err 'did you mean "cuda"\?'
    run --json --why hip
    expect_code 1
    expect_schema
    expect_jq '.exit_code == 1 and (.chain | length) == 1'
    ;;
config)
    run --config && expect_code 0 && expect_out '^MEMSPAN_BACKENDS=$' && expect_out 'default'
    MEMSPAN_LOGG=1
    export MEMSPAN_LOGG
    run --config && expect_code 2 && expect_out 'problem: .*perhaps MEMSPAN_LOG\?'
    run --json --config
    expect_code 2
    expect_schema
    expect_jq '(.problems | length) == 1 and .variables[0].name == "MEMSPAN_BACKENDS"'
    run && expect_code 0 && expect_out 'warning: environment: MEMSPAN_LOGG'
    unset MEMSPAN_LOGG
    # The user's value is shown, not the one that excludes a failed backend.
    MEMQUERY_STUB=half:crash MEMSPAN_BACKENDS=cuda,opencl
    export MEMQUERY_STUB MEMSPAN_BACKENDS
    run --config && expect_no_out '^MEMSPAN_BACKENDS=(host)?$'
    ;;
crash)
    MEMQUERY_STUB=cuda:crash
    export MEMQUERY_STUB
    run
    expect_code 3
    expect_out "^cuda FAILED: $fell; its last words: driver says: about to fall"
    expect_out 'opencl:0'
    expect_no_out 'cuda:1'
    [ "$(grep -c FAILED: "$out")" -eq 1 ] || die "said more than once"
    run --json
    expect_code 3
    expect_schema
    expect_jq '.backends[1].state == "failed" and (.devices | length) == 2'
    run --why cuda && expect_code 3 && expect_out "FAILED: $fell"
    run --why device7 --json && expect_code 3 && expect_jq '.exit_code == 3'
    expect_check 3 backend=cuda
    expect_check 0 backend=opencl
    expect_check 3 'devices>=2'
    run -v --check backend=cuda && expect_code 3 && expect_out 'a driver failed +crashed .signal 11'
    # Memory that the failed driver may have is not reported as absent.
    run --plan devices=1,host && expect_code 3 && expect_out 'NOT_FOUND' && expect_err 'cuda FAILED'
    run --plan devices=host && expect_code 0 && expect_quiet
    # A backend that the user excluded stays off, and cannot fail.
    MEMSPAN_BACKENDS=cuda
    export MEMSPAN_BACKENDS
    run && expect_code 3 && expect_no_out 'opencl:0'
    MEMSPAN_BACKENDS=^cuda
    run && expect_code 0 && expect_out 'opencl:0' && expect_quiet
    expect_no_process_left
    ;;
hang)
    MEMQUERY_STUB=opencl:hang,cuda:crash
    export MEMQUERY_STUB
    run --timeout 1.5 --json
    expect_code 3
    expect_schema
    expect_jq '.backends[2].reason == "did not answer within 1.5 s"'
    expect_jq '.backends[1].reason | startswith("crashed")'
    expect_jq '(.devices | length) == 1'
    expect_no_process_left
    ;;
exit)
    MEMQUERY_STUB=cuda:exit
    export MEMQUERY_STUB
    run && expect_code 3 && expect_out '^cuda FAILED: ended the process \(exit status 0\)'
    # All fail: the host is still described.
    MEMQUERY_STUB=cuda:exit,opencl:exit,hip:exit
    run && expect_code 3 && expect_out '^h +-1,0 +host:0'
    MEMQUERY_STUB=host:exit
    run && expect_code 3 && expect_silent && expect_err 'host FAILED: ended'
    expect_no_process_left
    ;;
noise)
    MEMQUERY_STUB=cuda:noise
    export MEMQUERY_STUB
    run --json
    expect_code 0
    expect_schema
    expect_err '^driver noise on standard output$'
    ;;
helper)
    MEMQUERY_STUB=cuda:helper
    export MEMQUERY_STUB
    run --timeout 20
    expect_code 0
    expect_no_process_left
    ;;
together)
    MEMQUERY_STUB=both:crash
    export MEMQUERY_STUB
    run && expect_code 3 && expect_out '^cuda FAILED: failed only together' &&
        expect_out '^h +-1,0 +host:0'
    ;;
plugins)
    MEMQUERY_STUB=plugins:crash MEMSPAN_BACKEND_PATH=/nowhere
    export MEMQUERY_STUB MEMSPAN_BACKEND_PATH
    run && expect_code 3 && expect_out "MEMSPAN_BACKEND_PATH FAILED: $fell" && expect_out 'cuda:1'
    ;;
signal)
    MEMQUERY_STUB=cuda:hang
    export MEMQUERY_STUB
    for name in INT TERM; do
        # Background jobs of a shell ignore SIGINT by default.
        env --default-signal="$name" "$memquery" --timeout 60 >"$out" 2>"$err" </dev/null &
        pid=$!
        sleep 0.5
        kill -s "$name" "$pid"
        wait "$pid"
        code=$?
        case $name$code in
        INT130 | TERM143) ;;
        *) die "SIG$name did not end it by that signal" ;;
        esac
        expect_silent
        expect_err "^memquery: ended by signal [0-9]+ "
        expect_no_process_left
    done
    # After SIGKILL the kernel ends its child.
    "$memquery" --timeout 60 >"$out" 2>"$err" </dev/null &
    pid=$!
    sleep 0.5
    kill -s KILL "$pid"
    wait "$pid"
    expect_no_process_left
    ;;
*)
    die "no such case: $case"
    ;;
esac
exit 0

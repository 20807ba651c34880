#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guest.sh: in the virtual machine of lane.sh: the NVDIMM becomes node 3, and the tests labelled tiers run. One
# that is skipped has failed: everything that it wants is here.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp
share=/tmp/share
build=$(cat $share/build)
tests=$(cat $share/tests)
result=0
node=/sys/devices/system/node

fail() {
    echo "tiers: $*"
    result=1
}

# memory WORDS...: a row of memquery's table of memory devices, soon: the kernel binds drivers by itself.
memory() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        "$build/bin/memquery" | tr -s ' ' >/tmp/table
        ! grep -q "^$*" /tmp/table || return 0
        sleep 1
    done
    fail "not told: $*"
    grep -A 9 '^MEMORY' /tmp/table
}

memory 'namespace0.0 namespace raw .* no program maps mode raw'
memory 'pmem0 block raw .* it has no DAX'
memory 'region0 region - .* its namespaces have all of it'
ndctl create-namespace -f -m fsdax -e namespace0.0 >/tmp/log 2>&1 || fail "no namespace: $(cat /tmp/log)"
memory 'namespace0.0 namespace fsdax .* has it'
memory 'pmem0 block fsdax .* not mounted'
ndctl create-namespace -f -m devdax -e namespace0.0 >/tmp/log 2>&1 || fail "no namespace: $(cat /tmp/log)"
memory 'dax0.0 dax devdax .* programs map the file in multiples of 2 MiB'
daxctl reconfigure-device --no-online -m system-ram dax0.0 >/tmp/log 2>&1 || fail "no node of the NVDIMM: $(cat /tmp/log)"
memory 'dax0.0 dax system-ram .* is offline: daxctl online-memory dax0.0'
for block in $node/node3/memory*; do
    echo online_movable >"$block/state" || fail "$block stays offline"
done
[ "$(cat $node/has_memory)" = 0-3 ] || fail "nodes with memory: $(cat $node/has_memory)"
# 16 huge pages on the fast node alone.
echo 16 >$node/node1/hugepages/hugepages-2048kB/nr_hugepages
lstopo-no-graphics --no-io --ignore misc --of xml >$share/machine.xml
"$build/bin/memquery"
mount -t tmpfs none "$build/Testing"
ctest --test-dir "$build" --output-on-failure --no-tests=error -L '^tiers$' -R "$tests" >/tmp/report 2>&1 || result=1
cat /tmp/report
! grep -q 'Skipped' /tmp/report || fail 'a test was skipped'
echo $result >$share/result

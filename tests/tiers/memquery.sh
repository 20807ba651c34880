#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# memquery.sh MEMQUERY: the tiers of the machine of lane.sh, and the NUMA nodes of each memory space.
set -u
[ "$(cat /sys/devices/system/node/has_memory /sys/devices/system/node/has_cpu 2>/dev/null | tr '\n' ' ')" = '0-3 0 ' ] ||
    { echo 'skip: needs the virtual machine of ./cmake/bootstrap tiers'; exit 77; }
table=$("$1")
bad=0
for row in 'region0 region - 1.0 .* its namespaces have all of it' \
    'namespace0.0 namespace devdax 1.0 .* has it' 'dax0.0 dax system-ram 1.0 2 MiB 0 3 yes yes it is NUMA node 3' \
    'node0 dram .* 21.5 80 HMAT 0-1 -' 'node1 hbm .* 107.4 120 HMAT none -' 'node2 cxl .* 10.7 250 HMAT none -' \
    'node3 pmem .* 5.4 400 HMAT none -' 'high_bw node1 host node1 .* ok' 'large_cap node2 host node2 .* ok' \
    'low_lat node0 host node0 .* ALIAS alias of default: that is the memory of lowest latency here'; do
    printf '%s\n' "$table" | tr -s ' ' | grep -q "^$row\$" || { echo "not told: $row"; bad=1; }
done
[ "$bad" -eq 0 ] || printf '%s\n' "$table"
exit $bad

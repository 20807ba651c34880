#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lane.sh BUILD [REGEX]: the tests labelled tiers, of the folder BUILD, in a virtual machine (tests/guest) with
# four NUMA nodes, of which the firmware's table (HMAT) says:
#   0  processors, 1 GiB          80 ns   20 GB/s
#   1  no processors, 512 MiB    120 ns  100 GB/s
#   2  no processors, 2 GiB      250 ns   10 GB/s
#   3  an NVDIMM of 1 GiB        400 ns    5 GB/s   (devdax, then memory by the module kmem)
# guest.sh is what runs there. TIERS_LIMIT: seconds until the machine is ended (900).
# The topology that hwloc sees there is left in build/guest/tiers/share/machine.xml.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
name=tiers
modules='libnvdimm nfit nd_pmem device_dax dax_pmem kmem'
. "$tree/tests/guest/guest.sh"

# hmat NODE LATENCY BANDWIDTH: as seen from the processors, which are node 0's.
hmat() {
    printf '%s\n' -numa "hmat-lb,initiator=0,target=$1,hierarchy=memory,data-type=access-latency,latency=$2" \
        -numa "hmat-lb,initiator=0,target=$1,hierarchy=memory,data-type=access-bandwidth,bandwidth=$3"
}

# distances: every pair of nodes, the numbers growing with the latency.
distances() {
    for pair in 0:1:15 0:2:20 0:3:30 1:2:25 1:3:35 2:3:40; do
        from=${pair%%:*} rest=${pair#*:}
        printf '%s\n' -numa "dist,src=$from,dst=${rest%%:*},val=${rest##*:}" \
            -numa "dist,src=${rest%%:*},dst=$from,val=${rest##*:}"
    done
}

[ $# -ge 1 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
guest_check ndctl:ndctl daxctl:daxctl lstopo-no-graphics:hwloc-nox
guest_prepare "$here/guest.sh"
mkdir -p "$build/Testing"
printf '%s\n' "$build" >"$share/build"
printf '%s\n' "${2-.}" >"$share/tests"
# shellcheck disable=SC2046 # words without blanks
guest_run "${TIERS_LIMIT:-900}" -machine q35,hmat=on,nvdimm=on -m 3584M,slots=2,maxmem=8G \
    -object memory-backend-ram,id=m0,size=1G -numa node,nodeid=0,cpus=0-1,memdev=m0 \
    -object memory-backend-ram,id=m1,size=512M -numa node,nodeid=1,memdev=m1,initiator=0 \
    -object memory-backend-ram,id=m2,size=2G -numa node,nodeid=2,memdev=m2,initiator=0 \
    -numa node,nodeid=3,initiator=0 \
    -object memory-backend-ram,id=nv3,size=1026M,share=on \
    -device nvdimm,memdev=nv3,node=3,unarmed=off,label-size=2M \
    $(distances; hmat 0 80 20G; hmat 1 120 100G; hmat 2 250 10G; hmat 3 400 5G)

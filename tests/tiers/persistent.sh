#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# persistent.sh BUILD [KILLS [CUTS]]: persistent partitions in a virtual machine (tests/guest) with two NVDIMMs: a DAX device,
# ext4 with -o dax, and ext4 on a loop device, with jobs that are killed KILLS times on each (10).
# Then the machine's power is cut CUTS times while a job works on ext4 with -o dax (0).
# PERSISTENT_LIMIT: seconds until the machine is ended (900).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../.." && pwd)
name=persistent
modules='libnvdimm nfit nd_pmem device_dax dax_pmem ext4 loop'
. "$tree/tests/guest/guest.sh"

[ $# -ge 1 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
guest_check ndctl:ndctl mkfs.ext4:e2fsprogs
guest_prepare "$here/persistent_guest.sh"
cp "$tree/tests/shmem/persistent/killed.sh" "$build/tests/shmem/persistent/"
printf '%s\n' "$build/tests/shmem/persistent" >"$share/tests"
printf '%s\n' "${2-10}" >"$share/kills"
nvdimm() {
    printf '%s\n' -object "$1,id=nv$2,size=130M,share=on" -device "nvdimm,memdev=nv$2,unarmed=off,label-size=2M"
}

# shellcheck disable=SC2046 # words without blanks
machine() {
    guest_run "$1" -machine q35,nvdimm=on,nvdimm-persistence=mem-ctrl -m 2048M,slots=2,maxmem=4G $2
}

machine "${PERSISTENT_LIMIT:-900}" "$(nvdimm memory-backend-ram 0; nvdimm memory-backend-ram 1)"
[ "${3-0}" -gt 0 ] || exit 0

# The NVDIMM is a file, and outlives its machine.
memory=$place/nvdimm
rm -f "$memory"
truncate -s 130M "$memory"
: >"$share/cuts"
cut=KILL
number=0
while [ "$number" -lt "$3" ]; do
    number=$((number + 1))
    rm -f "$share/result"
    (machine "$(awk -v n="$number" -v s="$$" 'BEGIN { srand(n * 7919 + s); print 14 + 16 * rand() }')" \
        "$(nvdimm "memory-backend-file,mem-path=$memory" 0)") >"$place/cut.$number" 2>&1 || true
    [ ! -e "$share/result" ] || { cat "$place/cut.$number"; say "cut $number: failed"; exit 1; }
done
say "$number cuts, after which $(cat "$place"/cut.* | grep -c 'has checked') jobs have checked"
rm -f "$memory"

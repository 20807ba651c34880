#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# roce.sh BUILD [REGEX]: OpenSHMEM's tests over RDMA verbs without a card, by soft RoCE in a virtual machine
# (tests/guest): the fabrics roce-ucx (rc_verbs) and roce-ofi (verbs;ofi_rxm) of fabrics.cmake, in the folder
# BUILD. roce_guest.sh is what runs there: ctest, and the proof that verbs did the work.
# ROCE_LIMIT: seconds until the machine is ended (3000).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(CDPATH='' cd -- "$here/../../.." && pwd)
name=roce
modules='configfs dummy crc32_generic rdma_ucm rdma_rxe'
. "$tree/tests/guest/guest.sh"

[ $# -ge 1 ] || { sed -n '3,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(CDPATH='' cd -- "$1" && pwd)
guest_check rdma:iproute2
ls /usr/lib/*/libibverbs/librxe-rdmav*.so >/dev/null 2>&1 || guest_install ibverbs-providers
guest_prepare "$here/roce_guest.sh"
mkdir -p "$build/Testing"
printf '%s\n' "$build" >"$share/build"
printf '%s\n' "${2-.}" >"$share/tests"
guest_run "${ROCE_LIMIT:-3000}" -machine q35 -m 3072M

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hybrid.sh [-b BUILD] [-c CONTROL] [OPTION-OF-HYBRID...]
# All mini-apps in all forms, on one host and between two over UCX: `memspan-bench hybrid` on the first of
# two hosts made of network namespaces (as root). -b: build folder (build/release). -c: congestion control of the
# hosts' TCP, as for bench/network.sh.
set -eu

build=build/release
while [ $# -ge 2 ]; do
    case $1 in
    -b) build=$2 ;;
    -c) export TWO_HOSTS_CONTROL="$2" ;;
    *) break ;;
    esac
    shift 2
done
[ -n "${TWO_HOSTS_MPIRUN:-}" ] ||
    exec "$(dirname "$(readlink -f "$0")")/../../tests/shmem/fabrics/two_hosts.sh" exec "$0" -b "$build" "$@"
exec "$build/bin/memspan-bench" hybrid "$@" --hosts "$TWO_HOSTS_MPIRUN --host 10.9.0.1:64,10.9.0.2:64 \
--map-by node -x MEMSPAN_SHMEM_TRANSPORT=smp,ucx"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# differ.sh PROGRAM VERSION: what must be the same on two hosts and is not ends the job, with the names of a PE and its
# host. VERSION is a library that makes Memspan another version.
set -u
program=$1
version=$2
hosts=$(dirname "$0")/../fabrics/two_hosts.sh
bad=0
[ -z "${ASAN_OPTIONS-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
export TWO_HOSTS_MAP=slot

# differ NAME VARIABLE=VALUE WORDS: the variable is set on host b alone; 77 where there cannot be two hosts.
differ() {
    # shellcheck disable=SC2016
    said=$(timeout 60 "$hosts" run 4 sh -c '[ "$(hostname)" = host-a ] || export "$1"; exec "$0"' "$program" "$2" 2>&1)
    code=$?
    [ $code -ne 77 ] || { echo "$said"; exit 77; }
    { [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "$1: status $code: $said"; bad=1; }
    echo "$said" | grep -qE -- "^memspan: PE [0-3] of 4: .*$3" || { echo "$1: not said: $3: $said"; bad=1; }
}

differ size SHMEM_SYMMETRIC_SIZE=7m 'SHMEM_SYMMETRIC_SIZE differs between PE 0 and PE 2 on host-b'
differ partition SHMEM_SYMMETRIC_PARTITION2=1m 'SHMEM_SYMMETRIC_PARTITION2 differs between PE 0 and PE 2 on host-b'
differ network MEMSPAN_SHMEM_TRANSPORT=ofi 'PE [0-3] on host-(a|b) uses (the network )?ofi'
if [ -z "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" ]; then # whose libraries must come first
    differ version "LD_PRELOAD=$version" \
        'PE ([01] on host-a|[23] on host-b) runs another version of Memspan \(0\.[01]\.[01]\) than PE [0-3]'
fi
exit $bad

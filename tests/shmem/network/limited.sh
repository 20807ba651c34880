#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# limited.sh OSHRUN PROGRAM: memory that the network may not lock is reached by messages. That is said once by each PE,
# with the limit and the remedy; with SHMEMX_STRICT_PARTITIONS it ends the job.
set -u
oshrun=$1
program=$2
bad=0
words='cannot be registered; the limit of locked memory \(RLIMIT_MEMLOCK\) is 1 MiB.*ulimit -l unlimited'
# shellcheck disable=SC3045 # dash and bash have it; another shell skips
ulimit -l 1024 2>/dev/null || { echo 'skip: no limit of locked memory can be set'; exit 77; }

said=$(timeout 100 "$oshrun" -n 2 "$program" 2>&1) || { echo "status $?: $said"; bad=1; }
[ "$(echo "$said" | grep -cE -- "warning: .*$words")" -eq 2 ] || { echo "not said twice: $said"; bad=1; }
said=$(SHMEMX_STRICT_PARTITIONS=1 SHMEM_SYMMETRIC_PARTITION1=512m timeout 100 "$oshrun" -n 2 "$program" 2>&1)
code=$?
{ [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "strict: status $code: $said"; bad=1; }
echo "$said" | grep -qE -- "^memspan: PE [01] of 2: registering symmetric memory.*$words" || { echo "strict: $said"; bad=1; }
exit $bad

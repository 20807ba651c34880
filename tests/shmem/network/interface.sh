#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# interface.sh OSHRUN PROGRAM LISTEN: the transport tcp uses the interfaces that are named, and a name that the host does not
# have ends the job.
set -u
oshrun=$1
program=$2
listen=$3
bad=0
export SHMEMX_TRANSPORT=tcp:1

said=$(SHMEMX_TCP_INTERFACE=lo timeout 100 "$oshrun" -n 2 "$program" 2>&1) || { echo "lo: status $?: $said"; bad=1; }
SHMEMX_TCP_INTERFACE=lo timeout 100 "$oshrun" -n 2 "$listen" || { echo "lo: it listens elsewhere"; bad=1; }
for names in none0 lo,none0; do
    said=$(SHMEMX_TCP_INTERFACE=$names timeout 100 "$oshrun" -n 2 "$program" 2>&1)
    code=$?
    { [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "$names: status $code"; bad=1; }
    echo "$said" | grep -q 'this host has no interface none0' || { echo "$names: $said"; bad=1; }
done
exit $bad

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused.sh OSHRUN PROGRAM DRIVERS [REAL]: orders of transports that reach no other host end the job with the reason of
# each; those behind a driver that fails are tried. DRIVERS is a folder of bad drivers. REAL: a driver that works.
set -u
oshrun=$1
program=$2
drivers=$3
real=${4-}
bad=0

# said NAME WORDS...
said() {
    name=$1
    shift
    for words in "$@"; do
        case $text in
        *"$words"*) ;;
        *) echo "$name: \"$words\" is not in: $text"; bad=1 ;;
        esac
    done
}

# refused NAME VARIABLE=VALUE WORDS...
refused() {
    name=$1 setting=$2
    shift 2
    text=$(env SHMEMX_DRIVER_PATH="/nowhere:$drivers" "$setting" timeout 60 "$oshrun" -n 2 "$program" 2>&1)
    code=$?
    { [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "$name: status $code: $text"; bad=1; }
    said "$name" "$@"
}

refused no_driver SHMEMX_TRANSPORT=text:1 shmem_text.so
refused no_entry SHMEMX_TRANSPORT=empty:1 shmem_empty.so 'it has no memspan_network_driver'
refused old SHMEMX_TRANSPORT=old:1 shmem_old.so 'of version 99, this library takes 3' 'install the plug-ins'
refused closed SHMEMX_TRANSPORT=closed:1 'the 1 of 2 PEs that are on other hosts' 'the example does not open' \
    'example_open' 'no device' 'plug one in'
refused all MEMSPAN_SHMEM_TRANSPORT=old,closed,smp 'of version 99' 'the example does not open'
refused path SHMEMX_TRANSPORT=../closed 'there is no such transport'
refused none MEMSPAN_SHMEM_TRANSPORT=smp,none 'MEMSPAN_SHMEM_TRANSPORT=none: there is no such transport' 'transports here are smp' ', tcp'
refused empty MEMSPAN_SHMEM_TRANSPORT= 'MEMSPAN_SHMEM_TRANSPORT=: there is no such transport'
refused many MEMSPAN_SHMEM_TRANSPORT=closed,closed,closed,closed,closed,closed,closed,closed,closed '8 names'

# Without a launcher, too.
text=$(env MEMSPAN_SHMEM_TRANSPORT= timeout 60 "$program" 2>&1) && { echo "alone: $text"; bad=1; }
said alone 'MEMSPAN_SHMEM_TRANSPORT=: there is no such transport'

# One host opens none.
text=$(env SHMEMX_DRIVER_PATH="$drivers" MEMSPAN_SHMEM_TRANSPORT=smp,old,closed timeout 60 "$oshrun" -n 2 "$program" 2>&1) ||
    { echo "one host: $text"; bad=1; }

if [ -n "$real" ]; then
    text=$(env SHMEMX_DRIVER_PATH="$drivers" MEMSPAN_SHMEM_TRANSPORT="closed,$real" SHMEM_INFO=1 timeout 60 "$oshrun" -n 2 \
        "$program" 2>&1) || { echo "next: $text"; bad=1; }
    said next "transport $real: PEs of other hosts, 1; the next of closed,$real that works here" 'not closed: ' 'no device'
fi
exit $bad

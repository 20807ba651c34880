#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# waits.sh PROGRAM: what MEMSPAN_DEBUG=queues and MEMSPAN_STATS=exit print of waits.c.
set -u
bad=0
said=$(MEMSPAN_STATS=exit MEMSPAN_DEBUG=queues "$1" 2>&1) || { echo "$said"; exit 1; }
# expect PATTERN: a line is like it.
expect() {
    echo "$said" | grep -q -- "$1" || { echo "no line is like: $1"; bad=1; }
}

expect '^memspan queues: the host waited 3 times, [0-9]* us: memspan_free_on() of an object of up to 8 KiB'
expect '^  called by   free_object+0x[0-9a-f]* at waits.c:'
expect '^memspan queues: 3 waits of the host, [0-9]* us, in all$'
expect '^memspan stats queue:1\.1 device=0 allocated=3 reused_in_order=1 reused_after_event=[01] reused_after_wait=[01] freed=6 freed_after_wait=3 kept_bytes=[1-9][0-9]* called=1 called_after_wait=0 waited_ns=[1-9]'
expect '^memspan stats queues closed=1 allocated=1 reused_in_order=0 reused_after_event=1 reused_after_wait=0 freed=1 freed_after_wait=0 kept_bytes=0 called=0 called_after_wait=0 waited_ns='
[ "$(echo "$said" | grep -c '^memspan queues: the host waited')" -eq 1 ] || bad=1
said=$("$1" 2>&1)
[ -z "$said" ] || bad=1
[ "$bad" -eq 0 ] || echo "$said"
exit "$bad"

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# waits.sh PROGRAM: what MEMSPAN_DEBUG=queues and MEMSPAN_STATS=exit print of waits.c, and its trace.
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
# The same with a trace: it changes nothing of the queues, and has a row of each.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
said=$(MEMSPAN_TRACE="$work/trace" MEMSPAN_STATS=exit "$1" 2>&1)
expect '^memspan stats queue:1\.1 device=0 allocated=3 reused_in_order=1 .* freed=6 freed_after_wait=3'
if command -v jq >/dev/null; then
    # holds WHAT EXPRESSION: it is true of the events of queue 1 (row a) and queue 2 (row b).
    holds() {
        jq -e ".traceEvents as \$e
            | (\$e[] | select(.args.name? == \"queue:1.1 device 0\") | .tid) as \$a
            | (\$e[] | select(.args.name? == \"queue:2.1 device 0\") | .tid) as \$b
            | $2" "$work/trace" >/dev/null || { echo "the trace: $1 does not hold"; bad=1; }
    }
    # shellcheck disable=SC2016 # the variables are those of jq
    {
        holds 'calls of queue 1' '[$e[] | select(.cat == "queue" and .tid == $a) | .name] | sort ==
            (["alloc", "alloc in order", "alloc of another queue", "call", "event", "free", "free", "free",
              "free after a wait", "free after a wait", "free after a wait", "host waits",
              "host waits", "host waits", "order", "order", "synchronize", "wait"])'
        holds 'arrows' '[$e[] | select(.name == "order") | [.ph, .tid]] ==
            [["s", $a], ["f", $b], ["s", $b], ["f", $a]]'
        holds 'blocks' '[$e[] | select(.cat == "block" and .args.size == 1048576) | .name] ==
            ["alloc", "free", "alloc", "free", "alloc", "free", "alloc", "free"]'
    }
fi
said=$("$1" 2>&1)
[ -z "$said" ] || bad=1
[ "$bad" -eq 0 ] || echo "$said"
exit "$bad"

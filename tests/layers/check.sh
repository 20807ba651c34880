#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh ROOT: do includes go one way, is there one place that reads the environment, and does
# the core name no backend? Each violation is a line "file:line: rule: text" on standard output;
# exit 1 when there is one.
#
# Each room may include what stands left of it, and itself:
#   include/  <-  core/base  <-  topology  <-  device  <-  engine  <-  debug  <-  core  <-  core/omp
# core/symmetric: core/base and core/engine/fit.h. backends/NAME: include/, core/base, core/topology, backends/gpu
# and itself. shmem: include/, core/base, core/topology, and core/symmetric/symmetric_heap.h. cmd, bench, tests: include/ and themselves;
# bench cmd/common too. A unit
# test may open its room: tests/unit, tests/fakes, tests/intel, tests/fuzz, tests/interleave,
# tests/shmem/network, tests/shmem/scale and tests/programs/*_contract.c
# (which need a compiler of their own) any of the library, tests/bench bench and
# cmd/common, tests/cmd and tests/memquery cmd.
# Headers of the system and of drivers are not ours to judge.
set -eu
root=${1:?usage: check.sh ROOT}
here=$(cd "$(dirname "$0")" && pwd)
cd "$root"

files=$(find include core backends shmem cmd bench tests -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' \) 2>/dev/null | sort)
backends=$(find backends -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sed 's|.*/||' | grep -vxE 'host|gpu' | tr '\n' ' ')
[ -n "$files" ] || { echo "no sources under $root" >&2; exit 2; }

# shellcheck disable=SC2086 # the list is words
awk -v backends="$backends" "$(cat "$here/rooms.awk")"'
function dirname(path) { sub(/\/[^\/]*$/, "", path); return path }

# The room of a file, most special first.
function room_of(path) {
    if (path ~ /^include\//) return "include"
    if (sub(/^core\//, "", path)) return core_room(path)
    if (path ~ /^shmem\//) return "shmem"
    if (path ~ /^backends\/[^\/]*\//) { split(path, part, "/"); return "backends/" part[2] }
    if (path ~ /^cmd\/common\//) return "cmd/common"
    if (path ~ /^cmd\//) return "cmd"
    if (path ~ /^bench\//) return "bench"
    if (path ~ /^tests\/unit\//) return "unit"
    if (path ~ /^tests\/(fakes|fuzz|intel|interleave|shmem\/(network|scale))\// || path ~ /^tests\/programs\/.*_contract\.c$/) return "unit"
    if (path ~ /^tests\/bench\//) return "tests of bench"
    if (path ~ /^tests\/(cmd|memquery)\//) return "tests of cmd"
    if (path ~ /^tests\//) return "tests"
    return ""
}

function is_allowed(from, to) {
    if (from == to || to == "include") return from != "include" || to == "include"
    if (from == "unit") return to !~ "^cmd" && to != "bench"
    if (to == "cmd/common" && from ~ /^((tests of )?(cmd|bench))$/) return 1
    if (from ~ /^tests of /) return to == substr(from, 10) || to == "tests"
    if (from ~ /^backends\// && to == "backends/gpu") return 1
    if (from ~ /^backends\// || from == "shmem") return to == "base" || to == "topology"
    return core_may_use(from, to)
}

# The path from the root of a header that is ours, or "".
function ours(name, quoted, file,    path) {
    if (name ~ /^memspan\//) return "include/" name
    if (name ~ /^(core|backends|cmd|bench|tests|include)\//) return name
    if (!quoted || name ~ /\.\.\//) return quoted ? "outside" : ""
    path = dirname(file) "/" name
    return path
}

function report(rule) { printf "%s:%d: %s: %s\n", FILENAME, FNR, rule, $0; bad = 1 }

# Comments gone, so that prose may say what code may not.
function code(line) {
    if (in_comment) {
        if (!match(line, /\*\//)) return ""
        line = substr(line, RSTART + 2)
        in_comment = 0
    }
    while (match(line, /\/\*([^*]|\*+[^*\/])*\*+\//))
        line = substr(line, 1, RSTART - 1) " " substr(line, RSTART + RLENGTH)
    if (match(line, /\/\*/)) { line = substr(line, 1, RSTART - 1); in_comment = 1 }
    sub(/\/\/.*/, "", line)
    return line
}

BEGIN { backend_count = split(backends, backend, " ") }
FNR == 1 { in_comment = 0; here = room_of(FILENAME); is_core = (FILENAME ~ /^core\//) }

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    name = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
    quoted = (substr(name, 1, 1) == "\"")
    name = substr(name, 2)
    sub(/[">].*/, "", name)
    target = ours(name, quoted, FILENAME)
    if (target == "outside") { report("path goes up"); next }
    if (target != "") {
        to = room_of(target)
        if (here == "shmem" && target == "core/symmetric/symmetric_heap.h") next
        if (here == "symmetric" && target == "core/engine/fit.h") next
        if (!is_allowed(here, to)) report(here " may not include " (to == "" ? target : to))
        if (quoted && to == "include") report("public headers are included with <>")
    }
    next
}
{
    text = code($0)
    if (text == "") next
    if ((is_core || here ~ /^(shmem|backends\/)/) && FILENAME != "core/base/variable.c" \
        && FILENAME != "shmem/network/ucx/setting.c" \
        && text ~ /(^|[^A-Za-z0-9_])(secure_getenv|getenv|environ)([^A-Za-z0-9_]|$)/)
        report("only core/base/variable.c (shmem/network/ucx/setting.c for UCX) reads the environment")
    if (here ~ /^(cmd|bench)/ && FILENAME != "cmd/common/environment.c" && text ~ /getenv[ ]*\(/)
        report("only cmd/common/environment.c reads the environment")
    if (is_core && FILENAME != "core/omp/interop.c") # which names foreign runtimes of OpenMP
        for (i = 1; i <= backend_count; i++)
            if (text ~ "msp_backend_" backend[i] "([^A-Za-z0-9_]|$)" \
                || (here !~ /^(base|topology)$/ && index(text, "\"" backend[i] "\"")))
                report("the core names the backend " backend[i])
}
END { exit bad }
' $files

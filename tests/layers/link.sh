#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# link.sh OBJECT;OBJECT...: do symbols go one way, as includes do (check.sh)? An object of a room of
# core refers to no symbol that a room above it defines. Each violation is a line; exit 1 when there
# is one. No violations: a weak reference to core/omp (core/base/omp_hook.h), a backend's use of the
# public interface, the table of built-in backends, which the build generates.
set -eu
objects=${1:?usage: link.sh OBJECTS}
here=$(cd "$(dirname "$0")" && pwd)

set -f
IFS=';'
# shellcheck disable=SC2086 # the list is words
nm -A --format=posix $objects | awk "$(cat "$here/rooms.awk")"'
function path_of(object) {
    sub(/.*memspan-objects\.dir\/(\.\/)?/, "", object)
    sub(/:$/, "", object)
    return object
}
function room_of(object) {
    object = path_of(object)
    if (object ~ /^(__\/)?backends\//) return "backends"
    if (object ~ /generated\/backends_built_in/) return "generated"
    return core_room(object)
}
function may_use(from, to, symbol, weak) {
    if (to == "omp" && weak) return 1
    if (from == "backends") return symbol ~ /^memspan_/ || to == "base" || to == "topology" || to == "backends"
    if (from == "generated") return to == "backends"
    if (from == "device" && to == "generated") return 1
    if (from == "symmetric" && to == "engine") return 1 # fit.h alone: check.sh
    return core_may_use(from, to)
}
$3 ~ /^[A-TV-Z]$/ { defined_in[$2] = $1; count++ }
$3 ~ /^[Uwv]$/ { user[++users] = $1; used[users] = $2; is_weak[users] = ($3 != "U") }
END {
    if (count < 500) { print "only " count " symbols were found: is the pattern right?"; bad = 1 }
    for (i = 1; i <= users; i++) {
        if (!(used[i] in defined_in)) continue
        from = room_of(user[i])
        to = room_of(defined_in[used[i]])
        if (!may_use(from, to, used[i], is_weak[i])) {
            print path_of(user[i]) ": " from " may not use " used[i] " of " to
            bad = 1
        }
    }
    exit bad
}'

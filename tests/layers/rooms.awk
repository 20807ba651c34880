# SPDX-License-Identifier: BSD-3-Clause
# The rooms of core, and which one may use which: by include (check.sh) and by link (link.sh).
function core_room(path,    part) { # a path below core/
    return (split(path, part, "/") > 1) ? part[1] : "core"
}
function level(room) {
    return index(" base topology device engine debug core omp ", " " room " ")
}
function core_may_use(from, to) {
    if (from == to) return 1
    if (from == "symmetric") return to == "base"
    return level(from) > 0 && level(to) > 0 && level(to) < level(from)
}

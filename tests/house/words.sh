#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# words.sh [--count]: no retired word (retired_words.txt) is in sources, scripts, manual pages or documents, also
# where a line ends between its words. The glossary and the recorded results of bench are left out. --count prints a
# table, words by rooms.
set -eu
cd "$(dirname "$0")/../.."
house=tests/house

files() {
    find ./*.md CMakeLists.txt include core backends shmem cmd bench tests cmake findings -path bench/results -prune -o -type f \( \
        -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.md' -o -name '*.[1-9]' -o -name '*.sh' -o -name '*.py' -o -name '*.cmake' \
        -o -name CMakeLists.txt -o -path cmake/bootstrap \) ! -path "$house/words.sh" \
        ! -path core/GLOSSARY.md -print | sed 's|^\./||' | sort
}

files | xargs awk -v count="${1-}" -v list="$house/retired_words.txt" '
function room(file) {
    return (file ~ /\//) ? substr(file, 1, index(file, "/") - 1) : "documents"
}
BEGIN {
    while ((getline line <list) > 0) {
        if (line ~ /^(#|$)/) { continue }
        # A term may have a semicolon in it: the last two fields are texts and files.
        fields = split(line " ", part, / *; */)
        n++
        exact[n] = part[1] ~ /[A-Z]/
        pattern[n] = "(^|[^A-Za-z])(" part[1] ")($|[^A-Za-z])"
        word[n] = part[1]
        files[n] = part[fields]; sub(/ +$/, "", files[n])
        text[n] = part[fields - 1]
        term[n] = part[2]
        for (i = 3; i < fields - 1; i++) { term[n] = term[n] "; " part[i] }
        only[n] = sub(/^only /, "", files[n])
    }
    if (n < 10) { print "retired_words.txt has no words"; failed = 1; exit }
}
# The text of a line: no mark of a comment or of a string literal at its ends.
function bare(line) {
    sub(/^[ \t]*(\/?\*+|\/\/+|#+|\.\\")?[ \t]*"?/, "", line)
    sub(/["*\/ \t]+$/, "", line)
    return line
}
function dots(n,    s) {
    for (s = ""; n > 0; n--) { s = s "." }
    return s
}
# Words of `line` that begin in it, read with two words of the lines before and after.
function check(file, number, before, line, after,    i, rest, cut, start, end, at, all, lower, part) {
    i = split(before, part, " ")
    before = part[i - 1] " " part[i]
    split(after, part, " ")
    after = part[1] " " part[2]
    start = length(before) + 2
    end = start + length(line)
    all = before " " line " " after
    lower = tolower(all)
    for (i = 1; i <= n; i++) {
        if (!asked[i]) { continue }
        rest = exact[i] ? all : lower
        if (rest !~ word[i]) { continue }
        while ((text[i] != "") && match(rest, text[i])) {
            rest = substr(rest, 1, RSTART - 1) dots(RLENGTH) substr(rest, RSTART + RLENGTH)
        }
        cut = 0
        while (match(rest, pattern[i])) {
            at = cut + RSTART + (substr(rest, RSTART, 1) ~ /[^A-Za-z]/)
            if ((at >= start) && (at < end)) {
                found[i, here]++; total[here]++
                if (count != "--count") {
                    failed = 1
                    printf "%s:%d: \"%s\": say %s\n", file, number, substr(rest, RSTART, RLENGTH), term[i]
                }
            }
            cut += RSTART + RLENGTH - 2
            rest = substr(rest, RSTART + RLENGTH - 1)
            if (length(rest) < 2) { break }
        }
    }
}
function flush(after) {
    if (number > 0) { check(file, number, before, line, after) }
    before = line
}
FNR == 1 {
    flush("")
    before = ""; number = 0
    file = FILENAME; here = room(FILENAME); rooms[here] = 1
    for (i = 1; i <= n; i++) { asked[i] = (files[i] == "") || ((FILENAME ~ files[i]) == only[i]) }
}
{
    next_line = $0
    if (file ~ /\.md$/) { gsub(/`[^`]*`/, "`", next_line) } # code that is quoted is looked at where it stands
    next_line = bare(next_line)
    if (FNR > 1) { flush(next_line) }
    line = next_line; number = FNR
}
END {
    flush("")
    if (failed) { exit 1 }
    if (count == "--count") {
        printf "%-52s", "word"
        for (r in rooms) { printf "%10s", r }
        printf "%10s\n", "all"
        for (i = 1; i <= n + 1; i++) {
            sum = 0
            printf "%-52s", (i > n) ? "all" : substr(word[i], 1, 51)
            for (r in rooms) { c = (i > n) ? total[r] : found[i, r]; sum += c; printf "%10d", c }
            printf "%10d\n", sum
        }
    }
}'

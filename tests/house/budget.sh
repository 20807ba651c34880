#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# budget.sh [--print]: the lines of each room, against budget.txt. A change that needs more raises the
# room's number in the same commit, whose message has the reason. Tests of tests (self_test*) stay
# below 3 % of the tests' lines. --print writes the file: what there is, rounded up.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

# "ROOM LINES", a line each: a folder of the first level, or of the second in those that have many.
count() {
    find core backends shmem include cmd tests bench cmake findings -type f ! -name budget.txt -exec wc -l {} + |
        awk '$2 != "total" {
                parts = split($2, part, "/")
                room = part[1]
                if (parts > 2 && room ~ /^(core|backends|shmem|cmd|tests|bench)$/) { room = room "/" part[2] }
                lines[room] += $1
            }
            END { for (room in lines) { print room, lines[room] } }' | sort
}

if [ "${1-}" = --print ]; then
    echo '# Room, and the lines that it may have (budget.sh).'
    count | awk '{ print $1, int(($2 + 99) / 100) * 100 }'
    exit 0
fi
count | awk '
    FILENAME != "-" && /^[^#]/ { budget[$1] = $2 }
    FILENAME == "-" && !($1 in budget) { print $1 ": no budget (budget.txt)"; bad = 1; next }
    FILENAME == "-" && $2 > budget[$1] {
        print $1 ": " $2 " lines, budget " budget[$1] ": make it smaller, or raise it in budget.txt with the reason"
        bad = 1
    }
    FILENAME == "-" { seen[$1] = 1 }
    END {
        for (room in budget) { if (!(room in seen)) { print room ": a budget for no room"; bad = 1 } }
        exit bad
    }' "$here/budget.txt" -
find tests -type f -exec wc -l {} + | awk '
    $2 != "total" { all += $1 }
    $2 ~ /self_test/ { of_tests += $1 }
    END {
        if (of_tests > 0.03 * all) { print "tests of tests: " of_tests " of " all " lines, more than 3 %"; exit 1 }
    }'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What CONTRIBUTING.md asks of every file and a program can see: the licence in the first lines, its
# own name where it names itself, no file that is too long to read, no space at the end of a line,
# and the format of .clang-format by the version that it is written for.
set -eu
cd "$(dirname "$0")/../.."
lines_max=700
bad=0
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT INT TERM

complain() {
    echo "$*"
    bad=1
}

sources() {
    find core include backends shmem cmd bench tests \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print
}

scripts() {
    find CMakeLists.txt .ci core include backends shmem cmd bench tests cmake findings -type f \
        \( -name CMakeLists.txt -o -name '*.cmake' -o -name '*.sh' -o -name '*.py' -o -path .ci/run -o -name bootstrap \)
}

# licensed LINES: the files named on standard input have the licence in the first so many lines.
licensed() {
    xargs awk -v lines="$1" '
        FNR <= lines && index($0, "SPDX-License-Identifier: BSD-3-Clause") > 0 { has[FILENAME] = 1 }
        END {
            for (i = 1; i < ARGC; i++) {
                if (!(ARGV[i] in has)) { print ARGV[i] ": no SPDX licence in line 1 to " lines; bad = 1 }
            }
            exit bad
        }' || bad=1
}
sources >"$scratch"
licensed 1 <"$scratch"
xargs awk -v lines_max="$lines_max" '
    FNR == 2 && match($0, /^\/\* [a-z0-9_]+\.c: /) {
        name = substr($0, 4, RLENGTH - 5)
        file = FILENAME
        sub(/.*\//, "", file)
        if (name != file) { print FILENAME ": opens as " name; bad = 1 }
    }
    FNR == lines_max + 1 { print FILENAME ": more than " lines_max " lines"; bad = 1 }
    END { exit bad }' <"$scratch" || bad=1
scripts >"$scratch"
licensed 2 <"$scratch"
xargs wc -l <"$scratch" | awk -v most="$lines_max" '$1 > most && $2 != "total" { print $2 ": more than " most " lines"; bad = 1 } END { exit bad }' || bad=1
if grep -rnE '[[:blank:]]+$' --include='*.[ch]' --include='*.[ch]pp' --include='*.sh' --include='*.py' --include='*.cmake' \
    --include='CMakeLists.txt' core include backends shmem cmd bench tests cmake findings; then
    complain 'space at the end of a line'
fi
# ctest takes nine pairs of parentheses in an expression, and with more leaves out nothing, in silence.
awk '/"(name|label)": "\^/ && gsub(/\(/, "(") > 9 { print "CMakePresets.json:" FNR ": too many parentheses for ctest"; bad = 1 }
    END { exit bad }' CMakePresets.json || bad=1
[ "$bad" -eq 0 ] || exit 1

# Another version formats some things otherwise.
for formatter in clang-format-14 clang-format; do
    case $($formatter --version 2>/dev/null || true) in
    *'version 14.'*)
        sources | xargs -n 50 -P "$(nproc)" "$formatter" --dry-run -Werror
        exit
        ;;
    esac
done
echo 'skip: no clang-format 14; all but the format is as it should be'
exit 77

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What CONTRIBUTING.md asks of every file and a program can see: the licence in the first lines, its
# own name where it names itself, no file that is too long to read, no space at the end of a line,
# and the format of .clang-format by the version that it is written for.
set -eu
cd "$(dirname "$0")/../.."
lines_max=700
bad=0

complain() {
    echo "$*"
    bad=1
}

sources() {
    find core include backends shmem cmd bench tests \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -print
}

scripts() {
    find CMakeLists.txt .ci core include backends shmem cmd bench tests cmake -type f \
        \( -name CMakeLists.txt -o -name '*.cmake' -o -name '*.sh' -o -path .ci/run -o -name bootstrap \)
}

for file in $(sources); do
    head -n 1 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' ||
        complain "$file: the first line is not the SPDX licence"
    name=$(sed -n '2s|^/\* \([a-z0-9_]*\.c\): .*|\1|p' "$file")
    [ -z "$name" ] || [ "$name" = "${file##*/}" ] || complain "$file: opens as $name"
    lines=$(wc -l <"$file")
    [ "$lines" -le "$lines_max" ] || complain "$file: $lines lines, at most $lines_max"
done
for file in $(scripts); do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause' ||
        complain "$file: no SPDX licence in the first two lines"
done
if grep -rnE '[[:blank:]]+$' --include='*.[ch]' --include='*.[ch]pp' --include='*.sh' --include='*.cmake' \
    --include='CMakeLists.txt' core include backends shmem cmd bench tests cmake; then
    complain 'space at the end of a line'
fi
[ "$bad" -eq 0 ] || exit 1

# Another version formats some things otherwise.
for formatter in clang-format-14 clang-format; do
    case $($formatter --version 2>/dev/null || true) in
    *'version 14.'*)
        sources | xargs "$formatter" --dry-run -Werror
        exit
        ;;
    esac
done
echo 'skip: no clang-format 14; all but the format is as it should be'
exit 77

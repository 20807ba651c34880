#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh [--check] [ID...]: applies the changes of list.txt one at a time to a copy of the tree and
# reports which of them no test notices. README.md here says how entries are written.
#
# Exit codes: 0 every change is noticed; 1 some survive; 2 the list does not fit the code, or the
# copy cannot be built. CTEST_FOLDER=FOLDER with --check: where ctest knows the names of tests.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
source=$(CDPATH='' cd -- "$here/../.." && pwd)
list=${MUTATIONS_LIST:-$here/list.txt}
work=$source/build/mutations
tree=$work/tree

say() {
    printf '%s\n' "$*"
}

die() {
    say "mutations: $*" >&2
    exit 2
}

# field ID WORD: what follows the word in that entry.
field() {
    awk -v id="$1" -v word="$2" '
        $1 == "id"             { inside = ($2 == id) }
        inside && $1 == word   { sub(/^[a-z]+ ?/, ""); print; exit }
    ' "$list"
}

# How many lines of the file hold the text, and how often it stands in them.
occurrences() {
    TEXT=$2 awk 'BEGIN { text = ENVIRON["TEXT"] }
        { rest = $0; while ((i = index(rest, text)) > 0) { n++; rest = substr(rest, i + length(text)) } }
        END { print n + 0 }' "$1"
}

# mutate FILE FROM TO: to standard output.
mutate() {
    FROM=$2 TO=$3 awk 'BEGIN { from = ENVIRON["FROM"]; to = ENVIRON["TO"] }
        { i = index($0, from); if (i > 0) $0 = substr($0, 1, i - 1) to substr($0, i + length(from)); print }' "$1"
}

# What is wrong with the entry, or nothing.
fault() {
    file=$(field "$1" file) from=$(field "$1" from) tests=$(field "$1" tests)
    if [ -z "$file" ] || [ -z "$from" ] || [ -z "$tests" ] || [ -z "$(field "$1" why)" ]; then
        say 'file, from, tests or why is missing'
        return
    fi
    [ "$from" != "$(field "$1" to)" ] || say 'the change changes nothing'
    [ -f "$source/$file" ] || { say "there is no $file"; return; }
    count=$(occurrences "$source/$file" "$from")
    [ "$count" -eq 1 ] || say "\"$from\" occurs $count times in $file, not once"
    if [ -n "${names:-}" ] && ! printf '%s\n' "$names" | grep -qE "$tests"; then
        say "no test is called like $tests"
    fi
}

check() {
    names=
    if [ -n "${CTEST_FOLDER:-}" ]; then
        names=$(ctest --test-dir "$CTEST_FOLDER" -N | sed -n 's/^ *Test *#[0-9]*: //p')
    fi
    bad=0
    seen=
    for id in $ids; do
        case " $seen " in *" $id "*) say "$id: twice in the list"; bad=1 ;; esac
        seen="$seen $id"
        wrong=$(fault "$id")
        [ -z "$wrong" ] || { say "$id: $wrong"; bad=1; }
    done
    [ -n "$seen" ] || die "no entries in $list"
    [ "$bad" -eq 0 ] || exit 2
}

# The tree as it is here, without what git ignores.
copy_tree() {
    mkdir -p "$tree"
    (cd "$source" && git ls-files -z --cached --others --exclude-standard |
        tar -c --ignore-failed-read --null -T - -f - 2>/dev/null) | tar -x -f - -C "$tree"
}

build() {
    cmake --build "$tree/build/dev" >"$work/build.log" 2>&1
}

# noticed ID: 0 a test fails, 1 all pass, 2 the changed tree does not build.
noticed() {
    file=$(field "$1" file)
    mutate "$source/$file" "$(field "$1" from)" "$(field "$1" to)" >"$tree/$file"
    result=1
    if ! build; then
        result=2
    elif ! ctest --test-dir "$tree/build/dev" -R "$(field "$1" tests)" --no-tests=error --timeout 120 \
        --stop-on-failure -j2 >"$work/test.log" 2>&1 </dev/null; then
        result=0
    fi
    cp -p "$source/$file" "$tree/$file"
    touch "$tree/$file"
    return $result
}

[ -r "$list" ] || die "there is no $list"
only_check=0
[ "${1:-}" != --check ] || { only_check=1; shift; }
case ${1:-} in -*) die "no option $1; see tests/mutations/README.md" ;; esac
ids=$*
[ -n "$ids" ] || ids=$(awk '$1 == "id" { print $2 }' "$list")
check
[ "$only_check" -eq 0 ] || exit 0

rm -rf "$tree/tests" # tests that are gone must not be run
copy_tree
say 'mutations: building the tree as it is'
if ! (cd "$tree" && cmake --preset dev >"$work/build.log" 2>&1) || ! build; then
    die "the tree does not build; see $work/build.log"
fi
# A test that fails anyway would notice everything.
all=$(for id in $ids; do field "$id" tests; done | sort -u | sed 's/.*/(&)/' | paste -sd '|')
ctest --test-dir "$tree/build/dev" -R "$all" --no-tests=error -j2 >"$work/test.log" 2>&1 </dev/null ||
    die "tests fail in the tree as it is; see $work/test.log"
survived=0
count=0
for id in $ids; do
    count=$((count + 1))
    noticed "$id" && code=0 || code=$?
    case $code in
    0) say "noticed   $id" ;;
    1)
        say "SURVIVED  $id: $(field "$id" why)"
        survived=$((survived + 1))
        ;;
    *) die "$id: the changed tree does not build; see $work/build.log" ;;
    esac
done
say "$count changes, $survived survived"
[ "$survived" -eq 0 ]

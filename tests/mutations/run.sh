#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh [--check] [ID...]: applies the changes of list.txt one at a time to a copy of the tree and
# reports which of them no test notices. README.md here says how entries are written.
#
# Exit codes: 0 every change is noticed; 1 some survive, do not build, or cannot be judged; 2 the list
# does not fit the code, or the copy cannot be built. CTEST_FOLDER=FOLDER with --check: where ctest knows the names of tests.
# MUTATIONS_WORK=FOLDER: where the copy is (build/mutations): two runs at once have one each.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
source=$(CDPATH='' cd -- "$here/../.." && pwd)
list=${MUTATIONS_LIST:-$here/list.txt}
work=${MUTATIONS_WORK:-$source/build/mutations}
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

# mutate FILE FROM TO: to standard output.
mutate() {
    FROM=$2 TO=$3 awk 'BEGIN { from = ENVIRON["FROM"]; to = ENVIRON["TO"] }
        { i = index($0, from); if (i > 0) $0 = substr($0, 1, i - 1) to substr($0, i + length(from)); print }' "$1"
}

# What is wrong with the wanted entries, a line each.
faults() {
    SOURCE=$source IDS=$ids NAMES=$names awk '
        function say(words) { print id ": " words }
        # How often the text occurs; -1: there is no such file.
        function occurrences(path, text,    line, at, count, state) {
            if (text == "") return 0
            while ((state = getline line <path) > 0)
                while ((at = index(line, text)) > 0) { count++; line = substr(line, at + length(text)) }
            close(path)
            return (state < 0) ? -1 : count + 0
        }
        function judge(    count, i, found) {
            if (id == "" || !(id in wanted)) return
            if (seen[id]++) say("twice in the list")
            if (field["file"] == "" || field["from"] == "" || field["tests"] == "" || field["why"] == "") {
                say("file, from, tests or why is missing")
                return
            }
            if (field["from"] == field["to"]) say("the change changes nothing")
            count = occurrences(ENVIRON["SOURCE"] "/" field["file"], field["from"])
            if (count < 0) say("there is no " field["file"])
            else if (count != 1) say("\"" field["from"] "\" occurs " count " times in " field["file"] ", not once")
            for (i in name) if (name[i] ~ field["tests"]) { found = 1; break }
            if (ENVIRON["NAMES"] != "" && !found) say("no test is called like " field["tests"])
        }
        BEGIN {
            split(ENVIRON["IDS"], all)
            for (i in all) wanted[all[i]]
            split(ENVIRON["NAMES"], name, "\n")
        }
        $1 == "id" { judge(); id = $2; delete field; next }
        NF > 0     { word = $1; sub(/^[a-z]+ ?/, ""); if (!(word in field)) field[word] = $0 }
        END {
            judge()
            for (i in wanted) if (!(i in seen)) { id = i; say("not in the list") }
        }' "$list"
}

check() {
    names=
    if [ -n "${CTEST_FOLDER:-}" ]; then
        names=$(ctest --test-dir "$CTEST_FOLDER" -N | sed -n 's/^ *Test *#[0-9]*: //p')
    fi
    [ -n "$ids" ] || die "no entries in $list"
    wrong=$(faults)
    [ -z "$wrong" ] || { say "$wrong"; exit 2; }
}

# The tree as it is here, without what git ignores. A file of the same content keeps its time: one that
# was changed and put back is newer than its objects, and stays so.
copy_tree() {
    mkdir -p "$tree"
    # shellcheck disable=SC2016 # of the inner shell
    (cd "$source" && git ls-files -z --cached --others --exclude-standard | TREE=$tree xargs -0 sh -c '
        for file; do
            if [ -e "$file" ] && ! cmp -s "$file" "$TREE/$file"; then
                mkdir -p "$TREE/$(dirname "$file")" && cp -pP "$file" "$TREE/$file" && touch -h "$TREE/$file" || exit 255
            fi
        done' sh)
}

# build [TARGET...]
build() {
    ninja -C "$tree/build/dev" "$@" >"$work/build.log" 2>&1
}

# What tests of a pattern may run, as targets: the libraries and tools, and what their commands and
# environments name. "all" where they are told the build folder.
targets_of() {
    folder=$tree/build/dev
    grep -E '^(lib|bin)/[^/]*(/[^/]*[.]so)?$' "$work/targets"
    ctest --test-dir "$folder" -R "$1" --show-only=json-v1 2>/dev/null |
        jq -r '.tests[] | .command[]?, (.properties[]? | select(.name | startswith("ENVIRONMENT")) | .value[])' |
        tr ':=, ' '\n\n\n\n' | sort -u | while read -r word; do
        case $word in
        "$folder" | "$folder/") echo all ;;
        "$folder"/*)
            name=${word#"$folder"/}
            until grep -Fqx -e "$name" -e "$name/all" "$work/targets"; do
                case $name in
                */*) name=${name%/*} ;;
                *) name=all && break ;;
                esac
            done
            grep -Fqx "$name" "$work/targets" || [ "$name" = all ] || name=$name/all
            echo "$name"
            ;;
        esac
    done | sort -u
}

# How long the tests of a pattern take in the tree as it is: a line of $work/times each.
limit_of() {
    PATTERN=$1 awk -F '\t' '$1 == ENVIRON["PATTERN"] { print 60 + (4 * $2); exit }' "$work/times"
}

# The tests, of a pattern, that failed in the last run, and how: a time limit may be the machine's fault.
failures() {
    grep -q 'tests failed' "$work/test.log" || printf 'no end after %s s ' "$(limit_of "$1")"
    sed -n 's/^[[:space:]]*[0-9]* - \([^ ]*\) .*(\([A-Za-z]*\)).*$/\1 (\2)/p' "$work/test.log" | tr '\n' ' '
}

# try_tests PATTERN TARGET...: 0 a test fails, 1 all pass, 2 the changed tree does not build.
try_tests() {
    pattern=$1
    shift
    build "$@" || return 2
    ! timeout -k 10 "$(limit_of "$pattern")" ctest --test-dir "$tree/build/dev" -j2 -R "$pattern" \
        --no-tests=error --stop-on-failure >"$work/test.log" 2>&1 </dev/null
}

# noticed ID: the result of try_tests. What a header changes is built whole, and so is a change that
# seems to survive: the targets may not be all that the tests run.
noticed() {
    file=$(field "$1" file)
    pattern=$(field "$1" tests)
    mutate "$source/$file" "$(field "$1" from)" "$(field "$1" to)" >"$tree/$file"
    targets=all
    case $file in *.h) ;; *) targets=$(targets_of "$pattern") ;; esac
    result=0
    # shellcheck disable=SC2086 # names
    try_tests "$pattern" $targets || result=$?
    if [ "$result" -eq 1 ] && [ "$targets" != all ]; then
        result=0
        try_tests "$pattern" || result=$?
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
# A changed library is linked again, not all that links it.
if ! (cd "$tree" && cmake --preset dev -DCMAKE_LINK_DEPENDS_NO_SHARED=ON >"$work/build.log" 2>&1) || ! build; then
    die "the tree does not build; see $work/build.log"
fi
ninja -C "$tree/build/dev" -t targets all | sed 's/: .*//' | grep -v '[.]o$' >"$work/targets"
# A test that fails anyway would notice everything: its pattern has no time.
# One pattern at a time: ctest takes few parentheses.
: >"$work/times"
: >"$work/unchanged.log"
for id in $ids; do field "$id" tests; done | sort -u | while read -r all; do
    begun=$(date +%s)
    if ctest --test-dir "$tree/build/dev" -R "$all" --no-tests=error -j2 >"$work/test.log" 2>&1 </dev/null; then
        printf '%s\t%s\n' "$all" $(($(date +%s) - begun)) >>"$work/times"
    else
        cat "$work/test.log" >>"$work/unchanged.log"
    fi
done
count=0 survived=0 broken=0 unjudged=0
for id in $ids; do
    count=$((count + 1))
    tests=$(field "$id" tests)
    code=3
    [ -z "$(limit_of "$tests")" ] || { noticed "$id" && code=0 || code=$?; }
    case $code in
    0) say "noticed   $id: $(failures "$tests")" ;;
    1) say "SURVIVED  $id: $(field "$id" why)" && survived=$((survived + 1)) ;;
    2) say "BROKEN    $id: $(grep -m 1 -E 'error|FAILED' "$work/build.log")" && broken=$((broken + 1)) ;;
    3) say "not judged $id: $tests fails without it; see $work/unchanged.log" && unjudged=$((unjudged + 1)) ;;
    esac
done
say "$count changes, $survived survived, $broken do not build, $unjudged not judged"
[ $((survived + broken + unjudged)) -eq 0 ]

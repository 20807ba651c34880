#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# test.sh, a part of bootstrap: the tests, their selection under CI, and the summary of their reports.
# shellcheck disable=SC2034,SC2154 # variables of bootstrap and of the other parts
set -eu

# What is set for other programs must not decide what the tests see.
forget_settings() {
    for name in $(env | sed -nE 's/^((MEMSPAN|OMP|KMP|GOMP|LIBOMPTARGET|POCL|HWLOC|SHMEM|SHMEMX|SMA|OSHRUN|OSH)_[A-Za-z0-9_]*)=.*/\1/p'); do
        unset "$name"
    done
}

# The sanitizers of GCC 12 fail at start-up, now and then, where the kernel randomises addresses
# with more bits than they expect.
fixed_addresses() {
    if command -v setarch >/dev/null 2>&1 && setarch "$(uname -m)" -R true 2>/dev/null; then
        echo "setarch $(uname -m) -R"
    fi
}

# Reads ctest's report: "failed NAME", "skipped NAME REASON" (between tabs), then "PASSED FAILED SKIPPED".
# The report's own totals count a test that could not be started as skipped; here it has failed.
read_report() {
    awk '
        function finish(status, skip) {
            if (status == "run") passed++
            else if (status == "disabled" || (status == "notrun" && skip)) {
                skipped++
                sub(/^[Ss][Kk][Ii][Pp]([Pp][Ee][Dd])?:? */, "", reason)
                print "skipped\t" name "\t" reason
            } else {
                failed++
                print "failed\t" name
            }
        }
        function attribute(key, text) {
            if (!match($0, key "=\"[^\"]*\"")) return ""
            text = substr($0, RSTART, RLENGTH)
            sub(/^[^"]*"/, "", text)
            sub(/"$/, "", text)
            return text
        }
        /<testcase /   { name = attribute("name"); status = attribute("status"); skip = 0; reason = "" }
        /<skipped /    { skip = (attribute("message") ~ /^SKIP_/) }
        /<system-out>/ { inside = 1 }
        inside {
            line = $0
            gsub(/<\/?system-out>|^[ \t]+/, "", line)
            if (line != "" && (reason == "" || line ~ /[Ss][Kk][Ii][Pp]/)) reason = line
        }
        /<\/system-out>/ { inside = 0 }
        /<\/testcase>/   { finish(status, skip) }
        END { print passed + 0, failed + 0, skipped + 0 }
    ' "$1" | sed 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g'
}

# What the reports of these presets say: failed tests, where their output is, how one is repeated; then the
# reasons of those that were skipped, a line each.
summarize() {
    for preset in "$@"; do
        cat "$build/$preset/fails.txt" "$build/$preset/report.txt" 2>/dev/null | awk -F '\t' -v preset="$preset" '
            $1 == "failed" {
                if (!count++) print "failed in " preset ":"
                if (first == "" && $2 !~ / /) first = $2
                if (line != "" && length(line $2) > 96) { print line; line = "" }
                line = line "  " $2
            }
            END {
                if (!count) exit
                print line
                print "their output: build/" preset "/test.log, build/" preset "-build.log"
                if (first != "") print "one again:    ctest --preset " preset " -R \"^" first "$\""
            }'
    done
    for preset in "$@"; do
        sed -n "s/^skipped/$preset/p" "$build/$preset/report.txt" 2>/dev/null || :
    done | awk -F '\t' '
        { if (!count[$3]++) first[$3] = $2 }
        END { for (reason in count) printf "%4d  %s (%s%s)\n", count[reason], (reason == "") ? "no reason is given" : reason,
                  first[reason], (count[reason] > 1) ? ", ..." : "" }' | sort -rn | cut -c 1-150 >"$build/skipped.txt"
    if [ -s "$build/skipped.txt" ]; then
        echo 'skipped, by reason:'
        cat "$build/skipped.txt"
    fi
}

# names_of PRESET: of the tests that it runs, a line each.
names_of() {
    ctest --preset "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort
}

# What dev has left to asan is there.
all_run() {
    names_of dev >"$build/dev/all.txt"
    { names_of dev-beside-asan && names_of asan; } | sort -u | comm -23 "$build/dev/all.txt" - >"$build/dev/lost.txt"
    [ -s "$build/dev/lost.txt" ] || return 0
    fails asan "neither dev-beside-asan nor asan runs $(paste -sd ' ' "$build/dev/lost.txt")"
}

# fails PRESET WHAT: counts something that is no test.
fails() {
    mkdir -p "$build/$1"
    printf 'failed\t%s\n' "$2" >>"$build/$1/fails.txt"
    failed=$((failed + 1))
}

# run_ctest PRESET ARGUMENT...: the output of every test is in a log; CI has nothing but standard output.
run_ctest() {
    name=$1
    shift
    if [ -n "${CI:-}" ]; then
        $under ctest "$@" --output-log "$build/$name/test.log" </dev/null
    else
        logged "$build/$name/test.log" $under ctest "$@" || return 1
    fi
}

# test_preset PRESET CTEST-OPTION...: adds to passed, failed and skipped.
test_preset() {
    preset=$1
    shift
    report=$build/$preset/junit.xml
    start=$(date +%s)
    rm -f "$report" "$build/$preset/report.txt" "$build/$preset/fails.txt"
    built=0
    build_preset "$preset" || built=$?
    if [ "$built" -eq 1 ]; then
        fails "$preset" "the configuration of $preset"
        return
    fi
    under=
    case $preset in
    asan | tsan) under=$(fixed_addresses) ;;
    esac

    # Rules about the sources are for those who change them. A preset of their own leaves them out:
    # ctest leaves out a test only where every --label-exclude matches, the preset's and another.
    tests=$preset
    case ${CI:+CI}$preset in
    dev | release) tests=$preset-user ;;
    CIdev) case " $presets " in *' asan '*) tests=dev-beside-asan ;; esac ;;
    CIasan) case " $presets " in *' dev '*) all_run ;; esac ;;
    esac
    say "testing $preset"
    [ "$tests" != "$preset-user" ] || say 'the rules about the sources (label house) run where CI is set'
    status=0
    # Many tests sleep, or wait for time limits: half as many again as there are processors.
    run_ctest "$preset" --preset "$tests" --parallel $(($(nproc) * 3 / 2)) --timeout 300 --no-tests=error \
        --output-junit "$report" "$@" || status=$?
    if [ ! -s "$report" ]; then
        fails "$preset" "ctest wrote no report: $build/$preset/test.log"
        return
    fi

    read_report "$report" >"$build/$preset/report.txt"
    read -r good bad skips <<TEXT
$(tail -n 1 "$build/$preset/report.txt")
TEXT
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + skips))
    if [ "$built" -ne 0 ]; then
        fails "$preset" 'the build' # a test of what was not built has failed, or has run what was there before
    elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        fails "$preset" 'ctest, for something that is no test'
    fi
    say "$preset: $good passed, $bad failed, $skips skipped in $(($(date +%s) - start)) s, build included"
}

# The quick tests on another Debian, for CI: what differs there is compilers, loaders and libraries.
quick_labels='^(api|conform|cxx|fortran|guide|install|launch|load|ofi-tcp|omp|opencl|openmp|plugin|python|ucx-tcp|unit)$'

# test_on SUITE PROCESS: once that process has made the root. Where none can be made the lane is a skip.
test_on() {
    made=0
    wait "$2" || made=$?
    mkdir -p "$build/on-$1"
    rm -f "$build/on-$1"/*.txt
    if [ "$made" -eq 77 ]; then
        why=$(sed -n 's/^on: no root of/no root of/p' "$build/on-$1.log")
        say "NOT TESTED on $1: $why"
        printf 'skipped\ton %s\t%s\n' "$1" "$why" >"$build/on-$1/report.txt"
        skipped=$((skipped + 1))
        return
    fi
    start=$(date +%s) made=0
    say "the demo and the quick tests on $1"
    logged "$build/on-$1.log" "$root/cmake/on" "$1" -- -L "$quick_labels" || made=1
    sed -n '/^machine /,/^next/p; /^failed in /,$p' "$build/on-$1.log"
    read -r good _ bad _ skips _ <<TEXT
$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$build/on-$1.log" | tail -n 1)
TEXT
    say "on $1: ${good:-0} passed, ${bad:-0} failed, ${skips:-0} skipped in $(($(date +%s) - start)) s"
    passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-0})) skipped=$((skipped + ${skips:-0}))
    if [ "$made" -ne 0 ] && [ "${bad:-0}" -eq 0 ]; then
        tail -n 40 "$build/on-$1.log" >&2
        fails "on-$1" "the demo or the tests on $1"
    fi
}

# test [PRESET...] [-- CTEST-OPTION...]
command_test() {
    cd "$root"
    presets=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        check_preset "$1"
        presets="$presets $1"
        shift
    done
    [ $# -eq 0 ] || shift
    lane=
    if [ -z "$presets" ]; then
        presets=dev
        [ -z "${CI:-}" ] || { presets='dev asan tsan' lane=trixie; }
    fi
    # shellcheck disable=SC2086 # names
    say "testing$(printf ' %s' $presets)${lane:+, $lane}: about 25 minutes each on two processors, 500 MB below build/"
    command_deps
    forget_settings
    use_private_caches

    passed=0 failed=0 skipped=0
    if [ -n "$lane" ]; then # it is made and built while tests wait for something
        need_mmdebstrap || say 'mmdebstrap cannot be installed'
        nice -n 19 "$root/cmake/on" "$lane" --only-build >"$build/on-$lane.log" 2>&1 </dev/null &
        maker=$!
    fi
    for preset in $presets; do
        test_preset "$preset" "$@"
    done
    [ -z "$lane" ] || test_on "$lane" "$maker"
    # shellcheck disable=SC2086 # names
    summarize $presets ${lane:+on-$lane}
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

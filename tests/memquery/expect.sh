# SPDX-License-Identifier: BSD-3-Clause
# expect.sh: helpers of both test scripts, sourced; $memquery is the program.
#
# A case runs the program with run(), which leaves $out, $err (files) and $code, and then states
# what must be so. The first statement that is not so ends the test.

set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out
err=$scratch/err

die() {
    echo "FAILED: $*"
    echo "--- exit code ${code:-?}, standard output:"
    cat "$out"
    echo "--- standard error:"
    cat "$err"
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

need() {
    for tool; do
        command -v "$tool" >/dev/null || skip "$tool is not here"
    done
}

need_terminal() {
    script -qec true /dev/null </dev/null >"$out" 2>&1 || skip "no terminal: $(cat "$out")"
}

run() {
    "$memquery" "$@" >"$out" 2>"$err" </dev/null
    code=$?
}

# run_with VARIABLE=VALUE [argument...]
run_with() {
    setting=$1
    shift
    env "$setting" "$memquery" "$@" >"$out" 2>"$err" </dev/null
    code=$?
}

expect_code() { [ "$code" -eq "$1" ] || die "exit code is not $1"; }
expect_out() { grep -qE -e "$1" "$out" || die "no /$1/ on standard output"; }
expect_err() { grep -qE -e "$1" "$err" || die "no /$1/ on standard error"; }
expect_no_out() { ! grep -qE -e "$1" "$out" || die "/$1/ on standard output"; }
expect_silent() { [ ! -s "$out" ] || die "standard output is not empty"; }
expect_quiet() { [ ! -s "$err" ] || die "standard error is not empty"; }
expect_jq() { jq -e "$1" "$out" >/dev/null || die "JSON does not satisfy: $1"; }

# --check EXPR -> code, and nothing printed unless it is a usage error.
expect_check() {
    run --check "$2"
    expect_code "$1"
    expect_silent
    [ "$1" -eq 2 ] || expect_quiet
}

# One value, the schema's number, and a reason beside each null and beside nothing else.
expect_schema() {
    need jq
    [ "$(jq -s length "$out")" = 1 ] || die "not one JSON value"
    expect_jq '.schema == 1 and (.memspan_version | type == "string")'
    expect_jq '[.. | objects | . as $o | to_entries[] | select(.value == null)
                | ($o[.key + "_reason"] | type == "string" and length > 0)] | all'
    expect_jq '[.. | objects | . as $o | keys[] | select(endswith("_reason"))
                | rtrimstr("_reason") as $k | ($o | has($k)) and $o[$k] == null] | all'
}

expect_plain() {
    [ "$(LC_ALL=C tr -d '\n -~' <"$out" | wc -c)" -eq 0 ] || die "not plain ASCII"
    [ "$(wc -l <"$out")" -le "$1" ] || die "more than $1 lines"
}

# No process with our mark in its environment is left. Those that the kernel is
# ending get three seconds.
mark=MEMQUERY_TEST_MARK_$$
export "$mark=1"
list_left() {
    for environ in /proc/[0-9]*/environ; do
        pid=${environ#/proc/}
        pid=${pid%/environ}
        [ "$pid" = $$ ] && continue
        if [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$memquery")" ] &&
            tr '\0' '\n' <"$environ" 2>/dev/null | grep -q "^$mark="; then
            echo "$pid"
        fi
    done
}
expect_no_process_left() {
    for attempt in 1 2 3 4 5 6; do
        left=$(list_left)
        [ -z "$left" ] && return
        sleep 0.5
    done
    kill -9 $left
    die "process left: $left"
}

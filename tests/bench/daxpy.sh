#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# daxpy.sh run|fault|arguments PROGRAM [BACKEND]: see CMakeLists.txt. 77: nothing to test here.
set -eu

mode=$1
program=$2
backend=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    for file in out err; do
        [ ! -s "$folder/$file" ] || sed "s/^/  $file: /" "$folder/$file"
    done
    exit 1
}

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# expect CODE ARGUMENT...: the program ends with that code; what it wrote is in out and err.
expect() {
    expected=$1
    shift
    code=0
    "$program" "$@" >"$folder/out" 2>"$folder/err" || code=$?
    [ "$code" -eq "$expected" ] || fail "exit code $code instead of $expected: $*"
}

has() {
    grep -q -e "$2" "$folder/$1" || fail "no '$2' in $1"
}

# The number of the first device of the backend.
find_device() {
    [ "$backend" != host ] || { echo host; return; }
    awk -v backend="$backend" '$2 == backend { print $1; exit }' "$folder/out"
}

csv_header=date,machine,engine,device,device_name,variant,kind_asked,kind_given,n,repetitions,\
phase,rounds,min_ns,median_ns,p99_ns,max_ns,mean_ns,stddev_ns,cpu_median_ns,page_faults,\
copied_bytes,kernel_bytes,gb_per_s,page_size_bytes,numa_node,result,why,\
device_copy_gb_per_s,share_of_device_copy

check_csv() {
    [ "$(head -n 1 "$folder/csv")" = "$csv_header" ] || fail 'the CSV header has changed'
    grep -q ',host,.*,total,2,' "$folder/csv" || fail 'no CSV row of the total of two rounds'
}

# expression: must hold of the whole JSON file.
json() {
    jq -e "$1" "$folder/json" >"$folder/out" || fail "not so in the JSON file: $1"
}

check_json() {
    command -v jq >/dev/null || { echo 'no jq: JSON not checked'; return; }
    json '.schema == 1 and .benchmark == "daxpy" and (.head.command | length) > 0'
    json "[.rows[] | keys_unsorted | join(\",\")] | unique == [\"$csv_header\"]"
    json '[.rows[] | select(.median_ns != null)
           | .min_ns <= .median_ns and .median_ns <= .max_ns and .median_ns <= .p99_ns] | all'
    json '[.rows[].result] | unique | . - ["verified", "waived"] == []'
    json '[.rows[] | select(.variant == "host") | .phase] | unique
          == ["allocate", "fill", "first-use", "free", "run", "steady", "total"]'
    json '[.rows[] | select(.variant == "naive" and .phase == "run")
           | .copied_bytes == 32 * .n * .repetitions] | all'
    # The device's rate beside that of its own copies; the host has no such thing.
    json '[.rows[] | select(.variant == "host") | .share_of_device_copy] | all(. == null)'
    [ "$backend" = host ] ||
        json '[.rows[] | select(.variant == "device-resident" and .phase == "steady")]
              | length > 0 and all(.device_copy_gb_per_s > 0 and
                    (.gb_per_s / .device_copy_gb_per_s / .share_of_device_copy - 1 | fabs) < 0.01)'
    [ "$(jq '.rows | length' "$folder/json")" -eq $(($(wc -l <"$folder/csv") - 1)) ] ||
        fail 'CSV and JSON differ in rows'
}

# Variants that the backend must be able to run, and where the others must say why they do not.
check_variants() {
    case $backend in
    host) wanted='host' ;;
    opencl) wanted='host naive copy-once managed coherent device-resident' ;;
    emu) wanted='host naive copy-once host-pinned managed coherent device-resident' ;;
    cuda | hip | level_zero) wanted='host naive copy-once host-pinned managed device-resident' ;;
    openmp) wanted='host naive copy-once managed device-resident' ;;
    esac
    for variant in $wanted; do
        has out "^$variant  .* verified\$"
    done
    ! grep -E ' (WRONG|FAILED)$' "$folder/out" || fail 'a row is wrong'
    for variant in $(awk '$NF == "waived" { print $1 }' "$folder/out" | sort -u); do
        has out "^$variant: waived: ."
    done
}

check_svg() {
    awk -f "$(dirname "$0")/geometry.awk" "$folder/svg" || fail 'texts lie on each other or outside'
    if command -v xmllint >/dev/null; then
        xmllint --noout "$folder/svg" || fail 'the SVG file is not well-formed'
    fi
    grep -q '<svg .*\|viewBox' "$folder/svg" && grep -q '>copy-once<' "$folder/svg" ||
        fail 'the SVG file has no figure'
}

case $mode in
run | fault)
    expect 0 --list
    device=$(find_device)
    [ -n "$device" ] || skip "no device of $backend here"
    ;;
esac

case $mode in
run)
    # A size of one, an odd one, and one that is many pages.
    expect 0 daxpy --device "$device" --n 1,1003,64k --reps 1,7 --rounds 2 \
        --csv "$folder/csv" --json "$folder/json" --svg "$folder/svg"
    has out ' GB/s  *of copy  *result$'
    [ "$backend" = host ] || has out '^device-resident .* [0-9][0-9]* %  *verified$'
    has out '^host .* -  *verified$'
    check_variants
    check_csv
    check_svg
    check_json
    # Options in another order, and quick, which leaves alone what was named.
    expect 0 daxpy --svg=/dev/null --rounds=1 --n 2k --quick --reps 1,10 --device "$device"
    has out '^n = 2 Ki doubles'
    ;;
unmeasured)
    # The only device has no kernels, and no device is asked for.
    expect 0 daxpy --n 1k --reps 1 --rounds 1
    has out "^# device   0: opencl 'Pretended Device'"
    has out '^device-resident: waived: device 0 (opencl) has no built-in kernels: .*doubles'
    ! grep '^device-resident .* verified$' "$folder/out" || fail 'the host was measured'
    ;;
fault)
    # One bit of one element, after the device's work: every variant that ran must notice.
    expect 1 daxpy --device "$device" --n 1003 --reps 3 --rounds 1 --inject-error
    has out '^WRONG: host, .* 1 of 1003 elements are wrong, the first is z\[1002\]'
    ! grep -q ' verified$' "$folder/out" || fail 'a wrong result was taken for right'
    expect 0 daxpy --device "$device" --n 1003 --reps 3 --rounds 1 --inject-error --no-verify
    has out ' unverified$'
    expect 1 daxpy --device "$device" --n 100 --reps 1 --rounds 1 --csv /dev/full
    has err '/dev/full'
    ;;
arguments)
    expect 0 --version
    expect 0 --help
    expect 0 daxpy --help
    ! grep -q inject "$folder/out" || fail 'the fault injection is for tests'
    expect 0 daxpy --device host --n 1k --reps 1 --rounds 1 --csv -
    [ "$(head -n 1 "$folder/out")" = "$csv_header" ] || fail 'standard output is not the CSV alone'
    expect 2
    expect 2 nonesuch
    while IFS='|' read -r arguments message; do
        # shellcheck disable=SC2086 # a list of arguments
        expect 2 daxpy $arguments
        [ ! -s "$folder/out" ] || fail "something was measured: $arguments"
        has err "$message"
    done <<'TEXT'
--nonesuch|unknown option --nonesuch
n|unexpected argument "n"
--n|--n needs a value
--n=|is not a count
--n 0|out of range
--n 2g|out of range
--n -1|is not a count
--n 1mm|is not a count
--n 1x|is not a count
--n 1,,2|is not a count
--n 1k,1024|listed twice
--n 99999999999999999999|out of range
--n 99999999999999t|out of range
--reps 1.5|is not a count
--reps 1000001|out of range
--rounds 0|out of range
--rounds 65|out of range
--device 12345|12345
--device x|is not a number
--device 99999999999|out of range
--variants managed,nonesuch|is not one of
--variants=|is empty
--quick=1|takes no value
--csv=|is empty
--csv /nonesuch/file|/nonesuch/file
--csv - --json -|only one
TEXT
    # On a terminal a table that is wider is printed in parts, each with the first column.
    script -qec true /dev/null </dev/null >"$folder/out" 2>&1 ||
        { echo "skip: the rest is right, and there is no terminal: $(cat "$folder/out")"; exit 77; }
    COLUMNS=60 script -qec "$program daxpy --n 1k --rounds 1 --reps 1 --device host" /dev/null \
        </dev/null | tr -d '\r' >"$folder/out"
    [ "$(grep -c '^variant ' "$folder/out")" -ge 2 ] || fail 'the table is in one piece'
    [ "$(grep -c '^host ' "$folder/out")" -eq "$(grep -c '^variant ' "$folder/out")" ] ||
        fail 'a part lacks its row'
    awk '/^(variant|host) / && length($0) > 60 { exit 1 }' "$folder/out" || fail 'it is too wide'
    ;;
esac
echo passed

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bootstrap.sh: cmake/bootstrap in a tree of its own, with pretended packages, builds and test reports: what it
# installs and refuses, what counts as failed, how test and demo end.
set -eu
source=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
tree=$scratch/tree fakes=$scratch/fakes
mkdir -p "$tree/cmake" "$tree/build/dev" "$tree/build/asan" "$tree/build/tsan" "$fakes"
cp -r "$source/cmake/bootstrap" "$source/cmake/bootstrap.d" "$tree/cmake/"
export FAKES="$fakes"

complain() {
    echo "$*"
    sed 's/^/    /' "$scratch/out"
    bad=1
}

fake() {
    { printf '#!/bin/sh\n'; cat; } >"$fakes/$1"
    chmod +x "$fakes/$1"
}

# bootstrap STATUS ARGUMENT...: both outputs in $scratch/out.
bootstrap() {
    expected=$1 status=0
    shift
    env -u CI ${ci:+CI=1} PATH="$fakes:$PATH" "$tree/cmake/bootstrap" "$@" >"$scratch/out" 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || complain "bootstrap $*: status $status, not $expected"
}

says() {
    grep -qE -- "$1" "$scratch/out" || complain "bootstrap does not say /$1/"
}

# ---- packages: $fakes/installed are; $fakes/refused cannot be; $fakes/unknown has no version

fake id <<'TEXT'
echo 0
TEXT
fake dpkg-query <<'TEXT'
sed 's/^/installed /' "$FAKES/installed"
grep -qx ninja-build "$FAKES/installed" || echo 'not-installed ninja-build'
TEXT
fake apt-cache <<'TEXT'
[ "$1" = policy ] || exit 1
shift
for name; do
    grep -qxF "$name" "$FAKES/unknown" || printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' "$name"
done
TEXT
fake apt-get <<'TEXT'
case " $* " in
*' -s '*) case " $* " in *' clang-22 '*) exit 0 ;; *) exit 100 ;; esac ;; # as on sid
*' --assume-no '*)
    printf 'The following packages will be upgraded:\n  libc6 libc-bin\n2 upgraded, 3 newly installed, 0 to remove\n'
    printf 'Need to get 12.5 MB/20 MB of archives.\nAfter this operation, 45 MB of additional disk space will be used.\n'
    exit 1
    ;;
*' install '*) ;;
*) exit 0 ;;
esac
for name; do
    if grep -qxF "$name" "$FAKES/refused" "$FAKES/unknown"; then
        echo "E: Unable to locate package $name"
        exit 100
    fi
done
while [ "$1" != install ]; do shift; done
printf '%s\n' "$@" >>"$FAKES/installed"
TEXT
fake cmake <<'TEXT'
case "$1" in
--build) echo 'FAILED: [code=1] tests/odd.o'; exit "$(cat "$FAKES/build-status")" ;;
esac
TEXT
fake ctest <<'TEXT'
for word; do
    [ "$before" != --output-junit ] || cp "$FAKES/junit.xml" "$word"
    before=$word
done
exit "$(cat "$FAKES/ctest-status")"
TEXT

installed() {
    : >"$fakes/installed"
    [ $# -eq 0 ] || printf '%s\n' "$@" >"$fakes/installed"
}

for list in refused unknown; do
    : >"$fakes/$list"
done
installed cmake gcc libc6-dev
echo clang-format-14 >"$fakes/unknown"
bootstrap 0 deps
grep -qx ninja-build "$fakes/installed" || complain 'not-installed is taken for installed'
[ "$(grep -cx cmake "$fakes/installed")" -eq 1 ] || complain 'what is installed is installed again'
says 'installs 3 packages: 20 MB to download, 45 MB on disk'
says 'they need newer versions of libc6 libc-bin$'
says 'refused, optional for tests: clang-format-14 '

printf '%s\n' abigail-tools >"$fakes/refused"
installed
bootstrap 0 deps
says 'refused, optional for tests: abigail-tools \(Unable to locate package abigail-tools\)'
grep -qx libomp-22-dev "$fakes/installed" || complain 'a version of LLVM that cannot be installed is asked for'
grep -qx valgrind "$fakes/installed" || complain 'a refused package costs the others'

printf '%s\n' libjansson-dev >"$fakes/refused"
installed
bootstrap 2 deps
says 'refused, and needed: libjansson-dev \(Unable to locate package libjansson-dev\)'
says 'the build needs what could not be installed: libjansson-dev'
: >"$fakes/refused"

# ---- test: two that passed, one that failed, one that was not built, three skips of two reasons

cat >"$fakes/junit.xml" <<'TEXT'
	<testcase name="good" status="run"><system-out>fine</system-out></testcase>
	<testcase name="better" status="run">
		<system-out>fine</system-out>
	</testcase>
	<testcase name="wrong" status="fail">
		<failure message=""/>
		<system-out>no</system-out>
	</testcase>
	<testcase name="missing" status="notrun">
		<skipped message="Unable to find executable"/>
	</testcase>
	<testcase name="one" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>skip: no &lt;device&gt;</system-out>
	</testcase>
	<testcase name="two" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>skip: no &lt;device&gt;</system-out>
	</testcase>
	<testcase name="three" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>SKIP no mpirun</system-out>
	</testcase>
TEXT
installed
echo 0 >"$fakes/build-status"
echo 8 >"$fakes/ctest-status"
bootstrap 1 test
[ "$(tail -n 1 "$scratch/out")" = '2 passed, 2 failed, 3 skipped' ] || complain 'test: another last line'
says '^  wrong  missing$'
says '^their output: build/dev/test.log'
says '^one again: +ctest --preset dev -R "\^wrong\$"$'
says '^ +2  no <device> \(one, \.\.\.\)$'
says '^ +1  no mpirun \(three\)$'
says 'minutes .* MB|minutes .* GB'

# What cannot be built is a failure of its own, and the tests run.
sed -i '/"wrong"/,/<\/testcase>/d; /"missing"/,/<\/testcase>/d' "$fakes/junit.xml"
echo 1 >"$fakes/build-status"
echo 0 >"$fakes/ctest-status"
bootstrap 1 test
[ "$(tail -n 1 "$scratch/out")" = '2 passed, 1 failed, 3 skipped' ] || complain 'a build that failed: another last line'
says '^  the build$'
says 'FAILED: \[code=1\] tests/odd.o'
echo 0 >"$fakes/build-status"
bootstrap 0 test

# CI: the presets of the sanitizers, and another Debian, where a root of it can be made.
fake_on() {
    { printf '#!/bin/sh\n'; cat; } >"$tree/cmake/on"
    chmod +x "$tree/cmake/on"
}
ci=1
fake mmdebstrap </dev/null
fake_on <<'TEXT'
echo 'on: no root of trixie: the mirror is away' >&2
exit 77
TEXT
bootstrap 0 test
says 'NOT TESTED on trixie: .*the mirror is away'
says '^ +1  no root of trixie: the mirror is away \(on trixie\)$'
[ "$(tail -n 1 "$scratch/out")" = '6 passed, 0 failed, 10 skipped' ] || complain 'no root of trixie: another last line'
fake_on <<'TEXT'
[ "$2" = --only-build ] || { printf 'failed in dev:\n  odd\n5 passed, 1 failed, 2 skipped\n'; exit 1; }
TEXT
bootstrap 1 test
says '^  odd$'
[ "$(tail -n 1 "$scratch/out")" = '11 passed, 1 failed, 11 skipped' ] || complain 'a failure on trixie: another last line'
fake_on <<'TEXT'
[ "$2" = --only-build ]
TEXT
bootstrap 1 test
[ "$(tail -n 1 "$scratch/out")" = '6 passed, 1 failed, 9 skipped' ] || complain 'no result of trixie: another last line'
ci=

# ---- demo: the programs print tables, the screen is short

mkdir -p "$tree/build/release/bin"
for name in memquery memspan-bench memspan-bench-offload; do
    cat >"$tree/build/release/bin/$name" <<'TEXT'
#!/bin/sh
for word; do
    [ "${before:-}" != --csv ] || cp "$FAKES/daxpy.csv" "$word"
    before=$word
done
awk 'BEGIN { for (i = 0; i < 100; i++) { printf "%0200d\n", i } }'
TEXT
    chmod +x "$tree/build/release/bin/$name"
done
cat >"$fakes/daxpy.csv" <<'TEXT'
date,machine,engine,device,device_name,variant,kind_asked,kind_given,n,repetitions,phase,rounds,min_ns,median_ns,p99_ns,max_ns,mean_ns,stddev_ns,cpu_median_ns,page_faults,copied_bytes,kernel_bytes,gb_per_s,page_size_bytes,numa_node,result,why
d,"A processor, with commas and a very long name, 128 processors, Linux 6.18.44",openmp,0,"a device, of ""its"" own",naive,map,copy,1,100,run,3,1,1,1,1,1,1,1,1,,,,,,verified,
d,"A processor, with commas and a very long name, 128 processors, Linux 6.18.44",openmp,0,"a device, of ""its"" own",naive,map,copy,1,100,total,3,1,600000000,1,1,1,1,1,1,,,,,,verified,
d,"A processor, with commas and a very long name, 128 processors, Linux 6.18.44",openmp,0,"a device, of ""its"" own",coherent,coherent,coherent,1,100,total,3,1,150000000,1,1,1,1,1,1,,,,,,verified,"words, and words"
TEXT
bootstrap 0 demo
says 'map on each target region +600\.0 ms +1\.0 x'
says 'a target memory space \(coherent\), no map +150\.0 ms +4\.0 x'
says 'Without map: 4\.0 times as fast, with the same result\.$'
says '^bootstrap: .*minutes'
[ "$(grep -vc '^bootstrap: ' "$scratch/out")" -le 24 ] || complain 'demo ends with more than 24 lines'
awk 'length($0) > 80 && !/^bootstrap: / { exit 1 }' "$scratch/out" || complain 'demo: a line of more than 80 columns'
[ "$(wc -l <"$tree/build/demo.txt")" -ge 300 ] || complain 'the tables are not in build/demo.txt'
bootstrap 0 demo --verbose
[ "$(wc -l <"$scratch/out")" -ge 300 ] || complain 'demo --verbose: no tables'
sed -i 's/,verified,"words/,WRONG,"words/' "$fakes/daxpy.csv"
bootstrap 0 demo
says 'the results DIFFER'
exit "$bad"

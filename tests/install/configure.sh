#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# configure.sh SOURCES COMPILER: what a configuration says on a machine that lacks packages. What is
# needed ends it with the package to install; what is optional is a row of the summary at its end,
# and the tests by programs that are not built are skipped.
set -eu
sources=$1 compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
real=$(command -v pkg-config) || { echo 'SKIP pkg-config is not here'; exit 77; }

# A pkg-config that has not got the packages of $DENIED.
cat >"$scratch/pkg-config" <<TEXT
#!/bin/sh
for word in "\$@"; do
    for denied in \$DENIED; do
        case \$word in "\$denied"*) exit 1 ;; esac
    done
done
exec '$real' "\$@"
TEXT
chmod +x "$scratch/pkg-config"

# configure PACKAGES WORDS...: without these packages the output has each of the WORDS.
configure() {
    DENIED=$1
    export DENIED
    shift
    status=0
    cmake --fresh -S "$sources" -B "$scratch/build" -G Ninja -DCMAKE_C_COMPILER="$compiler" \
        -DMEMSPAN_VALGRIND=OFF -DMEMSPAN_MANDOC=OFF -DMEMSPAN_GFORTRAN=OFF -DMEMSPAN_OPENCL_INCLUDE=OFF \
        -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON \
        -DPKG_CONFIG_EXECUTABLE="$scratch/pkg-config" >"$scratch/log" 2>&1 || status=$?
    tr -s '\n ' '  ' <"$scratch/log" >"$scratch/said"
    for words in "$@"; do
        grep -qF "$words" "$scratch/said" || { echo "without $DENIED it does not say: $words"; cat "$scratch/log"; exit 1; }
    done
}

configure hwloc 'needs the headers of 2.5' '(Debian: libhwloc-dev, Fedora: hwloc-devel)'
[ "$status" -ne 0 ] || { echo 'it goes on without hwloc'; exit 1; }
configure 'jansson ucx libfabric pmix' \
    'between hosts, by UCX off: UCX 1.11 or newer is not here (Debian: libucx-dev, Fedora: ucx-devel)' \
    'between hosts, by libfabric off: libfabric 1.11 or newer is not here (Debian: libfabric-dev' \
    'starting by mpirun, prterun, srun off: PMIx 3 or newer is not here (Debian: libpmix-dev' \
    'memquery, memspan-bench off: jansson 2.10 or newer is not here (Debian: libjansson-dev' \
    'under valgrind off: valgrind is not here (Debian: valgrind,' \
    'against the headers of OpenCL off: CL/cl.h is not here (Debian: opencl-c-headers,' \
    'of OpenMP in Fortran off: gfortran is not here (Debian: gfortran,' \
    'Fortran modules off: Python 3.9 or newer is not here (Debian: python3,' \
    'manual pages as HTML off: mandoc is not here (Debian: mandoc,' \
    'Python module off: Python 3.9 or newer is not here (Debian: python3,' \
    ' tests on '
[ "$status" -eq 0 ] || { cat "$scratch/log"; exit 1; }

# Nothing is built: what is skipped needs no program, anything else fails.
skipped() {
    ctest --test-dir "$scratch/build" -R "$1" --no-tests=error >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    ! grep -q ' Passed ' "$scratch/log" || { echo "passed, not skipped:"; cat "$scratch/log"; exit 1; }
}
skipped '^(cuda_off|emu.programs|fortran|python)'
skipped '^shmem-rma-(ucx|ofi)-tcp-'
skipped '^(api-grown-valgrind|emu.valgrind)$'

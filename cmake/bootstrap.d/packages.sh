#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh, a part of bootstrap: which packages it needs, what is missing of them, and getting them.
# shellcheck disable=SC2034,SC2154 # variables of bootstrap and of the other parts
set -eu

# Debian package names; where any of several will do: a|b, the first that this release has is installed.
needed_packages='gcc libc6-dev cmake ninja-build pkg-config libhwloc-dev libjansson-dev'
demo_packages='pocl-opencl-icd ocl-icd-libopencl1 clang-LLVM libomp-LLVM-dev liboffload-LLVM-dev clang-tools-LLVM'
test_packages='build-essential g++ gfortran python3 hwloc-nox|hwloc libcriterion-dev opencl-c-headers
    ocl-icd-opencl-dev clinfo llvm-LLVM libclang-rt-LLVM-dev jq libxml2-utils clang-format-14 shellcheck strace
    groff-base mandoc libze1 libze-dev spirv-tools libpmix-dev openmpi-bin mpich libopenmpi-dev libmpich-dev
    procps libucx-dev ucx-utils libfabric-dev libfabric-bin iproute2 valgrind python3-numpy python3-mpi4py
    git xz-utils reuse python3-yaml python3-clang abigail-tools environment-modules python3-hypothesis'

# The installed ones, between blanks. The status of a name that another package mentions is not-installed.
list_installed() {
    installed=" $(dpkg-query -W -f='${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ')"
}

# is_in NAME|NAME... LIST: prints the first that is in the list.
is_in() {
    names=$1
    while [ -n "$names" ]; do
        case $2 in
        *" ${names%%|*} "*)
            printf '%s ' "${names%%|*}"
            return 0
            ;;
        esac
        case $names in
        *'|'*) names=${names#*|} ;;
        *) names= ;;
        esac
    done
    return 1
}

# at_version LLVM PACKAGE...: their names. Older releases have the devices of libomp in no package of their own.
at_version() {
    version=$1
    shift
    for package in "$@"; do
        case $package in
        *LLVM*) package=${package%LLVM*}$version${package##*LLVM} ;;
        esac
        case $package in
        liboffload-*)
            apt-cache show "$package" >/dev/null 2>&1 || continue
            printf '%s ' "llvm-$version" # whose llvm-offload-binary the linker's wrapper calls there
            ;;
        esac
        printf '%s ' "$package"
    done
}

# The version of LLVM: LLVM_VERSION, the one whose OpenMP is installed (two cannot be), 19, or the newest that
# can be installed here.
llvm_version() {
    list_installed
    there=$(printf '%s' "$installed" | tr ' ' '\n' | sed -n 's/^libomp-\([0-9]*\)-dev$/\1/p' | tail -n 1)
    for version in ${LLVM_VERSION:-$there} 19 23 22 21 20 18; do
        # shellcheck disable=SC2046,SC2086 # names
        if apt-get -s -o Debug::NoLocking=1 --no-remove install $(at_version "$version" $demo_packages) >/dev/null 2>&1; then
            echo "$version"
            return 0
        fi
    done
    echo 19
}

# missing_of LLVM PACKAGE...: those that are not installed.
missing_of() {
    list_installed
    for package in $(at_version "$@"); do
        is_in "$package" "$installed" >/dev/null || printf '%s ' "$package"
    done
}

# Of a|b the first name that apt can install here; nothing where it can install none.
available_of() {
    # shellcheck disable=SC2046 # names
    available=" $(apt-cache policy $(printf '%s ' "$@" | tr '|' ' ') 2>/dev/null |
        awk '/^[^ ].*:$/ { sub(/:$/, ""); name = $0 } /^ *Candidate: [^(]/ { printf "%s ", name }')"
    for package in "$@"; do
        is_in "$package" "$available" || :
    done
}

# How to become root without being asked: nothing, sudo, or "no".
find_root() {
    if [ "$(id -u)" -eq 0 ]; then
        echo ''
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        echo 'sudo -n'
    elif command -v sudo >/dev/null 2>&1 && [ -t 0 ]; then
        echo 'sudo'
    else
        echo 'no'
    fi
}

# run_apt ARGUMENTS...
run_apt() {
    # shellcheck disable=SC2086 # $as_root is a command with arguments, or nothing
    quietly "$build/apt.log" $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@"
}

install_packages() {
    run_apt install --no-install-recommends --no-remove "$@"
}

# announce PACKAGE...: how many, how much, and which of the installed ones they need in a newer version.
announce() {
    LC_ALL=C apt-get -q -o Debug::NoLocking=1 --assume-no --no-install-recommends --no-remove install "$@" </dev/null 2>/dev/null |
        awk '/^The following packages will be upgraded/ { inside = 1; next }
            /^[^ ]/ { inside = 0 }
            inside { for (i = 1; i <= NF; i++) names = names " " $i }
            / newly installed, / { count = $3 }
            /^Need to get / { sub(/^Need to get /, ""); sub(/ of archives.*/, ""); sub(/.*\//, ""); get = $0 }
            /^After this operation, .* used/ { use = $4 " " $5 }
            END {
                if (get == "") exit
                printf "bootstrap: installs %d packages: %s to download, %s on disk\n", count, get, use
                if (names != "") printf "bootstrap: they need newer versions of%s\n", names
            }' >&2
}

# deps_debian WHAT-THEY-ARE-FOR PACKAGE...: the needed ones, and those that are given.
deps_debian() {
    purpose=$1
    shift
    as_root=$(find_root)
    # shellcheck disable=SC2086 # lists of names
    if [ -z "$(missing_of "$(llvm_version)" $needed_packages "$@")" ]; then
        return 0
    elif [ "$as_root" != no ]; then
        mkdir -p "$build"
        run_apt update || say 'going on with the package lists that are there'
    fi
    llvm=$(llvm_version)
    # shellcheck disable=SC2086
    needed=$(missing_of "$llvm" $needed_packages) optional=$(missing_of "$llvm" "$@")
    if [ "$as_root" = no ]; then
        say "not installed, and the build needs it: ${needed:-nothing}"
        say "not installed, and optional, for $purpose: ${optional:-nothing}"
        say "as root: apt-get install --no-install-recommends $needed$optional"
        [ -z "$needed" ] || exit 2
        return 0
    fi

    # shellcheck disable=SC2046,SC2086
    set -- $(available_of $needed $optional)
    if [ $# -gt 0 ]; then
        announce "$@"
        say "$*"
        install_packages "$@" || :
    fi
    # One name that apt refuses must not cost the others.
    list_installed
    for package in $needed $optional; do
        is_in "$package" "$installed" >/dev/null || install_packages "${package%%|*}" >/dev/null 2>&1 || refused "$package" "$needed"
    done
    # shellcheck disable=SC2086
    needed=$(missing_of "$llvm" $needed_packages)
    [ -z "$needed" ] || die "the build needs what could not be installed: $needed"
}

# refused PACKAGE NEEDED: what apt says of it.
refused() {
    why=$(sed -n 's/^E: //p' "$build/apt.log" | head -n 1)
    case " $2" in
    *" $1 "*) say "refused, and needed: $1 (${why:-see $build/apt.log})" ;;
    *) say "refused, optional for $purpose: $1 (${why:-see $build/apt.log})" ;;
    esac
}

# need WHAT HOW-TO-SEE-IT...: adds WHAT to $missing where the command fails.
need() {
    what=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing
  $what"
}

has_cmake() {
    version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    # shellcheck disable=SC2086 # two numbers
    set -- ${version:-0 0}
    [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}

has_header() {
    printf '#include <%s>\n' "$1" | ${CC:-cc} -E -x c - -o /dev/null
}

deps_elsewhere() {
    missing=
    need 'a C11 compiler (gcc or clang)' command -v "${CC:-cc}"
    need 'CMake 3.25 or newer' has_cmake
    need 'Ninja' command -v ninja
    need 'pkg-config' command -v pkg-config
    need 'hwloc 2.5 or a newer 2, with headers' pkg-config --exists 'hwloc >= 2.5' 'hwloc < 3'
    need 'jansson 2.10 or newer, with headers' pkg-config --atleast-version=2.10 jansson
    needed=$missing
    missing=
    need 'Criterion, with headers: the unit tests' has_header criterion/criterion.h
    need 'an OpenCL ICD loader, a driver such as PoCL, and clinfo: the OpenCL tests' command -v clinfo
    need 'the OpenCL C headers (CL/cl.h): a comparison with our own' has_header CL/cl.h
    need 'clang 19, libomp 19 and clang-linker-wrapper: the offload tests' command -v clang-19
    need 'Python 3.9 or newer: the modules of Fortran and Python' command -v python3
    need 'gfortran: the Fortran tests' command -v gfortran
    need 'valgrind: the tests under it' command -v valgrind
    need '/usr/bin/python3 3.9 or newer with NumPy and mpi4py: tests of the Python module' \
        /usr/bin/python3 -c 'import numpy, mpi4py'
    need 'PMIx: starting under mpirun, prterun and Slurm' pkg-config --exists pmix
    need 'mpirun: the tests of starting under it' command -v mpirun
    need 'mpiexec.hydra (MPICH): the tests of starting by PMI-1' command -v mpiexec.hydra
    need 'pgrep, ps: the tests of oshrun' sh -c 'command -v pgrep && command -v ps'
    need 'jq, hwloc-info: the tests of memquery --json' sh -c 'command -v jq && command -v hwloc-info'

    [ -z "$missing" ] || say "not here, and the tests that need them will be skipped:$missing"
    if [ -n "$needed" ]; then
        say "not here, and the build needs it:$needed"
        cat >&2 <<'TEXT'
how to get it:
  Fedora, RHEL   dnf install gcc cmake ninja-build pkgconf hwloc-devel jansson-devel
  openSUSE       zypper install gcc cmake ninja pkgconf hwloc-devel libjansson-devel
  Arch           pacman -S gcc cmake ninja pkgconf hwloc jansson
  Spack          spack install cmake ninja pkgconf hwloc jansson
TEXT
        exit 2
    fi
}

# install_deps WHAT-THEY-ARE-FOR PACKAGE...
install_deps() {
    if command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1; then
        deps_debian "$@"
    else
        deps_elsewhere
    fi
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# intel.sh, a part of bootstrap: a real driver of Level Zero, for tests.
# shellcheck disable=SC2034,SC2154 # variables of bootstrap and of the other parts
set -eu

# Intel's Level Zero driver and compiler, for tests without the device. Under build/intel and not
# installed: the OpenCL driver in the same package would be one more platform for every program.
# The driver has had a package of its own since 2025, before it was OpenCL's. The names of what they
# need differ between releases: apt knows them. What would be upgraded is left alone.
list_intel() {
    for package in libze-intel-gpu1 intel-opencl-icd; do
        names=$(apt-get -q -s --no-install-recommends install "$package" </dev/null) || continue
        echo "$package"
        printf '%s\n' "$names" | sed -n 's/^Inst \([^ ]*\) (.*/\1/p'
    done | sort -u
}

# download_intel FOLDER: the packages' libraries in FOLDER/lib, all of them or none.
download_intel() {
    mkdir -p "$1/packages"
    (
        packages=$(list_intel)
        # shellcheck disable=SC2086 # a list of names
        cd "$1/packages" && [ -n "$packages" ] &&
            apt-get -q -o APT::Sandbox::User=root download $packages </dev/null &&
            for package in ./*.deb; do
                dpkg -x "$package" ../root || exit 1
            done
    ) >"$1/log" 2>&1 || return 1
    found=$(dirname "$(find "$1/root" -name libze_intel_gpu.so.1)")
    missing=$(LD_LIBRARY_PATH=$found ldd "$found"/lib*.so.* 2>/dev/null |
        sed -n 's/^[[:space:]]*\(.*\) => not found.*/\1/p' | sort -u | tr '\n' ' ')
    if [ -n "$missing" ]; then
        echo "it needs $missing" >>"$1/log"
        return 1
    fi
    mv "$found" "$1/lib"
}

fetch_intel() {
    folder=$build/intel
    [ ! -e "$folder/lib/libze_intel_gpu.so.1" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1 || [ "$(dpkg --print-architecture)" != amd64 ]; then
        return 0
    fi
    rm -rf "$folder"
    say "fetching Intel's Level Zero driver into $folder"
    as_root=$(find_root)
    if download_intel "$folder" ||
        { [ "$as_root" != no ] && run_apt update && download_intel "$folder"; }; then
        rm -rf "$folder/packages" "$folder/root"
        return 0
    fi
    tail -n 1 "$folder/log" >"$folder/why"
    say "not fetched, and the tests on it will be skipped: $(cat "$folder/why")"
}

# A current Level Zero loader, where LEVEL_ZERO_SOURCE names a folder with its sources.
build_loader() {
    folder=$build/level-zero
    if [ -z "${LEVEL_ZERO_SOURCE:-}" ] || [ -e "$folder/lib/libze_loader.so.1" ]; then
        return 0
    fi
    mkdir -p "$build"
    say "building the Level Zero loader of $LEVEL_ZERO_SOURCE"
    if quietly "$build/level-zero-configure.log" cmake -S "$LEVEL_ZERO_SOURCE" -B "$folder" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release &&
        quietly "$build/level-zero-build.log" cmake --build "$folder"; then
        return 0
    fi
    rm -rf "$build/level-zero/lib"
    say 'not built, and the tests through it will be skipped'
}

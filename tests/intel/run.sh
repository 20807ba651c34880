#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh FOLDER PRODUCT PROGRAM [ARGUMENT...]: the program on Intel's real Level Zero driver without a
# device, pretending PRODUCT (pvc, dg2), or on the loader's driver of nothing (null). FOLDER is what `bootstrap deps` made: intel/ has the driver,
# level-zero/ (if LEVEL_ZERO_LOADER=1 asks for it) a current loader. The driver writes what it would
# send to the device into files of the current folder: it gets one of its own.
set -eu

folder=$1
product=$2
shift 2

skip() {
    echo "skipped: $*"
    exit 77
}

libraries=$folder/intel/lib
driver=$libraries/libze_intel_gpu.so.1
if [ "$product" = null ]; then
    libraries=
elif [ ! -e "$driver" ]; then
    skip "Intel's driver is not in $folder/intel: $(cat "$folder/intel/why" 2>/dev/null ||
        echo './cmake/bootstrap deps fetches it (Debian 12 on x86-64)')"
fi
if [ "${LEVEL_ZERO_LOADER:-0}" = 1 ]; then
    [ -e "$folder/level-zero/lib/libze_loader.so.1" ] ||
        skip "no loader in $folder/level-zero: LEVEL_ZERO_SOURCE=FOLDER ./cmake/bootstrap deps builds it"
    libraries=$folder/level-zero/lib${libraries:+:$libraries}
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/memspan-intel.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if [ "$product" = null ]; then
    export ZE_ENABLE_NULL_DRIVER=1
else
    export ZE_ENABLE_ALT_DRIVERS="$driver" NEOReadDebugKeys=1 SetCommandStreamReceiver=1
    export ProductFamilyOverride="$product" HardwareInfoOverride=1x4x8
    ln -s /dev/null "${product}_1x4x8_0_l0.aub" # each command and byte for a simulator, which is not here
fi
status=0
"$@" </dev/null || status=$?
exit "$status"

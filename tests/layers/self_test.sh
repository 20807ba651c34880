#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# self_test.sh: check.sh accepts a clean tree and finds each planted violation.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT INT TERM

fresh() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/include/memspan" "$tree/core/base" "$tree/core/device" "$tree/core/engine" "$tree/core/symmetric" "$tree/core/omp" "$tree/backends/host" \
        "$tree/backends/opencl" "$tree/backends/gpu" "$tree/cmd/common" "$tree/bench" "$tree/tests/api" "$tree/tests/bench" "$tree/tests/unit"
    cat >"$tree/include/memspan/status.h" <<'C'
#include <stddef.h>
C
    cat >"$tree/core/base/variable.c" <<'C'
#include "core/base/variable.h"
#include <memspan/config.h>
const char *f(void) { return getenv("X"); }
C
    cat >"$tree/core/pool.c" <<'C'
#include "core/pool.h"
#include "core/base/log.h"
#include <stdlib.h>
/* getenv() is said, not called; "opencl" too,
 * and msp_backend_opencl */
C
    printf '#include "core/pool.h"\n' >"$tree/core/omp/alloc.c"
    printf '#include "core/device/device.h"\n' >"$tree/core/engine/provider.c"
    printf '#include "core/base/log.h"\n' >"$tree/core/device/device.c"
    printf '#include "core/engine/fit.h"\n' >"$tree/core/symmetric/heap.c"
    printf '#include "backends/opencl/opencl.h"\n#include "backends/gpu/gpu.h"\n#include <CL/cl.h>\n#include "core/base/dl.h"\n' \
        >"$tree/backends/opencl/opencl.c"
    printf '#include <memspan/memspan.h>\n#include "table.h"\n' >"$tree/cmd/memquery.c"
    printf '#include <memspan/memspan.h>\n' >"$tree/tests/api/bad.c"
    printf '#include "core/pool.h"\n' >"$tree/tests/unit/pool.c"
}

# planted WHERE WHAT WORDS: with WHAT added to WHERE, check.sh fails and says WORDS.
planted() {
    fresh
    printf '%s\n' "$2" >>"$tree/$1"
    if found=$("$here/check.sh" "$tree"); then
        echo "not found in $1: $2" >&2
        exit 1
    fi
    case $found in
    *"$1:"*"$3"*) ;;
    *)
        echo "found in $1, but said: $found" >&2
        exit 1
        ;;
    esac
}

fresh
"$here/check.sh" "$tree" || { echo 'a clean tree was refused' >&2; exit 1; }
planted include/memspan/status.h '#include "core/pool.h"' 'include may not include core'
planted core/base/variable.c '#include "core/pool.h"' 'base may not include core'
planted core/pool.c '#  include "core/omp/openmp.h"' 'core may not include omp'
planted core/device/device.c '#include "core/engine/provider.h"' 'device may not include engine'
planted core/engine/provider.c '#include "core/plan.h"' 'engine may not include core'
planted core/engine/provider.c '#include "core/symmetric/heap.h"' 'engine may not include symmetric'
planted core/symmetric/heap.c '#include "core/engine/pool.h"' 'symmetric may not include engine'
planted core/pool.c '#include "backends/host/host.h"' 'core may not include backends/host'
planted core/omp/alloc.c '#include "backends/host/host.h"' 'omp may not include backends/host'
planted backends/opencl/opencl.c '#include "core/device.h"' 'backends/opencl may not include core'
planted backends/opencl/opencl.c '#include "backends/host/host.h"' 'may not include backends/host'
planted backends/gpu/gpu.h '#include "backends/opencl/opencl.h"' 'may not include backends/opencl'
planted backends/opencl/opencl.c '#include "../host/host.h"' 'path goes up'
planted cmd/memquery.c '#include "core/base/text.h"' 'cmd may not include base'
planted tests/api/bad.c '#include "core/pool.h"' 'tests may not include core'
planted tests/unit/pool.c '#include "cmd/table.h"' 'unit may not include cmd'
planted core/pool.c 'const char *home = getenv("HOME");' 'reads the environment'
planted core/pool.c 'const char *home = secure_getenv("HOME");' 'reads the environment'
planted backends/opencl/opencl.c 'char **e = environ;' 'reads the environment'
planted core/pool.c 'if (strcmp(name, "opencl") == 0) {' 'names the backend opencl'
planted core/omp/alloc.c 'x = &msp_backend_opencl;' 'names the backend opencl'
planted core/pool.c '#include "include/memspan/status.h"' 'included with <>'
planted cmd/memquery.c 'x = getenv("COLUMNS");' 'reads the environment'
planted bench/run.c 'x = getenv("COLUMNS");' 'reads the environment'
planted bench/run.c '#include "cmd/memquery/table.h"' 'bench may not include cmd'
planted cmd/common/child.c '#include "cmd/memquery/table.h"' 'cmd/common may not include cmd'
planted tests/bench/modules.c '#include "core/pool.h"' 'tests of bench may not include core'
fresh
printf '#include "bench/common/table.h"\n#include "cmd/common/child.h"\n' >"$tree/tests/bench/modules.c"
printf '#include "cmd/common/child.h"\n' | tee "$tree/bench/run.c" >"$tree/cmd/run.c"
"$here/check.sh" "$tree" || { echo 'a test of bench may open bench' >&2; exit 1; }
echo 'check.sh finds what it should'

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each public declaration that returns a status names its errors in the comment above it, which may cover a group of
# declarations. A shmemx_ routine that returns int names a MEMSPAN_ERR_, a value, or says that it does not fail.
set -eu
cd "$(dirname "$0")/../.."

awk '
    FNR == 1 { comment = ""; inside = 0 }
    /^(MEMSPAN_API memspan_status_t memspan_|MEMSPAN_API int shmemx_)/ {
        count++
        errors = "MEMSPAN_ERR_"
        if (/ int /) { errors = errors "|Errors: SHMEMX_|[Nn]e(ith|v)er fails" }
        if (comment !~ errors) { printf "%s:%d: no errors are named: %s\n", FILENAME, FNR, $0; bad = 1 }
    }
    /^[ \t]*\/\*/ { comment = ""; inside = 1 }
    inside { comment = comment $0 " "; if (/\*\//) { inside = 0 } }
    /^$/ && !inside { comment = "" }
    END {
        if (count < 60) { printf "only %d declarations were found\n", count; bad = 1 }
        exit bad
    }' include/memspan/*.h include/shmemx.h

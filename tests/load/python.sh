#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# python.sh SCRIPT ARGUMENT...: runs it; a skip where there is no Python 3 with ctypes.
set -eu
if ! python3 -c 'import ctypes' 2>/dev/null; then
    echo 'skipped: no python3 with ctypes here'
    exit 77
fi
exec python3 "$@"

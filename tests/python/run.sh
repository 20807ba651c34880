#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh SCRIPT ARGUMENT...: runs it by the system's Python, 3.9 or newer; else a skip.
set -eu
python=/usr/bin/python3
if ! "$python" -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "skipped: no $python 3.9 or newer with ctypes"
    exit 77
fi
exec "$python" "$@"

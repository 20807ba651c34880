#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leaks.sh PROGRAM: LeakSanitizer finds the lost block, and no other.
set -eu
if ASAN_OPTIONS=detect_leaks=1 "$1" lost >/dev/null 2>&1; then
    echo "skipped: LeakSanitizer reports nothing here (it needs ptrace)"
    exit 77
fi
ASAN_OPTIONS=detect_leaks=1 "$1" reachable

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shell scripts are clean under shellcheck, and bootstrap runs under a plain POSIX shell.
set -eu
cd "$(dirname "$0")/../.."

if command -v dash >/dev/null; then
    for script in cmake/bootstrap cmake/bootstrap.d/*.sh; do dash -n "$script"; done
fi
command -v shellcheck >/dev/null || { echo 'skip: no shellcheck'; exit 77; }
grep -rlE --include='*' '^#!(/bin/sh|/usr/bin/env bash)' .ci cmake cmd bench findings tests | xargs shellcheck --severity=warning

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guest.sh: in the virtual machine of lane.sh: the tests.
export PATH=/usr/sbin:/usr/bin HOME=/root TMPDIR=/tmp LC_ALL=C POCL_CACHE_DIR=/tmp/pocl
share=/tmp/share
uname -srm
read -r build <$share/build
read -r tests <$share/tests
set -- -R "$tests"
[ -n "$tests" ] || set -- -LE '^(tree|house|install)$'
ctest --test-dir "$build" --parallel 2 --output-on-failure --no-tests=error --output-junit $share/junit.xml "$@"
echo $? >$share/result

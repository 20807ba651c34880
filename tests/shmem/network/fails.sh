#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fails.sh OSHRUN PROGRAM: one operation of the network fails, at its completion or at its call (judge_driver.c). The
# job ends with the routine and the PE concerned, and does not go on as if it had succeeded.
set -u
oshrun=$1
program=$2
bad=0
for failing in put:40 get:40 send:300 flush:20 put!:40 get!:40 send!:300 flush!:20; do
    said=$(JUDGE_FAIL=$failing timeout 50 "$oshrun" -n 2 "$program" 2>&1)
    code=$?
    kind=${failing%%[!a-z]*}
    { [ $code -ne 0 ] && [ $code -lt 124 ]; } || { echo "$failing: status $code"; bad=1; }
    # A put whose call has returned fails the flush that follows.
    echo "$said" | grep -qE -- "^memspan: PE [01] of 2: .*a ($kind|flush) has failed" || { echo "$failing: $said"; bad=1; }
done
exit $bad

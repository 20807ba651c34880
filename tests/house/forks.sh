#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A lock that another thread holds while the process forks stays locked in the child for ever. So
# each lock of the core has a rank (core/base/lock.h) and is listed to be held during a fork
# (core/base/fork.h).
set -eu
cd "$(dirname "$0")/../.."
bad=0
count=0

complain() {
    echo "$*"
    bad=1
}

grep -rnE 'pthread_(mutex|rwlock)_t ' core --include='*.[ch]' | grep -v '^core/base/lock.h:' &&
    complain 'a lock without a rank'

# Not held during a fork:
#   base/option.c        for a few instructions at the start of the process
#   omp/region_task.c    by threads of an OpenMP runtime, none of which is in the child either
#   device/opening.c     by a thread that opens a driver: such forks are exempt
#   symmetric_heap.c     a child of fork() leaves its parent's heaps alone
#   queue_call.c         a child of fork() has none of its parent's queues
#   engine/pool.c        msp_pool_before_fork() holds it
exempt='core/base/option.c core/omp/region_task.c core/device/opening.c core/symmetric/symmetric_heap.c core/queue_call.c core/engine/pool.c'

for place in $(grep -rnE 'msp_lock_t .*MSP_LOCK_INIT|msp_lock_init\(' core --include='*.c' |
    sed -E 's/^([^:]*):[0-9]+:.*msp_lock_t ([a-z_]+) .*/\1:\2/; s/^([^:]*):[0-9]+:.*msp_lock_init\(&([^,]*),.*/\1:\2/'); do
    file=${place%:*}
    lock=${place#*:}
    count=$((count + 1))
    case " $exempt " in *" $file "*) continue ;; esac
    grep -qE "MSP_FORK_LOCK\($lock,|\.lock += &$lock\b|\.before += " "$file" ||
        complain "$file: $lock is not held during a fork"
done
count=$((count + $(grep -rnE '^MSP_LOCK_STATIC\(' core --include='*.c' | wc -l)))
[ "$count" -ge 25 ] || complain "only $count locks were found: are the patterns right?"
exit "$bad"

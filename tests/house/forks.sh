#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A lock that another thread holds while the process forks stays locked in the child for ever. So
# each lock of the core is taken before a fork and released after it: by a function whose name ends
# in before_fork..., which a function of fork.c, or one registered with pthread_atfork(), reaches.
set -eu
cd "$(dirname "$0")/../.."
bad=0
count=0

complain() {
    echo "$*"
    bad=1
}

# body FILE PATTERN: the functions of the file whose names match, without their comments
body() {
    awk -v pattern="$2" '
        /^[a-z].*\(/ { inside = ($0 ~ pattern) }
        inside { print }
        /^}/ { inside = 0 }' "$1"
}

# Not under these while a fork can be asked for: they are held for a few instructions at the start,
# or by threads of an OpenMP runtime, which has none of its threads in the child either.
exempt='core/base/option.c:problem_lock core/base/option.c:ready_lock core/omp/region_task.c:lock'

for place in $(grep -rnoE '^(static )?pthread_(mutex|rwlock)_t [a-z_]+' core --include='*.c' |
    sed -E 's/^([^:]*):[0-9]+:.* ([a-z_]+)$/\1:\2/'); do
    file=${place%:*}
    lock=${place#*:}
    count=$((count + 1))
    case " $exempt " in *" $place "*) continue ;; esac
    # Some have functions of their own, which the handlers call.
    taker=$(body "$file" '(_lock|_stop_all)\(' | sed -nE "/^[a-z].*\(/{s/.* (msp_[a-z_]+)\(.*/\1/;h};/mutex_lock\(&$lock\)/{g;p}")
    giver=$(body "$file" '(_unlock|_resume_all)\(' | sed -nE "/^[a-z].*\(/{s/.* (msp_[a-z_]+)\(.*/\1/;h};/mutex_unlock\(&$lock\)/{g;p}")
    { body "$file" 'before_fork' && body core/fork.c ' before\('; } |
        grep -qE "mutex_lock\(&$lock\)|\b${taker:-none}\(" ||
        complain "$file: $lock is not taken before a fork"
    { body "$file" 'after_fork' && body core/fork.c ' after_'; } |
        grep -qE "mutex_unlock\(&$lock\)|\b$lock *=|\b${giver:-none}\(" ||
        complain "$file: $lock is not released after a fork"
done
[ "$count" -ge 15 ] || complain "only $count locks were found: is the pattern right?"

# Each of these functions is called: from fork.c, from another of them, or by pthread_atfork().
for name in $(grep -rhoE '^void msp_[a-z_]*_(before|after)_fork[a-z_]*' core --include='*.c' |
    sed 's/^void //' | sort -u); do
    calls=$(grep -rhE "\b$name\b" core --include='*.c' | grep -vcE "^void $name\(")
    [ "$calls" -ge 1 ] || complain "$name() is called by nobody"
done
exit "$bad"

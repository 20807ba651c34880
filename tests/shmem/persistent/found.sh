#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# found.sh OSHRUN PES PROGRAM: blocks that the next job finds, and the words for what it does not take.
# PERSISTENT_PATH: as killed.sh.
set -eu
oshrun=$1 pes=$2 program=$3
scratch=$(mktemp -d "$PWD/persistent.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM
mkdir "$scratch/memory"
path=${PERSISTENT_PATH:-$scratch/memory}
if [ -d "$path" ] && [ "$(stat -f -c %T "$path")" = tmpfs ]; then
    echo "$path is on tmpfs, which is not persistent"
    exit 77
fi
variable=SHMEM_SYMMETRIC_PARTITION2
SHMEM_SYMMETRIC_SIZE=1m
export SHMEM_SYMMETRIC_SIZE
request=size=2m:kind=PMEM:path=$path:name=found
file=$path/found.0.memspan

# run PES WHAT...
run() {
    count=$1
    shift
    env "$variable=$request" "$oshrun" -n "$count" "$program" "$@"
}

# refused WORDS [PES]: no job, and a message that names the file and says so.
refused() {
    if run "${2:-$pes}" last >"$scratch/out" 2>&1; then
        echo "not refused: $1"
        exit 1
    fi
    grep -q -- "$1" "$scratch/out" || { echo "\"$1\" is not in:"; cat "$scratch/out"; exit 1; }
    if [ "$(wc -l <"$scratch/out")" -gt 3 ]; then echo "said more than once:"; cat "$scratch/out"; exit 1; fi
}

run "$pes" make
run "$pes" again
run "$pes" last
refused "a number of PEs of $pes" $((pes + 1))
request=size=3m:kind=PMEM:path=$path:name=found
refused "a size of 2097152"
request=size=2m:kind=PMEM:path=/dev/null:name=found
refused "no DAX device"
request=size=2m:kind=PMEM:path=$scratch/none
refused "is not there"
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
    request=size=2m:kind=PMEM:path=/dev/shm
    refused "ends with the machine"
    request=size=2m:kind=PMEM:path=/dev/shm:policy=PREFERRED
    run "$pes" none 2>"$scratch/out"
    grep -q "ordinary memory instead" "$scratch/out"
fi
request=size=2m
run "$pes" space
request=size=2m:kind=PMEM:path=$path:name=found
[ -d "$path" ] || exit 0

# Two jobs.
if run "$pes" hold "env -u SHMEMX_LAUNCH SHMEM_SYMMETRIC_SIZE=1m $variable=$request $program none" >"$scratch/out" 2>&1; then
    echo "two jobs use one partition"
    exit 1
fi
grep -q "in use by another job" "$scratch/out" || { cat "$scratch/out"; exit 1; }

# What is not as a job has left it stays as it is.
cp "$file" "$scratch/good"
restore() {
    rm -f "$file"
    cp "$scratch/good" "$file"
    chmod 600 "$file"
}
# overwrite OFFSET: 8 bytes, which are not theirs.
overwrite() {
    printf 'xxxxxxxx' | dd of="$file" bs=1 seek="$1" conv=notrunc status=none
}
truncate -s -4096 "$file"
refused "was cut or extended"
restore
truncate -s 100 "$file"
refused "is no persistent partition"
restore
printf 'something else' >"$file"
refused "is no persistent partition"
restore
overwrite 16
overwrite 65552
cp "$file" "$scratch/bad"
refused "one is torn, the other is torn"
cmp -s "$file" "$scratch/bad" || { echo "a torn file was changed"; exit 1; }
restore
overwrite 8
overwrite 65544
refused "one is of another version, the other is of another version"
restore
overwrite 0
overwrite 65536
refused "is no root of a partition"
restore
mv "$file" "$path/other.0.memspan"
request=size=2m:kind=PMEM:path=$path:name=other
refused "holds partition found, not other"
mv "$path/other.0.memspan" "$file"
request=size=2m:kind=PMEM:path=$path:name=found
chmod g+w "$file"
refused "can be written by other users"
chmod 600 "$file"
ln "$file" "$scratch/second"
refused "a second name"
rm "$scratch/second"
mv "$file" "$scratch/target"
ln -s "$scratch/target" "$file"
refused "symbolic link"
rm "$file"
mkdir "$file"
refused "cannot be opened"
rmdir "$file"
if [ "$(id -u)" -ne 0 ]; then
    cp "$scratch/good" "$file"
    chmod 0 "$file"
    refused "cannot be opened"
else
    cp "$scratch/good" "$file"
    chmod 600 "$file"
    chown 1 "$file"
    refused "is another user's"
fi
rm -f "$file"

# Not enough: nothing is left of it.
available=$(df -Pk "$path" | awk 'NR == 2 { print $4 }')
request=size=$((available + 1048576))k:kind=PMEM:path=$path:name=found
if [ "$available" -lt 200000000 ]; then # more addresses than a thread sanitizer has
    refused "and its file system has"
    [ ! -e "$file" ] || { echo "a file without its bytes is left"; exit 1; }
fi
request=size=2m:kind=PMEM:path=$path:name=found
(
    ulimit -f 2048
    refused "ulimit -f"
)
[ ! -e "$file" ] || { echo "a file without its bytes is left"; exit 1; }

# A hole cannot end a job later: it is filled.
run "$pes" none
truncate -s 0 "$file"
run "$pes" none
[ "$(($(stat -c %b "$file") * 512))" -ge $((pes * 2097152)) ] || { echo "the file has holes"; exit 1; }

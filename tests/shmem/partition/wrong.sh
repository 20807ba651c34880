#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wrong.sh OSHRUN PROGRAM: environments that cannot be had end the start of every PE with words that
# name the variable and what would help. PROGRAM starts and ends a job.
set -u
oshrun=$1
program=$2
machines=$(dirname "$0")/../../machines
limit_s=${JOB_LIMIT_S-30} # a job; more on slow machines
bad=0

# How many messages there are in $said. UCX and libfabric over TCP warn once more.
count() {
    echo "$said" | grep '^memspan' | grep -vc 'this network is trusted'
}

# refused NAME "VARIABLE=VALUE ..." WORDS...
refused() {
    name=$1; settings=$2; shift 2
    said=$(env $settings timeout "$limit_s" "$oshrun" -n 2 "$program" 2>&1)
    code=$?
    [ "$code" -ne 0 ] || { echo "$name: was taken"; bad=1; }
    [ "$code" -lt 124 ] || { echo "$name: hangs, or a signal ($code): $said"; bad=1; }
    [ "$(count)" -eq 1 ] || { echo "$name: not said once: $said"; bad=1; }
    for words in "$@"; do
        case $said in
        *"$words"*) ;;
        *) echo "$name: \"$words\" is not in: $said"; bad=1 ;;
        esac
    done
}

# differ NAME FIRST SECOND WORDS...: one PE has the one setting, one the other.
differ() {
    name=$1; first=$2; second=$3; shift 3
    said=$(timeout "$limit_s" "$oshrun" -n 2 sh -c \
        'if mkdir "$0" 2>/dev/null; then exec env $1 "$3"; else exec env $2 "$3"; fi' \
        "$scratch/$name" "$first" "$second" "$program" 2>&1)
    code=$?
    [ "$code" -ne 0 ] || { echo "$name: was taken"; bad=1; }
    [ "$code" -lt 124 ] || { echo "$name: hangs, or a signal ($code): $said"; bad=1; }
    for words in "$@"; do
        case $said in
        *"$words"*) ;;
        *) echo "$name: \"$words\" is not in: $said"; bad=1 ;;
        esac
    done
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

P=SHMEM_SYMMETRIC_PARTITION
refused no_size ${P}2= ${P}2 "is no size"
refused no_trait ${P}2=1m:knd=N ${P}2 '"knd" at character 4 is no trait'
refused no_kind ${P}2=1m:kind=HBM ${P}2 '"HBM" at character 9' FASTMEM
refused no_policy ${P}2=1m:policy=always ${P}2 '"always"' MANDATORY
refused no_number ${P}X=1m ${P}X "0 to 1023"
refused large_number ${P}1024=1m ${P}1024 "0 to 1023"
refused two_sizes "SHMEM_SYMMETRIC_SIZE=1m ${P}1=1m" SHMEM_SYMMETRIC_SIZE ${P}1
refused old_size "SMA_SYMMETRIC_SIZE=1m ${P}1=1m" SMA_SYMMETRIC_SIZE ${P}1
refused strict "SHMEMX_STRICT_PARTITIONS=1 ${P}2=1m" "no partition 1"
refused too_many "SHMEM_MAX_PARTITIONS=1 ${P}1=1m ${P}2=1m" SHMEM_MAX_PARTITIONS
refused max_of_max "SHMEM_MAX_PARTITIONS=65" SHMEM_MAX_PARTITIONS "1 to 64"
refused no_default "SHMEMX_DEFAULT_PARTITION=9 ${P}1=1m" SHMEMX_DEFAULT_PARTITION
refused no_mapped "SHMEMX_LIBOMP_PARTITION=9 ${P}1=1m" SHMEMX_LIBOMP_PARTITION ${P}9
refused more_than_addresses ${P}2=100t ${P}2 "more than a heap"
refused more_than_all ${P}2=60t ${P}2
refused no_device ${P}2=1m:kind=DEVICE@77 ${P}2 "DEVICE@77"
refused no_cuda ${P}2=1m:kind=CUDA@31 ${P}2 "CUDA@31" memquery
refused no_emu ${P}2=1m:kind=EMU ${P}2 MEMSPAN_DEVICES
refused no_openmp ${P}2=1m:kind=LIBOMP ${P}2 OpenMP offload
refused no_fast "HWLOC_SYNTHETIC=pu:2 ${P}2=1m:kind=FASTMEM:policy=MANDATORY" ${P}2 "known to be faster" PREFERRED
# Ordinary memory that is the fastest is no fast memory: it would take the slower nodes too.
refused none_faster "HWLOC_XMLFILE=$machines/ddr-pmem.xml ${P}2=1m:kind=FASTMEM:policy=MANDATORY" ${P}2 "known to be faster" PREFERRED
refused no_large "HWLOC_SYNTHETIC=pu:2 ${P}2=1m:kind=LARGEMEM:policy=MANDATORY" ${P}2 "known to be larger" PREFERRED
# The larger of two ordinary nodes is ordinary.
sed '/os_index="2"/s/local_memory="/&9/' "$machines/no-memory.xml" >"$scratch/uneven.xml"
refused none_larger "HWLOC_XMLFILE=$scratch/uneven.xml ${P}2=1m:kind=LARGEMEM:policy=MANDATORY" ${P}2 "known to be larger" PREFERRED
refused no_pages ${P}2=1m:pgsize=512k:policy=M ${P}2 524288
refused heap_too_large SHMEM_SYMMETRIC_SIZE=2t SHMEM_SYMMETRIC_SIZE "1 TiB"
refused partition_too_large "${P}2=2t" ${P}2 "1 TiB"
refused malformed_size SHMEM_SYMMETRIC_SIZE=abc SHMEM_SYMMETRIC_SIZE abc
refused no_transport SHMEMX_TRANSPORT=pigeon "SHMEMX_TRANSPORT=pigeon" "transports here are"
refused no_pes_of_host SHMEMX_TRANSPORT=tcp:0 "SHMEMX_TRANSPORT=tcp:0"
refused pes_of_host SHMEMX_TRANSPORT=tcp:2x "SHMEMX_TRANSPORT=tcp:2x"

differ size ${P}2=1m ${P}2=2m "${P}2 differs between PE 0 and PE " mpirun
differ kind ${P}3=1m:kind=N ${P}3=1m:kind=S "${P}3 differs between PE 0 and PE "
differ missing ${P}4=1m UNUSED=1 "${P}4 differs between PE 0 and PE "
differ malformed ${P}4=1m ${P}4=1x "${P}4"
differ order MEMSPAN_SHMEM_TRANSPORT=smp MEMSPAN_SHMEM_TRANSPORT=tcp:1 "MEMSPAN_SHMEM_TRANSPORT differs between PE"
differ default SHMEM_SYMMETRIC_SIZE=1m SHMEM_SYMMETRIC_SIZE=2m "SHMEM_SYMMETRIC_SIZE differs between PE 0 and PE "

# Names that are like ours are ours, misspelt; others are another library's.
said=$(env SHMEM_SYMETRIC_SIZE=1m SMA_SYMMETRIC_PARTITON5=2m SHMEMX_CHEK=1 SHMEM_OFI_PROVIDER=tcp \
    timeout "$limit_s" "$oshrun" -n 2 "$program" 2>&1)
[ $? -eq 0 ] || { echo "misspelt: refused: $said"; bad=1; }
for words in 'SHMEM_SYMETRIC_SIZE is no variable of Memspan; perhaps SHMEM_SYMMETRIC_SIZE?' \
    'SMA_SYMMETRIC_PARTITON5 is no variable of Memspan; perhaps SMA_SYMMETRIC_PARTITION' \
    'SHMEMX_CHEK is no variable of Memspan; perhaps SHMEMX_CHECK?'; do
    case $said in
    *"$words"*) ;;
    *) echo "misspelt: \"$words\" is not in: $said"; bad=1 ;;
    esac
done
[ "$(echo "$said" | grep -c 'is no variable')" -eq 3 ] || { echo "misspelt: more is said: $said"; bad=1; }

# The other name of a variable counts while the first is unset.
said=$(env SMA_SYMMETRIC_SIZE=none SHMEM_SYMMETRIC_SIZE=1m timeout "$limit_s" "$oshrun" -n 2 "$program" 2>&1)
[ $? -eq 0 ] || { echo "two names: refused: $said"; bad=1; }
[ "$(echo "$said" | grep -c 'SHMEM_SYMMETRIC_SIZE and SMA_SYMMETRIC_SIZE differ: the former counts')" -eq 1 ] ||
    { echo "two names: not said once: $said"; bad=1; }
said=$(env SMA_SYMMETRIC_SIZE=1m MEMSPAN_LOG=info timeout "$limit_s" "$oshrun" -n 2 "$program" 2>&1)
[ "$(echo "$said" | grep -c 'SMA_SYMMETRIC_SIZE is another name of SHMEM_SYMMETRIC_SIZE')" -eq 1 ] ||
    { echo "other name: not said once: $said"; bad=1; }

# A limit on the size of files is said, instead of ending a process by its signal: by each host, for it has no
# control memory then.
said=$( (ulimit -f 5000; exec timeout "$limit_s" "$oshrun" -n 2 "$program") 2>&1)
case $said in
*"ulimit -f"*) ;;
*) echo "file_size: \"ulimit -f\" is not in: $said"; bad=1 ;;
esac
hosts=${SHMEMX_TRANSPORT:+2}
[ "$(count)" -le "${hosts:-1}" ] || { echo "file_size: not said once: $said"; bad=1; }

# What is refused to those who insist is said, and done without, for others.
said=$(env ${P}2=1m:kind=CUDA@31:policy=preferred timeout "$limit_s" "$oshrun" -n 2 "$program" 2>&1)
[ $? -eq 0 ] || { echo "preferred: refused: $said"; bad=1; }
case $said in
*warning*"ordinary memory instead"*) ;;
*) echo "preferred: nothing is said of it: $said"; bad=1 ;;
esac
# One variable for one partition, and id 0 alone.
env SHMEM_MAX_PARTITIONS=1 ${P}0=SIZE=1m timeout "$limit_s" "$oshrun" -n 2 "$program" ||
    { echo "partition 0 alone: refused"; bad=1; }
exit $bad

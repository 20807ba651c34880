#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# trust.sh PROGRAM INTRUDER OSHRUN PLACE LIBRARY...: a set-user-id copy of PROGRAM is started with every variable by
# which a driver, hwloc, PMIx or we ourselves could be made to load INTRUDER or to write a file.
# Each variable that takes effect on this machine is first seen to do so without set-user-id.
set -eu
program=$1
intruder=$2
oshrun=$3
place=$4
shift 4
bad=0

[ "$(id -u)" -eq 0 ] || { echo 'SKIP only root can make a program that belongs to another user'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
# The user's copy may be below a folder of root's, as /root is: all that it needs is in its own folder,
# whose name takes PLACE's in the program, with as many characters.
guarded=$folder/guarded
cp -L "$@" "$folder"
padded=$folder
while [ ${#padded} -lt ${#place} ]; do
    padded=$padded/
done
LC_ALL=C sed "s|$place|$padded|" "$program" >"$guarded"
cp "$guarded" "$folder/plain"
program=$folder/plain
chmod 755 "$program"
cp "$intruder" "$folder/intruder.so"
chown nobody "$guarded"
chmod 4755 "$guarded"
said=$("$guarded" 2>&1) || { echo "the set-user-id program does not run: $said"; exit 1; }
case $said in
*'secure 1'*) ;;
*) echo 'SKIP set-user-id has no effect on this file system'; exit 77 ;;
esac

mkdir "$folder/vendors" "$folder/plugins" "$folder/cache"
echo "$folder/intruder.so" >"$folder/vendors/intruder.icd"
cp "$intruder" "$folder/plugins/hwloc_intruder.so"
cp "$intruder" "$folder/plugins/pmix_mca_bfrops_intruder.so"
chmod 777 "$folder/cache"

complain() {
    echo "$*"
    bad=1
}

has_library() {
    ldconfig -p 2>/dev/null | grep -q "$1" || [ -e "/usr/lib/$(uname -m)-linux-gnu/$1" ]
}

# refused VARIABLE=VALUE...: the set-user-id program loads nothing.
refused() {
    said=$(env "$@" "$guarded" 2>&1) || complain "$*: the program failed: $said"
    case $said in *INTRUDED*) complain "$*: code of the program's user ran" ;; esac
    case $said in *mapped*) complain "$*: $(echo "$said" | grep mapped | sort -u | tr '\n' ' ')" ;; esac
    case $said in *'block yes'*) ;; *) complain "$*: no memory: $said" ;; esac
    if [ -n "$(ls -A "$folder/cache")" ]; then
        complain "$*: $(ls -A "$folder/cache") was written"
        rm -rf "$folder/cache"/* "$folder/cache"/.[!.]*
    fi
}

# effective LIBRARY VARIABLE=VALUE...: without set-user-id it loads the code; and then refused.
effective() {
    library=$1
    shift
    if [ -z "$library" ] || has_library "$library"; then
        said=$(env "$@" "$program" 2>&1) || true
        case $said in
        *INTRUDED*) ;;
        *) complain "$*: has no effect even without set-user-id, so this test shows nothing" ;;
        esac
    fi
    refused "$@"
}

effective '' "MEMSPAN_BACKEND_PATH=$folder/intruder.so"
effective libOpenCL.so.1 "OCL_ICD_VENDORS=$folder/vendors/"
effective libOpenCL.so.1 "OCL_ICD_VENDORS=$folder/intruder.so"
effective libze_loader.so.1 "ZE_ENABLE_ALT_DRIVERS=$folder/intruder.so"
effective libhwloc.so.15 "HWLOC_PLUGINS_PATH=$folder/plugins"
refused "OPENCL_LAYERS=$folder/intruder.so"
refused ZE_ENABLE_NULL_DRIVER=1 ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_TRACING_LAYER=1
refused "CUDA_INJECTION64_PATH=$folder/intruder.so"
refused "POCL_CACHE_DIR=$folder/cache"
refused "MEMSPAN_TRACE=$folder/cache/trace.json"
refused "HWLOC_XMLFILE=/etc/shadow"
# What made drivers open before anything was asked of a device.
refused 'OMP_ALLOCATOR=omp_default_mem_space:preferred_device=0' "OCL_ICD_VENDORS=$folder/vendors/"
refused MEMSPAN_DEVICES=opencl:0 "OCL_ICD_VENDORS=$folder/vendors/"
refused MEMSPAN_DEVICES=emu:1

# Why a backend is off is said.
said=$("$guarded" 2>&1)
for name in cuda hip level_zero opencl openmp; do
    case $said in
    *"backend $name off: not opened: the program runs with more rights than its user"*) ;;
    *) complain "the reason why $name is off: $said" ;;
    esac
done
case $(MEMSPAN_DEVICES=emu:1 "$guarded" 2>&1) in
*'backend emu off: not opened: '*) ;;
*) complain 'emu was opened, or its reason is another' ;;
esac
case $said in *'backend host on'*) ;; *) complain "the host is off: $said" ;; esac

# A job: partitions open drivers, and a launcher's channel is another process's.
said=$(env SHMEM_SYMMETRIC_PARTITION2=size=1m:kind=OPENCL "OCL_ICD_VENDORS=$folder/vendors/" \
    SHMEM_SYMMETRIC_SIZE=1m "$guarded" shmem 2>&1) || true
case $said in *INTRUDED* | *mapped*) complain "partition of an OpenCL device: $said" ;; esac
said=$(env SHMEM_SYMMETRIC_SIZE=1m "$guarded" shmem 2>&1) || complain "a job of one: $said"
case $said in *'PEs 1'*) ;; *) complain "a job of one: $said" ;; esac
said=$(env SHMEM_SYMMETRIC_SIZE=1m PMIX_NAMESPACE=job PMIX_RANK=0 "PMIX_MCA_mca_base_component_path=$folder/plugins" \
    "$guarded" shmem 2>&1) && complain "a launcher that cannot be trusted was not refused: $said"
case $said in
*'more rights than its user'*) ;;
*) complain "PMIx: $said" ;;
esac
case $said in *INTRUDED* | *mapped*) complain "PMIx was opened: $said" ;; esac
said=$(env SHMEM_SYMMETRIC_SIZE=1m "$oshrun" -n 2 "$guarded" shmem 2>&1) &&
    complain "a PE with more rights than its peers was started: $said"
case $said in *'more rights than its user'*) ;; *) complain "oshrun: $said" ;; esac
exit "$bad"

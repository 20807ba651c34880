/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_H
#define MEMSPAN_H

/** @file memspan.h
 * Memspan: one interface to all memory that a program can reach, selected by the devices that must
 * reach it.
 *
 * Read the headers in this order:
 *   status.h     codes, the per-thread error record
 *   device.h     devices, kinds of memory, reachability; backends; NUMA nodes
 *   space.h      memory spaces: the devices that must reach the memory
 *   trait.h      allocator traits
 *   allocator.h allocators, memory, and queries of results
 *   transfer.h   copies, fills, prefetches, moves, built-in kernels
 *   queue.h      work and memory in the order of a stream
 *   share.h      device memory for other processes and network cards
 *   import.h     host pages of the program, made reachable by devices
 *   loop.h       work that follows memory
 *   hook.h       callbacks on allocation and free
 *   placement.h  memory by call site, for tools
 *   dlpack.h     DLPack's tensors, for the bindings of languages
 *   torch.h      the functions of PyTorch's pluggable allocator
 *   config.h     environment variables
 * and, not included here:
 *   omp.h        the extended OpenMP names, for OpenMP programs
 *   backend.h    the contract of a backend, for plug-ins
 *   memspan.hpp  C++17: the standard containers over this memory
 *   umf.h        allocators in the Unified Memory Framework, and
 *   cuda_mr.hpp  in CCCL and RMM, where their headers are */

#include <memspan/allocator.h>
#include <memspan/config.h>
#include <memspan/device.h>
#include <memspan/dlpack.h>
#include <memspan/hook.h>
#include <memspan/import.h>
#include <memspan/loop.h>
#include <memspan/placement.h>
#include <memspan/queue.h>
#include <memspan/share.h>
#include <memspan/space.h>
#include <memspan/status.h>
#include <memspan/torch.h>
#include <memspan/trait.h>
#include <memspan/transfer.h>

#endif /* MEMSPAN_H */

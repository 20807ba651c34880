/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_DEVICES_H
#define MEMSPAN_CORE_OMP_DEVICES_H

/* Device numbers as the OpenMP calls have them.
 *
 * With an offload runtime that has devices, its numbers are everyone's. Where the runtime has none,
 * omp_get_initial_device() answers 0, which may be our first device too. Then -1 means the host,
 * and 0 in a list is refused, unless MEMSPAN_DEVICES is set: with it, the program has opted in, and
 * omp_get_num_devices() and omp_get_initial_device() answer our numbers. All this holds without any
 * runtime as well: linkers drop one that has become unneeded because we come first, and the program
 * must not notice. */

#include <memspan/status.h>
#include <stdbool.h>

/* The real runtime's result; 0 devices where there is no runtime. */
int msp_omp_runtime_device_count(void);
int msp_omp_runtime_host(void);

/* True when omp_get_num_devices() answers our numbers. */
bool msp_omp_numbers_are_ours(void);

/* The device that a number given to an OpenMP call means: MEMSPAN_HOST or a number of ours.
 * MEMSPAN_ERR_AMBIGUOUS, with both readings; MEMSPAN_ERR_INVALID for numbers that no reading has.
 */
memspan_status_t msp_omp_device_from(int number, int *device_p);

/* GCC 16's omp_default_device: whichever device is the calling task's default. */
enum { MSP_OMP_DEFAULT_DEVICE = -5 };

/* @p number, or the default device's where it stands for that. The first step of routines that take
 * devices. */
int msp_omp_device_number(int number);

/* True when this number is a device of the real runtime. */
bool msp_omp_runtime_has(int number);

/* The default device as memspan numbers it; MEMSPAN_HOST where there are no devices. */
int msp_omp_default_device(void);

/* The runtime's number of the default device: one call, where the other needs the count of devices
 * too, for which LLVM's runtimes look up symbols. The host's number is no device's. */
int msp_omp_region_device(void);

#endif /* MEMSPAN_CORE_OMP_DEVICES_H */

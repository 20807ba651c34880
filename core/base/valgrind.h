/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_VALGRIND_H
#define MEMSPAN_CORE_BASE_VALGRIND_H

#include <stdbool.h>

/* Whether valgrind runs the process. The first call reads /proc/self/maps. */
bool msp_valgrind_runs(void);

#endif /* MEMSPAN_CORE_BASE_VALGRIND_H */

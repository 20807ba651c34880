/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_REGION_TASK_H
#define MEMSPAN_CORE_OMP_REGION_TASK_H

#include <stdbool.h>

/* The calling thread runs a target region that its program has yet to wait for (nowait). */
bool msp_region_is_unwaited(void);

#endif /* MEMSPAN_CORE_OMP_REGION_TASK_H */

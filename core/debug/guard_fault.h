/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_GUARD_FAULT_H
#define MEMSPAN_CORE_DEBUG_GUARD_FAULT_H

/* An access that a closed page of the guard has stopped: report the block, before the program ends.
 */

/* Install the handler of SIGSEGV. With MEMSPAN_DEBUG=guard, and never otherwise. */
void msp_guard_fault_watch(void);

#endif /* MEMSPAN_CORE_DEBUG_GUARD_FAULT_H */

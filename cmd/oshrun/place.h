/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PLACE_H
#define OSHRUN_PLACE_H

/* Binding of PEs to cores. */

#include "options.h"

/* Number of cores that this process may use; at least 1. */
int place_count(void);

/* Bind this process, which becomes that PE. */
void place_pe(enum binding binding, int pe);

#endif /* OSHRUN_PLACE_H */

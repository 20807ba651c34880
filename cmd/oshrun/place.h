/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PLACE_H
#define OSHRUN_PLACE_H

/* Cores: which there are to run on, and which is whose. */

#include "options.h"

/* How many cores this process may run on; at least 1. */
int place_count(void);

/* Bind this process, which is to be that PE. */
void place_pe(enum binding binding, int pe);

#endif /* OSHRUN_PLACE_H */

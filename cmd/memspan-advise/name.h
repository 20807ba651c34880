/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_NAME_H
#define CMD_ADVISE_NAME_H

#include "cmd/memspan-advise/profile.h"

/* Name every site by the line of source that tells it apart, where that is known; else by a frame.
 */
void name_sites(struct profile *profile);

#endif /* CMD_ADVISE_NAME_H */

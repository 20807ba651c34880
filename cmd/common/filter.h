/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_FILTER_H
#define CMD_COMMON_FILTER_H

/* Filters of system calls (seccomp) that this process is under: their number where the kernel tells
 * it (Linux 5.9), else whether there are any. By open, read and close, which the loader makes too.
 */
int cli_filter_count(void);

#endif /* CMD_COMMON_FILTER_H */

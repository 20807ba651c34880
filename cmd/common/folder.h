/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_FOLDER_H
#define CMD_COMMON_FOLDER_H

/* Folders for temporary files that go with the process, also when it is killed. */

#include <stdbool.h>

/* A process of its own removes the folder when this one ends, however that is. False with errno:
 * there is no such process. */
bool cli_folder_guard(const char *folder);

/* The folder, and its contents on the same file system. */
void cli_folder_remove(const char *folder);

#endif /* CMD_COMMON_FOLDER_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_FOLDER_H
#define CMD_COMMON_FOLDER_H

/* Folders for temporary files that go with the process, also when it is killed. */

#include <stdbool.h>

/* Make one, as mkdtemp() does. A process of its own makes it, and removes it when this one ends,
 * however and whenever that is. False with errno. */
bool cli_folder_make(char *path);

/* The folder, and its contents on the same file system. */
void cli_folder_remove(const char *folder);

#endif /* CMD_COMMON_FOLDER_H */

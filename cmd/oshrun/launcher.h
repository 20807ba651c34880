/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_LAUNCHER_H
#define OSHRUN_LAUNCHER_H

/* Other launchers: prterun, Open MPI's mpirun and srun start PEs on several hosts. They get what
 * oshrun was given, in their own words. */

#include "options.h"

/* Run the launcher of the options, or the first that is installed, and end as it ends; with status
 * 124 at the time limit. Ends the process with a message when there is none. */
_Noreturn void launcher_run(const struct options *options);

#endif /* OSHRUN_LAUNCHER_H */

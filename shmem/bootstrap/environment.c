/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of launchers. Two processes that each start as a job of one are the classic failure of a
 * start-up that has gone wrong: the checks here detect it. */

#include "shmem/bootstrap/sources.h"
#include <stdlib.h>

/* Sizes of the step that runs, not of the allocation: a batch script of four tasks may well start a
 * program by itself. */
static const struct msp_bootstrap_claim claims[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun",
     "libpmix.so.2 must be found (LD_LIBRARY_PATH), and its PMIX_* variables must reach the "
     "program",
     0},
    {"SLURM_STEP_NUM_TASKS", "Slurm's srun",
     "use srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows which is there), or oshrun -n N in "
     "a one-node allocation",
     0},
    {"FLUX_JOB_SIZE", "Flux",
     "use flux run -o pmi=simple or -o pmi=pmix, or oshrun -n N on one node", 0},
    {"PMI_SIZE", "a PMI launcher (MPICH's or Intel MPI's mpiexec, hydra)",
     "the descriptor of PMI_FD must reach the program open (a shell between them may close it); "
     "else use oshrun -n N on one node, Open MPI's mpirun, or prterun",
     0},
    {"MPI_LOCALNRANKS", "MPICH's mpiexec",
     "PMI_FD must reach the program; else use oshrun -n N on one node, Open MPI's mpirun, or "
     "prterun",
     0},
};

struct msp_bootstrap_claim msp_bootstrap_find_claim(void)
{
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        const char *value = msp_variable_text(claims[i].variable);
        if (value != NULL && atoi(value) > 0) {
            struct msp_bootstrap_claim claim = claims[i];
            claim.pe_count                   = atoi(value);
            return claim;
        }
    }
    if (msp_variable_text("PMIX_NAMESPACE") != NULL) {
        return (struct msp_bootstrap_claim){
            "PMIX_NAMESPACE",
            msp_variable_text("PRTE_LAUNCHED") != NULL ? "PRRTE's prterun" : "a PMIx launcher",
            "libpmix.so.2 must be found (LD_LIBRARY_PATH); where no launcher started this "
            "process, unset PMIX_NAMESPACE",
            0};
    }
    /* No variable of PALS has the number of PEs. It is in the file that PALS_APINFO names, whose
     * layout depends on its version: a job of one PE is refused too. */
    if (msp_variable_text("PALS_RANKID") != NULL) {
        return (struct msp_bootstrap_claim){
            "PALS_RANKID", "PALS (HPE's mpiexec or aprun)",
            "use mpiexec --pmi=pmix, prterun, or oshrun -n N on one node; for one PE, and where no "
            "launcher started this process, unset PALS_RANKID",
            0};
    }
    return (struct msp_bootstrap_claim){0};
}

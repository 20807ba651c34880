/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_alone.c: whether MPI starts after another library of the process has connected to PMIx,
 * without OpenSHMEM. Its arguments are not declared by PMIx's headers, which may not be here. */

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char self[4096];
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
    void *first   = (library != NULL) ? dlsym(library, "PMIx_Init") : NULL;
    void *last    = (library != NULL) ? dlsym(library, "PMIx_Finalize") : NULL;
    int (*start)(void *, void *, size_t);
    int (*end)(void *, size_t);

    memcpy(&start, &first, sizeof start);
    memcpy(&end, &last, sizeof end);
    if ((first == NULL) || (last == NULL) || (start(self, NULL, 0) != 0)) {
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return (end(NULL, 0) == 0) ? 0 : 3;
}

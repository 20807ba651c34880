/* SPDX-License-Identifier: BSD-3-Clause */
/* A libpmix.so.2 as far as oshrun's server calls it. Its plug-ins for maps are those of PMIx 7: it
 * starts where no other is asked for. No PE connects to it. FAKE_PMIX=refuse: it does not start. */

#include <pmix.h>
#include <pmix_server.h>
#include <stdlib.h>
#include <string.h>

static bool has_plugin(const char *name)
{
    return (name == NULL) || (name[0] == '^') || (strcmp(name, "raw") == 0) ||
           (strcmp(name, "compress") == 0);
}

pmix_status_t PMIx_server_init(pmix_server_module_t *module, pmix_info_t info[], size_t count)
{
    (void)module, (void)info, (void)count;
    return (has_plugin(getenv("PMIX_MCA_preg")) && (getenv("FAKE_PMIX") == NULL))
               ? PMIX_SUCCESS
               : PMIX_ERR_NOT_FOUND;
}

pmix_status_t PMIx_server_register_nspace(const pmix_nspace_t name, int pes, pmix_info_t info[],
                                          size_t count, pmix_op_cbfunc_t done, void *context)
{
    (void)name, (void)pes, (void)info, (void)count, (void)done, (void)context;
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *object, pmix_op_cbfunc_t done, void *context)
{
    (void)proc, (void)uid, (void)gid, (void)object, (void)done, (void)context;
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t PMIx_server_setup_fork(const pmix_proc_t *proc, char ***variables)
{
    static char job[] = "PMIX_NAMESPACE=job";

    (void)proc;
    *variables = calloc(2, sizeof **variables);
    if (*variables == NULL) {
        return PMIX_ERR_NOMEM;
    }
    (*variables)[0] = job;
    return PMIX_SUCCESS;
}

void PMIx_server_deregister_nspace(const pmix_nspace_t name, pmix_op_cbfunc_t done, void *context)
{
    (void)name;
    done(PMIX_SUCCESS, context);
}

pmix_status_t PMIx_server_finalize(void)
{
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_generate_regex(const char *input, char **map)
{
    *map = strdup(input);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_generate_ppn(const char *input, char **map)
{
    return PMIx_generate_regex(input, map);
}

const char *PMIx_Error_string(pmix_status_t status)
{
    (void)status;
    return "NOT-FOUND";
}

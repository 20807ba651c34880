/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP backend where there is nothing for it: off, with the reason, and nothing loaded.
 * tests/fakes/offload and tests/programs/offload have devices. */

#include "core/base/error.h"
#include "core/device/backend.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>

extern const memspan_backend_t msp_backend_openmp;
static const memspan_backend_t *const table = &msp_backend_openmp;

static void expect_off(const char *reason)
{
    void *state = NULL;

    cr_assert_eq(table->open(&memspan_services, &state), MEMSPAN_ERR_OFF);
    cr_assert(state == NULL);
    cr_assert(strstr(memspan_error_last()->message, reason) != NULL, "it says: %s",
              memspan_error_last()->message);
    cr_assert(strstr(memspan_error_last()->hint, "-fopenmp-targets") != NULL);
    cr_assert_str_eq(memspan_error_last()->backend, "openmp");
}

Test(openmp_backend, table_is_whole)
{
    cr_assert_eq(table->abi, MEMSPAN_BACKEND_ABI);
    cr_assert_eq(table->struct_size, sizeof(memspan_backend_t));
    cr_assert_eq(table->flags, MEMSPAN_BACKEND_NUMBERS_DEVICES);
    cr_assert((table->import == NULL) == (table->release == NULL));
    cr_assert((table->copy != NULL) && (table->fill != NULL) && (table->synchronize != NULL));
    cr_assert(table->launch == NULL);
}

Test(openmp_backend, no_runtime)
{
    expect_off("no OpenMP offload runtime in this process");
    cr_assert(dlopen("libomptarget.so", RTLD_LAZY | RTLD_NOLOAD) == NULL);
    cr_assert(dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD) == NULL);
}

/* GCC's runtime has the calls, and on a machine without its offload plug-ins no devices. */
Test(openmp_backend, runtime_without_devices)
{
    int (*device_count)(void) = NULL;
    void *library             = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address;

    if (library == NULL) {
        cr_skip_test("libgomp is not installed");
    }
    address = dlsym(library, "omp_get_num_devices");
    memcpy(&device_count, &address, sizeof(device_count));
    if (device_count() > 0) {
        cr_skip_test("libgomp has devices here");
    }
    expect_off("has no devices");
}

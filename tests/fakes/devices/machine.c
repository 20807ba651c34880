/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"
#include "control.h"
#include "sums.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void machine_pretend(const char *fakea, const char *fakeb)
{
    setenv("MEMSPAN_BACKEND_PATH", FAKES, 1);
    setenv("MEMSPAN_BACKENDS", "fakea,fakeb", 1);
    setenv("MEMSPAN_LOG", "error", 1);
    if (fakea != NULL) {
        setenv("FAKEA_DEVICES", fakea, 1);
    }
    if (fakeb != NULL) {
        setenv("FAKEB_DEVICES", fakeb, 1);
    }
}

memspan_status_t machine_allocator(const int *devices, size_t device_count, const char *text,
                                   memspan_allocator_h *allocator_p)
{
    memspan_trait_t traits[16];
    memspan_space_h space;
    size_t count;
    memspan_status_t status = memspan_trait_parse(text, traits, 16, &count);

    cr_assert_eq(status, MEMSPAN_OK, "%s", memspan_error_text());
    status = memspan_space_get(devices, device_count, MEMSPAN_SPACE_NULL, &space);
    return (status == MEMSPAN_OK) ? memspan_allocator_create(space, traits, count, allocator_p)
                                  : status;
}

void machine_expect_clean(void)
{
    const char *problem;

    memspan_trim(); /* the guard's quarantine too */
    problem = sums_problem();
    cr_expect_null(problem, "%s", problem);
}

struct fake_control *machine_control(int vendor)
{
    char paths[] = FAKES;
    char *colon  = strchr(paths, ':');
    void *plugin;
    void *control;

    *colon  = '\0';
    plugin  = dlopen((vendor == 0) ? paths : colon + 1, RTLD_NOW | RTLD_LOCAL);
    control = (plugin == NULL) ? NULL : dlsym(plugin, FAKE_CONTROL);
    cr_assert(control != NULL, "%s", dlerror());
    return control;
}

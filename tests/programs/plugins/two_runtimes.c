/* SPDX-License-Identifier: BSD-3-Clause */
/* two_runtimes.c PLUGIN...: a program without OpenMP opens plug-ins whose runtimes differ, and each
 * must be served by its own, whatever was opened first. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

enum { PLUGINS_MAX = 4 };

static int failed;

static void check(const char *plugin, const char *step, const char *why)
{
    if (why != NULL) {
        fprintf(stderr, "%s: %s: %s\n", plugin, step, why);
        failed = 1;
    }
}

typedef const char *step_fn(int allocator);
typedef const char *offload_fn(void);

int main(int argc, char **argv)
{
    void *plugins[PLUGINS_MAX];
    int i;

    for (i = 1; (i < argc) && (i <= PLUGINS_MAX); i++) {
        plugins[i - 1] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (plugins[i - 1] == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        check(argv[i], "set", ((step_fn *)(uintptr_t)dlsym(plugins[i - 1], "plugin_set"))(i + 1));
    }
    for (i = 1; i < argc; i++) {
        check(argv[i], "default allocator",
              ((step_fn *)(uintptr_t)dlsym(plugins[i - 1], "plugin_check"))(i + 1));
        check(argv[i], "devices",
              ((offload_fn *)(uintptr_t)dlsym(plugins[i - 1], "plugin_offload"))());
    }
    return failed;
}

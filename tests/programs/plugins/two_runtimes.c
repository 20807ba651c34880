/* SPDX-License-Identifier: BSD-3-Clause */
/* two_runtimes.c PLUGIN...: a program without OpenMP opens plug-ins whose runtimes differ, and each
 * must be served by the one that makes its teams, whatever was opened first. +LIBRARY makes a
 * library visible everywhere, as LLVM's offload runtime makes libomp; lazy leaves the calls of the
 * plug-ins after it unbound, now binds them. again lets the last plug-in, whose parallel regions
 * are not bound yet, go on with the runtime that they will be bound to. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
typedef const char *ask_fn(void);

struct plugin {
    const char *path;
    void *handle;
    const char *runtime;
};

static struct plugin plugins[PLUGINS_MAX];
static int count;

static void *routine(const struct plugin *plugin, const char *name)
{
    void *address = dlsym(plugin->handle, name);

    check(plugin->path, name, (address == NULL) ? dlerror() : NULL);
    return address;
}

static int open_plugin(const char *path, int flags)
{
    struct plugin *p = &plugins[count];

    *p = (struct plugin){.path = path, .handle = dlopen(path, flags | RTLD_LOCAL)};
    if (p->handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    p->runtime = ((ask_fn *)(uintptr_t)routine(p, "plugin_runtime"))();
    count++;
    check(path, "runtime", (p->runtime == NULL) ? "there is none" : NULL);
    check(path, "set", ((step_fn *)(uintptr_t)routine(p, "plugin_set"))(count + 1));
    return failed;
}

static void go_on(struct plugin *p)
{
    p->runtime = ((ask_fn *)(uintptr_t)routine(p, "plugin_runtime"))();
    check(p->path, "again", ((step_fn *)(uintptr_t)routine(p, "plugin_again"))(count + 1));
}

/* What the last plug-in of the same runtime has set. */
static int expected(const struct plugin *p)
{
    int i = count - 1;

    while (strcmp(plugins[i].runtime, p->runtime) != 0) {
        i--;
    }
    return i + 2;
}

int main(int argc, char **argv)
{
    int flags = RTLD_NOW;
    int i;

    for (i = 1; (i < argc) && (count < PLUGINS_MAX); i++) {
        if ((strcmp(argv[i], "lazy") == 0) || (strcmp(argv[i], "now") == 0)) {
            flags = (argv[i][0] == 'l') ? RTLD_LAZY : RTLD_NOW;
        } else if ((strcmp(argv[i], "again") == 0) && (count > 0)) {
            go_on(&plugins[count - 1]);
        } else if (argv[i][0] == '+') {
            check(argv[i], "open",
                  (dlopen(argv[i] + 1, RTLD_LAZY | RTLD_GLOBAL) == NULL) ? dlerror() : NULL);
        } else if (open_plugin(argv[i], flags) != 0) {
            return 1;
        }
    }
    for (i = 0; i < count; i++) {
        const struct plugin *p = &plugins[i];

        check(p->path, "default allocator",
              ((step_fn *)(uintptr_t)routine(p, "plugin_check"))(expected(p)));
        check(p->path, "devices", ((ask_fn *)(uintptr_t)routine(p, "plugin_offload"))());
    }
    return failed;
}

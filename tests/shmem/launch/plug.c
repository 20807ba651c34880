/* SPDX-License-Identifier: BSD-3-Clause */
/* plug PLUG-IN: an executable without OpenSHMEM, whose plug-in starts a job in main, and again in
 * another thread. Its own variables are symmetric then. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*play_t)(long *variable);

static long variable = 3; /* of the executable */
static play_t play;

static void *play_in_thread(void *unused)
{
    (void)unused;
    return (play(&variable) == 0) ? NULL : &variable;
}

int main(int argc, char **argv)
{
    void *plug_in    = (argc > 1) ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *has_failed = NULL;
    pthread_t thread;

    if (plug_in == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&play = dlsym(plug_in, "play");
    if ((play == NULL) || (play(&variable) != 0)) {
        return 1;
    }
    if ((pthread_create(&thread, NULL, play_in_thread, NULL) != 0) ||
        (pthread_join(thread, &has_failed) != 0) || (has_failed != NULL)) {
        return 1;
    }
    if (dlclose(plug_in) != 0) {
        return 1;
    }
    variable++; /* the library has put it back */
    return (variable == 5) ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* def-allocator-var: inherited at fork, private to each implicit task, seen by explicit tasks, and
 * inherited anew by the next region. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static omp_allocator_handle_t initial;
static omp_allocator_handle_t own[3];

/* A letter for a handle, so that runs can be compared. */
static char letter(omp_allocator_handle_t h)
{
    int i;
    for (i = 0; i < 3; i++) {
        if (h == own[i]) {
            return (char)('a' + i);
        }
    }
    if (h == initial) {
        return 'i';
    }
    return (h == omp_default_mem_alloc) ? 'd' : '?';
}

static void use_default(void)
{
    void *p = omp_alloc(100, omp_null_allocator);
    memset(p, 1, 100);
    omp_free(p, omp_null_allocator);
}

static void print_team(const char *what, const char seen[4])
{
    printf("%s: %.4s\n", what, seen);
}

static void inherited(void)
{
    char before[4];
    char after[4];
    char in_task[4];

#pragma omp parallel num_threads(4)
    {
        int me     = omp_get_thread_num();
        before[me] = letter(omp_get_default_allocator());
        if (me % 2) {
            omp_set_default_allocator(own[me % 3]);
        }
        use_default();
#pragma omp barrier
        after[me] = letter(omp_get_default_allocator());
#pragma omp task if (0)
        in_task[me] = letter(omp_get_default_allocator());
#pragma omp taskwait
    }
    print_team("before", before);
    print_team("after", after);
    print_team("in task", in_task);
}

static void nested(void)
{
    char seen[2][2];
    char back[2];

    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num();
        omp_set_default_allocator(own[outer + 1]);
#pragma omp parallel num_threads(2)
        {
            int inner          = omp_get_thread_num();
            seen[outer][inner] = letter(omp_get_default_allocator());
            omp_set_default_allocator(own[0]);
            use_default();
        }
        back[outer] = letter(omp_get_default_allocator());
    }
    /* A thread that was in the inner team as its primary keeps what it set there or not, as the
     * runtime has it: not printed. */
    (void)back;
    printf("nested: %.2s %.2s\n", seen[0], seen[1]);
}

int main(void)
{
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 64}};
    int i;

    initial = omp_get_default_allocator();
    for (i = 0; i < 3; i++) {
        own[i] = omp_init_allocator(omp_default_mem_space, 1, traits);
    }
    use_default();
    inherited();
    printf("primary: %c\n", letter(omp_get_default_allocator()));
    omp_set_default_allocator(own[2]);
    inherited();
    nested();
    omp_set_default_allocator(omp_default_mem_alloc);
    printf("set to default: %d\n", omp_get_default_allocator() == omp_default_mem_alloc);
    inherited();
    omp_set_default_allocator(omp_null_allocator);
    printf("set to null: %d\n", omp_get_default_allocator() == omp_default_mem_alloc);
    use_default();
    for (i = 0; i < 3; i++) {
        omp_destroy_allocator(own[i]);
    }
    return 0;
}

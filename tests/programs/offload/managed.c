/* SPDX-License-Identifier: BSD-3-Clause */
/* managed.c: memory that host and device use in turn, as a program of linked structures does.
 *
 * A list is built by the host, walked and changed by the device through the host's own pointers,
 * and checked by the host, many times over; an array takes turns beside it. */

#include "check.h"
#include <string.h>

enum { NODES = 1000, TURNS = 50 };

struct node {
    struct node *next;
    long value;
};

static omp_allocator_handle_t make_allocator(omp_uintptr_t guarantee)
{
    int devices[]                = {omp_get_initial_device(), 0};
    omp_alloctrait_t traits[]    = {{omp_atk_memory_access, omp_atv_managed},
                                    {omp_atk_preferred_location, 0},
                                    {omp_atk_guarantee, guarantee},
                                    {omp_atk_fallback, omp_atv_null_fb}};
    omp_memspace_handle_t *space = omp_get_target_memspace(2, devices, omp_default_mem_space);

    CHECK(space != NULL);
    return omp_init_allocator(*space, 4, traits);
}

static struct node *make_list(omp_allocator_handle_t allocator)
{
    struct node *head = NULL;
    long i;

    for (i = 0; i < NODES; i++) {
        struct node *node = omp_alloc(sizeof(*node), allocator);
        CHECK(node != NULL);
        *node = (struct node){head, i};
        head  = node;
    }
    return head;
}

static int home(void)
{
    return has_host_alone() ? MEMSPAN_HOST : 0;
}

static void take_turns(struct node *head)
{
    int turn;

    for (turn = 0; turn < TURNS; turn++) {
        long sum = 0;
#pragma omp target map(tofrom : sum) is_device_ptr(head)
        for (struct node *node = head; node != NULL; node = node->next) {
            sum += node->value;
            node->value += 1;
        }
        CHECK(sum == (long)NODES * (NODES - 1) / 2 + (long)NODES * turn);
        CHECK(head->value == NODES - 1 + turn + 1);
        CHECK(memspan_device_synchronize(home()) == MEMSPAN_OK);
    }
}

static void free_list(struct node *head, omp_allocator_handle_t allocator)
{
    while (head != NULL) {
        struct node *next = head->next;
        omp_free(head, allocator);
        head = next;
    }
}

/* Large blocks grow and shrink and keep their contents. */
static void reallocate(omp_allocator_handle_t allocator)
{
    size_t count = 1000;
    long *values = omp_calloc(count, sizeof(*values), allocator);

    CHECK(values != NULL);
    for (; count <= 1000000; count *= 10) {
        values = omp_realloc(values, count * sizeof(*values), allocator, allocator);
        CHECK(values != NULL);
#pragma omp target firstprivate(count) is_device_ptr(values)
        values[count - 1] = values[0] + (long)count;
        CHECK(values[count - 1] == values[0] + (long)count);
    }
    omp_free(values, allocator);
}

/* Coherent memory is given for managed where it costs no more. */
static memspan_kind_t expected_kind(omp_uintptr_t guarantee)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (has_host_alone()) {
        return MEMSPAN_KIND_HOST;
    }
    CHECK(memspan_device_describe(0, &info) == MEMSPAN_OK);
    return ((guarantee == omp_atv_required) ||
            ((info.kinds_without_gain & (1u << MEMSPAN_KIND_MANAGED)) == 0))
               ? MEMSPAN_KIND_MANAGED
               : MEMSPAN_KIND_COHERENT;
}

int main(void)
{
    omp_uintptr_t guarantees[] = {omp_atv_preferred, omp_atv_required};
    size_t i;

    check_devices(1);
    for (i = 0; i < 2; i++) {
        omp_allocator_handle_t allocator = make_allocator(guarantees[i]);
        struct node *head;

        CHECK(allocator != omp_null_allocator);
        head = make_list(allocator);
        check_memory(head, expected_kind(guarantees[i]), home());
        take_turns(head);
        free_list(head, allocator);
        reallocate(allocator);
        omp_destroy_allocator(allocator);
    }
    check_end();
    printf("managed: %d nodes walked by the device %d times\n", NODES, 2 * TURNS);
    return 0;
}

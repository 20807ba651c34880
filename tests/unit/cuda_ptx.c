/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of the CUDA backend's kernels: every one is there that should be, and NVIDIA's assembler
 * takes it, where there is one (MEMSPAN_PTXAS, else ptxas in PATH or the toolkit's usual folder).
 */

#include "backends/cuda/cuda.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *find_assembler(void)
{
    static char path[4096];
    const char *told = getenv("MEMSPAN_PTXAS");
    FILE *found;

    if (told != NULL) {
        return told;
    }
    if (access("/usr/local/cuda/bin/ptxas", X_OK) == 0) {
        return "/usr/local/cuda/bin/ptxas";
    }
    found = popen("command -v ptxas", "r");
    if ((found == NULL) || (fgets(path, sizeof(path), found) == NULL)) {
        path[0] = '\0';
    }
    if (found != NULL) {
        pclose(found);
    }
    path[strcspn(path, "\n")] = '\0';
    return (path[0] == '\0') ? NULL : path;
}

static bool starts_well(const char *text)
{
    return strncmp(text, ".version ", 9) == 0;
}

static bool has_entry(const char *text, const char *name)
{
    char entry[96];

    snprintf(entry, sizeof(entry), ".visible .entry %s(", name);
    return strstr(text, entry) != NULL;
}

static bool make(memspan_kernel_t kernel, int capability, char text[CUDA_PTX_BYTES])
{
    char name[48];
    int place = gpu_kernel_find(kernel, name);

    if (place < 0) {
        return false;
    }
    cuda_ptx_write(place, name, capability, text);
    cr_assert(starts_well(text) && has_entry(text, name), "%s", text);
    cr_assert_lt(strlen(text), CUDA_PTX_BYTES - 1, "it is cut: %s", text);
    return true;
}

Test(cuda_ptx, every_kernel_has_a_text)
{
    char text[CUDA_PTX_BYTES];

    for (int kernel = 0; kernel < GPU_KERNELS; kernel++) {
        for (int capability = 50; capability <= 120; capability += 10) {
            cr_assert(make((memspan_kernel_t)kernel, capability, text));
        }
    }
    cr_assert_not(make((memspan_kernel_t)GPU_KERNELS, 90, text));
    cr_assert_not(make((memspan_kernel_t)-1, 90, text));
}

Test(cuda_ptx, operations_fit_their_elements)
{
    char text[CUDA_PTX_BYTES];
    char name[48];
    int count = 0;

    for (int o = 0; o <= MEMSPAN_OPERATION_COUNT; o++) {
        for (int e = 0; e <= MEMSPAN_ELEMENT_COUNT; e++) {
            bool known   = (o < MEMSPAN_OPERATION_COUNT) && (e < MEMSPAN_ELEMENT_COUNT);
            bool integer = e <= MEMSPAN_ELEMENT_U64;
            bool complex = e >= MEMSPAN_ELEMENT_C32;
            bool fits    = known && (integer || (o <= MEMSPAN_OPERATION_PROD) ||
                                  (!complex && (o <= MEMSPAN_OPERATION_MAX)));

            cr_assert_eq(make(MEMSPAN_KERNEL_COMBINE(o, e), 90, text), fits, "%d of %d", o, e);
            count += fits ? 1 : 0;
        }
    }
    cr_assert_eq(count, 8 * 7 + 2 * 4 + 2 * 2);
    cr_assert_geq(
        gpu_kernel_find(MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_PROD, MEMSPAN_ELEMENT_C64), name),
        GPU_KERNELS);
    cr_assert_str_eq(name, "memspan_prod_c64");
}

Test(cuda_ptx, scope_is_named_where_the_device_knows_it)
{
    char text[CUDA_PTX_BYTES];

    cr_assert(make(MEMSPAN_KERNEL_ADD_ATOMIC, 52, text));
    cr_assert_null(strstr(text, ".sys"));
    cr_assert_not_null(strstr(text, ".target sm_50"));
    cr_assert(make(MEMSPAN_KERNEL_ADD_ATOMIC, 60, text));
    cr_assert_not_null(strstr(text, "red.global.sys.add.u32"));
}

/* Many texts as one module: one header, one program start. */
static void append(FILE *file, const char *text, int *count)
{
    const char *body = strstr(text, ".visible");

    cr_assert_not_null(body);
    if (*count == 0) {
        fprintf(file, "%.*s", (int)(body - text), text);
    }
    fputs(body, file);
    (*count)++;
}

static void assemble(const char *assembler, const char *path, const char *what)
{
    char command[8192];

    snprintf(command, sizeof(command), "'%s' -arch=sm_75 -o /dev/null '%s'", assembler, path);
    cr_assert_eq(system(command), 0, "%s: ptxas refuses it", what);
}

static FILE *open_scratch(char *path)
{
    int fd = mkstemp(path);

    cr_assert_geq(fd, 0);
    return fdopen(fd, "w");
}

Test(cuda_ptx, the_assembler_takes_them, .timeout = 60)
{
    const char *assembler = find_assembler();
    char plain[]          = "/tmp/memspan-ptx-XXXXXX";
    char scoped[]         = "/tmp/memspan-ptx-XXXXXX";
    char text[CUDA_PTX_BYTES];
    int count   = 0;
    int systems = 0;
    FILE *file;

    if (assembler == NULL) {
        cr_skip_test("no ptxas");
    }
    file = open_scratch(plain);
    for (int kernel = 0; kernel < GPU_KERNELS; kernel++) {
        cr_assert(make((memspan_kernel_t)kernel, 52, text));
        append(file, text, &count);
    }
    for (int o = 0; o < MEMSPAN_OPERATION_COUNT; o++) {
        for (int e = 0; e < MEMSPAN_ELEMENT_COUNT; e++) {
            if (make(MEMSPAN_KERNEL_COMBINE(o, e), 52, text)) {
                append(file, text, &count);
            }
        }
    }
    fclose(file);
    file = open_scratch(scoped);
    cr_assert(make(MEMSPAN_KERNEL_ADD_ATOMIC, 90, text));
    append(file, text, &systems);
    fclose(file);
    assemble(assembler, plain, "PTX 4.0");
    assemble(assembler, scoped, "PTX 5.0");
    unlink(plain);
    unlink(scoped);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* static.c: linked statically. */
int main(void)
{
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* opmain.c: a plain main() that checks the operation of kernel.c, or of results.c. */
#ifdef RESULTS
#include "results.c"
#else
#include "kernel.c"
#endif

#include <peat/opcheck.h>

int main(void)
{
    const peat_shape shape[] = {{3, {2, 3, 7}}, {1, {7}}, {1, {7}}};
    const peat_op_trial trial = {.op = &op, .n_src = OPERANDS, .shape = shape};
    return peat_op_check(&trial, stdout) ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* opmain.c: a plain main() that checks the operation of kernel.c, of results.c or of PaTH. */
#if defined(PATH)
#include "../../../plugins/scheme/path/path.c"
#elif defined(RESULTS)
#include "results.c"
#else
#include "kernel.c"
#endif

#include <peat/opcheck.h>

int main(void)
{
#ifdef PATH
    const peat_shape heads = {4, {2, 2, 5, 3}};
    const peat_shape shape[] = {heads, heads, heads, {4, {2, 2, 5, 1}}};
    const peat_op_trial trial = {.op = &between, .n_src = 4, .shape = shape, .kept = 1 << A};
#else
    const peat_shape shape[] = {{3, {2, 3, 7}}, {1, {7}}, {1, {7}}};
    const peat_op_trial trial = {.op = &op, .n_src = OPERANDS, .shape = shape};
#endif
    return peat_op_check(&trial, stdout) ? 0 : 1;
}

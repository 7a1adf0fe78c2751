/* SPDX-License-Identifier: MIT */
/* fuzz_pairs.c: data files of the task 'pairs'. */
#include "../../plugins/task/pairs/pairs.c"

#include "fuzz/task_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_task_data(peat_entry(), (const char *const[]){"path", "", NULL}, bytes, n);
    return 0;
}

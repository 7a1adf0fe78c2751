/* SPDX-License-Identifier: MIT */
/* fuzz_classify.c: data files of the task 'classify'. */
#include "../../plugins/task/classify/classify.c"

#include "fuzz/task_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_task_data(peat_entry(), (const char *const[]){"path", "", NULL}, bytes, n);
    return 0;
}

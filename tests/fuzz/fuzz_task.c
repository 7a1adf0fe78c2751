/* SPDX-License-Identifier: MIT */
/* fuzz_task.c: data files of the task whose source is TASK. */
#include TASK

#include "fuzz/task_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_task_data(peat_entry(), (const char *const[]){"path", "", NULL}, bytes, n);
    return 0;
}

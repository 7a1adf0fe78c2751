/* SPDX-License-Identifier: MIT */
/* fuzz_text_pair.c: data files of the task 'text_pair'. */
#include "../../plugins/task/text_pair/text_pair.c"

#include "fuzz/task_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    fuzz_task_data(peat_entry(), (const char *const[]){"path", "", NULL}, bytes, n);
    return 0;
}

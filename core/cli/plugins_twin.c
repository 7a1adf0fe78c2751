/* SPDX-License-Identifier: MIT */
/* plugins_twin.c: compares a plugin's parameters and tensors with those that a reference declares,
 * a plugin that is Python alone: python/peat/torch/compare.py. */
#include "cli/plugins.h"
#include "process/python.h"

const char *twin_difference(const char *plugin, const char *reference, struct arena *a)
{
    char program[PATH_MAX];
    struct error err = {0};
    const char *const word[] = {program, plugin, reference};
    const char *answer;
    /* An interpreter that is missing was named by the check itself. */
    if (own_program(program, sizeof(program), &err) != PEAT_OK ||
        python_ask("compare.py", word, 3, "a reference", a, &answer, &err) != PEAT_INVALID)
        return NULL;
    return arena_strdup(a, err.text);
}

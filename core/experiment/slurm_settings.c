/* SPDX-License-Identifier: MIT */
/* slurm_settings.c: the section run.slurm of an experiment. */

#include "plugin/params.h"
#include "reading.h"

#define SLURM(type, field, ...) PARAM_ROW(type, struct slurm_settings, field, #field, __VA_ARGS__)

const peat_param slurm_rows[] = {
    SLURM(PEAT_STRING, partition, "partition; not given: the cluster's default"),
    SLURM(PEAT_STRING, account, "account that is charged; not given: the user's default"),
    SLURM(PEAT_STRING, constraint,
          "features that nodes must have, such as zen4; not given: any node"),
    SLURM(PEAT_STRING, memory,
          "memory of a task such as 500M or 4G; not given: the cluster's default"),
    SLURM(PEAT_INT, cells_per_task, "cells that a task runs one after the other", .preset = 1,
          WITHIN(1, EXPERIMENT_MAX_CELLS)),
    SLURM(PEAT_INT, max_parallel, "tasks at once; 0: as many as Slurm starts",
          WITHIN(0, EXPERIMENT_MAX_CELLS), .unit = "tasks"),
    SLURM(PEAT_INT, cpus, "processors of a task", WITHIN(1, EXPERIMENT_MAX_THREADS),
          .automatic = "run.threads", .flags = PEAT_AUTO),
    SLURM(PEAT_STRINGS, extra,
          "options of sbatch (they start with -), or lines of shell to run before the cells"),
    PEAT_PARAM_END,
};

/* Letters and digits are always allowed; others: further characters, and `allowed` has them all in
 * words. */
static bool check_characters(struct reading *r, const struct value *given, const char *key,
                             const char *others, const char *allowed)
{
    const struct value *v = value_get(given, key);
    if (!v || v->kind == VALUE_NULL)
        return true;
    for (const char *c = v->text; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(others, *c))
            return mistake(r->err, v->at, "'%s' in slurm may have %s, not '%c'", key, allowed, *c);
    return true;
}

/* "4G" */
static bool is_memory(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && strspn(text, "0") < digits &&
           (!text[digits] || (strchr("KMGT", text[digits]) && !text[digits + 1]));
}

static bool check_memory(struct reading *r, const struct value *given,
                         const struct slurm_settings *s)
{
    if (!s->memory[0] || is_memory(s->memory))
        return true;
    return mistake(r->err, value_get(given, "memory")->at,
                   "'memory' in slurm must be a size such as 500M or 4G, with K, M, G or T, "
                   "not '%s'",
                   s->memory);
}

static bool check_extra(struct reading *r, const struct value *given,
                        const struct slurm_settings *s)
{
    for (int64_t i = 0; i < s->extra.n; i++)
        if (strpbrk(s->extra.item[i], "\r\n"))
            return mistake(r->err, value_get(given, "extra")->at,
                           "'extra' in slurm must be single lines; give several as a list");
    return true;
}

/* Partition and account are unquoted in the script; a constraint is in double quotes. */
bool slurm_read(struct reading *r, const struct value *given)
{
    static const char word[] = "letters, digits, '.', '_', '+', ',' and '-'";
    static const char *const reserved[] = {"time", NULL};
    struct slurm_settings *s = &r->e->run.slurm;
    return params_fill(slurm_rows, s, given, "slurm", reserved, r->a, r->err) == PEAT_OK &&
           seconds_read(r, given, "time", "slurm", &s->time) &&
           check_characters(r, given, "partition", "._+,-", word) &&
           check_characters(r, given, "account", "._+,-", word) &&
           check_characters(r, given, "constraint", "._-:&|*,()[]",
                            "letters, digits and ._-:&|*,()[]") &&
           check_memory(r, given, s) && check_extra(r, given, s);
}

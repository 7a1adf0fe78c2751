/* SPDX-License-Identifier: MIT */
/* planmeasure.c: estimates the time of a grid from some steps of each kind of cell. */
#include "cli/planparts.h"

#include "cell/cellrun.h"
#include "grid/progress.h"
#include "process/child.h"
#include "process/machine.h"

/* Steps of each kind that are measured, enough for a median. */
static const char steps_text[] = "12";

/* Cells of the same cost, and the seconds that one of them takes on one thread. */
struct kind {
    const char *name;
    const struct plan_cell *cell;
    double start, step, evaluation, test;
};

struct measuring {
    const struct plan *plan;
    const char *scratch;
    int n;
    struct kind *kind;
    struct arena *a;
    struct error *err;
};

/* The settings that decide the time of a step and of an evaluation: cells that differ only in a
 * rate, the seed or the length of training get the same text. */
static const char *what_costs(const struct plan_cell *c, struct arena *a)
{
    const struct value *train = value_get(c->config.resolved, "train");
    const char *sections[] = {"task", "model", "position", "eval"}, *name = "";
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        const struct value *section = value_get(c->config.resolved, sections[i]);
        if (section)
            name = arena_printf(a, "%s%s", name, json_to_text(section, JSON_CANONICAL, a));
    }
    return arena_printf(a, "%s %d %d %s", name, (int)c->config.train.batch,
                        (int)c->config.train.seq_len, json_get_text(train, "precision"));
}

static bool read_times(const struct measuring *m, const char *dir, struct kind *kind)
{
    struct value *v;
    if (json_read_file(dir, MEASURED_FILE, m->a, &v, m->err) != PEAT_OK)
        return false;
    kind->start = json_get_number(v, "start_s");
    kind->step = json_get_number(v, "step_s");
    kind->evaluation = json_get_number(v, "evaluation_s");
    kind->test = json_get_number(v, "test_s");
    return true;
}

static bool run_cell(struct measuring *m, const struct plan_cell *c, const char *program,
                     const char *dir)
{
    const char *gemm = m->plan->experiment->run.gemm;
    char *argv[] = {arena_strdup(m->a, program),
                    "cell",
                    "-t",
                    "1",
                    "--gemm",
                    arena_strdup(m->a, gemm),
                    "--measure",
                    arena_strdup(m->a, steps_text),
                    "--",
                    arena_strdup(m->a, m->scratch),
                    arena_strdup(m->a, c->id),
                    NULL};
    struct child child = {.argv = argv, .env = cell_environment(m->a, 1)};
    struct strbuf said = STRBUF_NEW;
    bool ok = child_run(&child, &said, NULL, m->err) == PEAT_OK;
    if (ok && child.code != 0)
        ok = error_fail(m->err, PEAT_FAILED, "%s cannot be measured: %s", c->label, said.text);
    strbuf_release(&said);
    return ok && dir_has(dir, MEASURED_FILE);
}

static bool measure_one(struct measuring *m, struct kind *kind)
{
    char program[PATH_MAX];
    const struct plan_cell *c = kind->cell;
    const char *dir = arena_printf(m->a, "%s/cells/%s", m->scratch, c->id);
    return own_program(program, sizeof(program), m->err) == PEAT_OK &&
           dir_make(dir, m->err) == PEAT_OK &&
           json_write_file(dir, "config.json", plan_cell_value(m->plan, c, m->a), m->err) ==
               PEAT_OK &&
           run_cell(m, c, program, dir) && read_times(m, dir, kind);
}

static bool measure_all(struct measuring *m)
{
    for (int i = 0; i < m->n; i++) {
        struct kind *k = &m->kind[i];
        if (!measure_one(m, k))
            return false;
        cli_say("%s: a step takes %.3g s, an evaluation %.3g s (%d of %d kinds of cell)",
                k->cell->label, k->step, k->evaluation, i + 1, m->n);
    }
    return true;
}

/* The kind of the cell, which is added unless an earlier cell has it. */
static struct kind *kind_of(struct measuring *m, const struct plan_cell *c)
{
    const char *name = what_costs(c, m->a);
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->kind[i].name, name) == 0)
            return &m->kind[i];
    m->kind[m->n] = (struct kind){.name = name, .cell = c};
    return &m->kind[m->n++];
}

/* Processor seconds with one thread for each cell. kind: by cells; NULL: it is not run. */
static double sum_seconds(const struct plan *p, const struct kind *const *kind, const int64_t *from)
{
    double seconds = 0;
    for (int i = 0; i < p->n; i++) {
        const struct plan_cell *c = &p->cell[i];
        if (kind[i])
            seconds += kind[i]->start + (double)(c->config.train.steps - from[i]) * kind[i]->step +
                       (double)plan_evaluations(c, from[i]) * kind[i]->evaluation + kind[i]->test;
    }
    return seconds;
}

static double wall_seconds(const struct run_settings *run, double seconds)
{
    struct machine here;
    machine_look(&here, "");
    double threads = (double)(run->jobs * run->threads); /* 0: auto */
    return seconds / (threads > 0 ? fmin(threads, here.cores) : here.cores);
}

const char *plan_measure(const struct plan *p, const bool *is_run, const int64_t *from,
                         struct arena *a, struct error *err)
{
    struct own_dir scratch;
    struct measuring m = {.plan = p, .a = a, .err = err};
    char time[32] = "less than 1 s";
    m.kind = ARENA_ARRAY(a, p->n + 1, struct kind);
    const struct kind **kind = ARENA_ARRAY(a, p->n + 1, const struct kind *);
    for (int i = 0; i < p->n; i++)
        kind[i] = is_run[i] ? kind_of(&m, &p->cell[i]) : NULL;
    if (own_dir_open(&scratch, "measure", err) != PEAT_OK)
        return NULL;
    m.scratch = scratch.path;
    bool ok = measure_all(&m);
    own_dir_close(&scratch);
    if (!ok)
        return NULL;
    double seconds = wall_seconds(&p->experiment->run, sum_seconds(p, kind, from));
    if (seconds >= 1)
        duration_text(seconds, time);
    return arena_printf(a, "%s%s here, from %s steps and an evaluation of %d kind%s of cell",
                        seconds >= 1 ? "about " : "", time, steps_text, m.n, plural(m.n));
}

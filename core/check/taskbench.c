/* SPDX-License-Identifier: MIT */
/* taskbench.c: a task under check, and its batches. */
#include "taskbench.h"

/* The log of this thread. host->draw has no argument through which it could be passed. */
static struct draw_log **open_log(void)
{
    static _Thread_local struct draw_log *log;
    return &log;
}

void draw_log_to(struct draw_log *log)
{
    *open_log() = log;
}

static uint64_t logged_draw(uint64_t stream, uint64_t index)
{
    struct draw_log *log = *open_log();
    if (log)
        *ARENA_APPEND(log->arena, log->item, log->n, log->room) =
            (struct draw){stream, index, log->who};
    return rng_bits(stream, index);
}

/* Whether the task reads a file. Its rows are then windows of the data, which may overlap. */
static bool reads_data(const struct checked *s)
{
    const peat_param *row = s->plugin->desc->param;
    while (row && row->key && !(row->flags & PEAT_PATH))
        row++;
    return row && row->key;
}

/* Whether a sample file repeats its text, so that parts of it may be the same. */
static bool has_repeated_sample(const peat_task *task)
{
    const peat_sample *sample = task->sample;
    while (sample && sample->key && sample->times <= 1)
        sample++;
    return sample && sample->key;
}

peat_status bench_open(struct bench *b, const struct checked *s, const struct check_cell *cell,
                       int64_t seed, int64_t rows)
{
    const peat_task *hooks = s->plugin->desc->interface;
    *b = (struct bench){.host = *host_table(),
                        .config = cell->config,
                        .s.trail = s->trail,
                        .reads_data = reads_data(s),
                        .repeats_data = has_repeated_sample(hooks)};
    b->host.draw = logged_draw;
    b->s.host = &b->host;
    b->config.seed = seed;
    b->config.eval.test = hooks->test ? 0.5 : 0;
    arena_init(&b->arena, "check task", 1 << 18);
    arena_guard(&b->arena, GUARD_BYTES, ARENA_SHOWS_WRITES);
    peat_status status = assemble(&b->s, &b->config, &b->arena, PEAT_F32, true, &b->err);
    if (status != PEAT_OK)
        return status;
    const peat_task_plan *plan = &b->s.task.plan;
    int64_t longest = plan->seq_len;
    for (int64_t i = 0; i < plan->n_eval; i++)
        longest = plan->eval_T[i] > longest ? plan->eval_T[i] : longest;
    status = task_batch_init(&b->s.task, &b->train, &b->arena, rows, plan->seq_len);
    return status == PEAT_OK ? task_batch_init(&b->s.task, &b->eval, &b->arena, rows, longest)
                             : status;
}

void bench_close(struct bench *b)
{
    arena_release(&b->arena);
}

peat_status bench_open_first(struct bench *b, const struct checked *s)
{
    struct check_outcome o = {CHECK_PASSED};
    const struct check_cells *cells = cells_of(s, &o);
    *b = (struct bench){.err.status = PEAT_REFUSED};
    return cells->n ? bench_open(b, s, cells->item, 1, ROWS)
                    : error_set(&b->err, PEAT_REFUSED, "%s", o.why);
}

void bench_trial(const struct trial *t, int n, const struct bench_kind *kind,
                 void (*look)(struct bench *b, struct check_outcome *o))
{
    struct bench b[3];
    for (int i = 0; i < n; i++) {
        peat_status status = bench_open(&b[i], t->subject, t->cell, kind[i].seed, kind[i].rows);
        if (status == PEAT_REFUSED && i == 0) /* that the cell has a test part too */
            check_say(t->o, CHECK_SKIPPED, "refused: %s", b[i].err.text);
        else if (status != PEAT_OK && t->o->verdict == CHECK_PASSED)
            check_fail(t->o, "%s%s", i > 0 ? "its set-up fails the second time: " : "",
                       b[i].err.text);
    }
    if (t->o->verdict == CHECK_PASSED)
        look(b, t->o);
    for (int i = 0; i < n; i++)
        bench_close(&b[i]);
}

uint64_t row_number(const peat_batch *x, int64_t b)
{
    const int64_t width = x->patch ? x->patch_width : 1, first = b * x->T * width;
    uint64_t number = (uint64_t)(x->label ? x->label[b] : 0);
    for (int64_t i = first; i < first + x->T * width; i++)
        number = rng_substream(number, x->patch ? (uint64_t)(int64_t)(1e6F * x->patch[i])
                                                : (uint64_t)x->token[i]);
    for (int64_t t = 0; t < x->S; t++)
        number = rng_substream(number, (uint64_t)x->source[b * x->S + t]);
    return number;
}

bool make_train(struct bench *b, int64_t seed, int64_t step, struct check_outcome *o)
{
    bool made = task_train_batch(&b->s.task, (uint64_t)seed, step, &b->train, &b->err) == PEAT_OK;
    if (!made)
        check_fail(o, "%s", b->err.text);
    return made;
}

const struct held_out validation_part = {"evaluation", task_eval_batch};
const struct held_out test_part = {"test", task_test_batch};

bool make_eval(struct bench *b, const struct held_out *part, int64_t which, int64_t index,
               struct check_outcome *o)
{
    if (part == &test_part && b->s.task.plan.test == 0)
        return false;
    bool made = part->batch(&b->s.task, which, index, &b->eval, &b->err) == PEAT_OK;
    if (!made)
        check_fail(o, "%s", b->err.text);
    return made && b->eval.b.B > 0;
}

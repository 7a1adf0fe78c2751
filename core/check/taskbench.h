/* SPDX-License-Identifier: MIT */
/* taskbench.h: a task under check, its batches, and the draws that it makes for them. */
#pragma once

#include "property.h"
#include "train/task.h"

enum { ROWS = 3, STEPS = 4, DRAWERS = STEPS + 1, BATCHES_MAX = 64 };

/* A call of host->draw. */
struct draw {
    uint64_t stream, index;
    int who; /* below DRAWERS */
};

struct draw_log {
    struct arena *arena;
    int n, room, who; /* who draws now */
    struct draw *item;
};

/* From now on the draws of this thread are appended to the log; NULL: to none. */
void draw_log_to(struct draw_log *log);

struct bench {
    struct arena arena;
    peat_host host; /* logs draws */
    struct cell_config config;
    struct assembly s;
    struct batch train, eval;
    bool reads_data, repeats_data;
    struct error err;
};

/* A held-out part: "evaluation", "test". */
struct held_out {
    const char *name;
    peat_status (*batch)(const struct task *t, int64_t which, int64_t index, struct batch *batch,
                         struct error *err);
};
extern const struct held_out validation_part, test_part;

/* Sets the task of the cell up and allocates its batches, for this seed of the cell. Call
 * bench_close also after a failure. */
peat_status bench_open(struct bench *b, const struct checked *s, const struct check_cell *cell,
                       int64_t seed, int64_t rows);
/* For the first cell. */
peat_status bench_open_first(struct bench *b, const struct checked *s);
void bench_close(struct bench *b);
struct bench_kind {
    int64_t seed;
    int64_t rows;
};
/* Runs `look` with n benches of these kinds, at most 3. */
void bench_trial(const struct trial *t, int n, const struct bench_kind *kind,
                 void (*look)(struct bench *b, struct check_outcome *o));
/* A hash of the tokens or patches of row b, its source and its label. */
uint64_t row_number(const peat_batch *x, int64_t b);
/* True when the batch was made; it is b->train. */
bool make_train(struct bench *b, int64_t seed, int64_t step, struct check_outcome *o);
/* True when the batch was made and has rows; it is b->eval. Not every task has a test part. */
bool make_eval(struct bench *b, const struct held_out *part, int64_t which, int64_t index,
               struct check_outcome *o);

/* SPDX-License-Identifier: MIT */
/*
 * toy_task.h: copying random symbols, and a small cell that learns it.
 *
 * A row of n symbols is x_1 ... x_n SEP x_1 ... x_{n-1}: 2n tokens, of which those from SEP on
 * have the copied symbol as target. 10 symbols and SEP make a vocabulary of 11.
 */
#pragma once

#include "support/toy_positional.h"
#include "train/trainer.h"

enum { TOY_VOCAB = 11, TOY_SEPARATOR = 10 };

/* Ways to break a task's promises; TOY_SOUND breaks none. Those up to TOY_NO_METRIC show in
 * set-up, the others in every batch. */
enum toy_fault {
    TOY_SOUND,
    TOY_NO_VOCAB,
    TOY_NO_LENGTHS,
    TOY_MANY_LENGTHS,
    TOY_EMPTY_LENGTH,
    TOY_REFUSES,
    TOY_TAKEN_STREAM,
    TOY_TWIN_STREAM,
    TOY_MANY_STREAMS,
    TOY_EMPTY_STREAM,
    TOY_NO_METRIC,
    TOY_MANY_ROWS,
    TOY_NO_ROWS,
    TOY_LONG_ROWS,
    TOY_BAD_TOKEN,
    TOY_BAD_TARGET,
    TOY_BAD_SEGMENT,
    TOY_BAD_STREAM,
    TOY_BAD_NUMBER,
    TOY_LONG_ANSWER,
    TOY_NO_ANSWER,
    TOY_FAILS
};

struct toy_config {
    enum toy_fault fault;
    int64_t sequences; /* evaluated per length */
    bool streams;      /* two of its own: ids below 4, and two numbers for each place */
};

/* Two lengths, 3 and 5 symbols; training rows are as long as seq_len says. */
void toy_task_init(struct task *t, const struct toy_config *config, int64_t seq_len);

/* What happened in a run. */
struct toy_trace {
    int64_t steps, measures, saves, final_saves;
    double first_loss, last_loss;
    double measure[512]; /* in order */
    int64_t measure_step[512];
    int64_t save_step[64];
    int64_t stop_after; /* a stop is asked for once this step is done; 0: never */
    const char *dir;    /* where saves go; NULL: nowhere */
    struct trainer *trainer;
};

/* A whole cell in one arena. Fill config and trace after toy_cell_init, then toy_cell_build. */
struct toy_cell {
    struct arena arena;
    struct team team;
    struct toy_config toy;
    struct task task;
    struct positional positional;
    struct model_config model_config;
    struct model model;
    struct train_config train;
    struct eval_config eval;
    struct trainer trainer;
    struct toy_trace trace;
    bool idle_weight;
};

void toy_cell_init(struct toy_cell *c);
void toy_cell_build(struct toy_cell *c);
/* Runs the trainer and asserts that it did not fail. */
enum run_end toy_cell_run(struct toy_cell *c);
void toy_cell_release(struct toy_cell *c);
/* The same bits in all weights. */
void toy_cell_assert_same(const struct toy_cell *a, const struct toy_cell *b);

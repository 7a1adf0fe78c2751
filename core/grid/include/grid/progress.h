/* SPDX-License-Identifier: MIT */
/*
 * progress.h: a grid's messages on stderr while it runs: one line for each cell that ends, and on
 * a terminal a live line below them.
 */
#pragma once

#include "base/base.h"

struct job;

struct progress {
    FILE *out;
    const char *metric; /* "": the task's main one */
    int total, finished, failed;
    bool quiet;        /* failures alone */
    bool live, colour; /* a terminal; one that wants colours */
    bool shown;        /* the live line stands there */
    double start;      /* of the clock */
};

/* `out` decides about live and colour, with TERM and NO_COLOR. */
void progress_open(struct progress *p, FILE *out, bool quiet);
/* Redraws the live line. job: all of the run; the running ones are among active[0 .. n_active). */
void progress_live(struct progress *p, int n, const struct job *job, int n_active,
                   struct job *const *active);
/* Takes the live line away, so that something else can be printed. */
void progress_clear(struct progress *p);
/* The line of a cell that has just ended. */
void progress_ended(struct progress *p, const struct job *job);
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "12.3 s", "4m05s", "2h10m"; buf: 32 bytes. */
void duration_text(double seconds, char *buf);
/* The last line of a cell's metrics.jsonl. */
struct metrics_tail {
    int64_t step;   /* 0: none yet */
    bool evaluated; /* the line is of an evaluation, which may go on */
    char text[64];  /* metric and value */
};
struct metrics_tail metrics_tail(const char *dir);
/* How much of a cell's work the line says is done, from 0 to 1. */
double job_done(const struct job *job, const struct metrics_tail *tail);

/* SPDX-License-Identifier: MIT */
/* progress.h: a grid's messages on stderr while it runs: one line for each cell that ends, and on
 * a terminal a live line below them. */
#pragma once

#include "base/base.h"

struct job;

struct progress {
    FILE *out;
    const char *metric; /* "": the task's main one */
    int total, finished, failed;
    bool quiet;        /* print only failures */
    bool live, colour; /* live: a terminal; colour: a terminal that shows colours */
    bool shown;        /* the live line is on the screen */
    bool estimated;    /* progress_estimate has had its turn */
    double start;      /* time of the clock */
};

/* `out` decides about live and colour, together with TERM and NO_COLOR. */
void progress_open(struct progress *p, FILE *out, bool quiet);
/* Redraws the live line. job: all of the run; running ones are among active[0 .. n_active). */
void progress_live(struct progress *p, int n, const struct job *job, int n_active,
                   struct job *const *active);
/* Says once, when the first cell has ended, how long the others take, unless the live line says it
 * or it is less than a minute. */
void progress_estimate(struct progress *p, int n, const struct job *job, int n_active,
                       struct job *const *active);
/* Removes the live line, so that other lines can be printed. */
void progress_clear(struct progress *p);
/* Prints the line of a cell that has just ended. */
void progress_ended(struct progress *p, const struct job *job);
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "12.3 s", "4m05s", "2h10m"; buf: 32 bytes. */
void duration_text(double seconds, char *buf);
/* The last line of a cell's metrics.jsonl. */
struct metrics_tail {
    int64_t step;   /* 0: no line yet */
    bool evaluated; /* the line is of an evaluation, which may not have ended */
    char text[64];  /* metric and value */
};
struct metrics_tail metrics_tail(const char *dir);
/* The share of a cell's work that is done according to the line, from 0 to 1. */
double job_done(const struct job *job, const struct metrics_tail *tail);

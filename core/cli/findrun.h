/* SPDX-License-Identifier: MIT */
/* findrun.h: finds run directories and experiment files by the words that people type for them. */
#pragma once

#include "base/base.h"

/* The run directory that the word names: a directory; that whose experiment.yaml or resolved.yaml
 * it is; the runs/<name> of another experiment file; or the name of a run in runs/. NULL: no run.
 */
const char *run_called(const char *word, struct arena *a);
/* True when a run has a similar name, which err then has. */
bool nearly_a_run(const char *word, struct arena *a, struct error *err);
/* The directory that the word names. It need not be a run: the code that reads it reports what is
 * missing. NULL: there is no such directory, and err names the nearest run, or all runs. */
const char *find_run(const char *word, struct arena *a, struct error *err);
/* The experiment file that the word names, WORD or WORD.yaml, or else a run directory. NULL as in
 * find_run. */
const char *find_experiment(const char *word, struct arena *a, struct error *err);
/* The names of the runs in runs/; returns their number. */
int run_names(const char *const **name, struct arena *a);

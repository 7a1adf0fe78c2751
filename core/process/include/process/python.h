/* SPDX-License-Identifier: MIT */
/*
 * python.h: the one way in which Python is started.
 *
 * The interpreter is the one that PEAT_PYTHON names, otherwise the first python3 on PATH. It is
 * isolated (-I): it imports nothing from the current folder, from PYTHONPATH or from the user's own
 * packages. A program that needs modules of its own puts their folder first in sys.path, and names
 * sys.executable and the package where another module is missing.
 */
#pragma once

#include "process/child.h"

/* argv of a program with these words [n]: "-c" and its text, or its file, then its arguments. */
char **python_words(char *const *word, int n, struct arena *a);
/* argv of a program of the package peat.torch, "engine.py", with these words [n]. NULL: it is not
 * installed, and `what` ("run.engine: torch") needs it. */
char **python_module(const char *name, const char *const *word, int n, const char *what,
                     struct arena *a, struct error *err);
/* Runs such a program; *answer is what it prints, in the arena. PEAT_INVALID: it ended with another
 * status than 0, and err is the line that it printed. */
peat_status python_ask(const char *name, const char *const *word, int n, const char *what,
                       struct arena *a, const char **answer, struct error *err);
/* Explains the failed start of such a child: `what` ("a reference") needs Python. */
peat_status python_start_error(const struct child *c, const char *what, struct error *err);

/* SPDX-License-Identifier: MIT */
/*
 * apart.h: runs plugin code in a process of its own, for a parent that must not run it.
 *
 * Loading a plugin and setting it up run its code. A plugin that crashes there, ends the process,
 * never returns or spoils the process becomes an error of one line, which names its file and
 * function. The child is a fork, so the parent must not have threads yet.
 */
#pragma once

#include "process/trail.h"

/* The limit of one plugin function, where no experiment sets it. */
enum { APART_SECONDS = 30 };
/* PEAT_PLUGIN_SECONDS of the environment; APART_SECONDS where it is not set. */
double apart_seconds(void);

/* Runs in the child. `out` is sent to the parent. The trail is for the functions that call
 * plugins. */
typedef peat_status (*apart_fn)(void *ctx, struct trail *trail, struct strbuf *out,
                                struct error *err);

/* The destination of the child's standard output. */
enum apart_prints {
    APART_PRINTS, /* that of this process */
    APART_ASIDE,  /* this process's standard error, so output of plugins stays out of results */
    APART_SILENT, /* nowhere, and the same for standard error */
};

/* Outside of plugins the engine may compute without a limit. It may wait, without using the
 * processor, for this many times the seconds of a plugin function; for output, as long as the
 * reader takes. */
enum { APART_WAITS = 4 };

/* seconds: the limit of one plugin function; 0: no limit. Returns an error of `work` as it is; a
 * child that dies is PEAT_FAILED. `died` (may be NULL) gets the plugin: its file is "" when it is
 * not known, or when the child did not die. */
peat_status apart_run(apart_fn work, void *ctx, double seconds, enum apart_prints prints,
                      struct strbuf *out, struct trail_plugin *died, struct error *err);

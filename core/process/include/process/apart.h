/* SPDX-License-Identifier: MIT */
/*
 * apart.h: work that runs plugin code, in a process of its own, for a parent that must not.
 *
 * Loading a plugin and setting it up run its code. A plugin that crashes there, ends the process,
 * never returns or spoils the process is an error of one line here, which names its file and
 * function. The child is a fork, so this is for processes that have no threads yet.
 */
#pragma once

#include "process/trail.h"

/* How long one plugin function may take where no experiment says so. */
enum { APART_SECONDS = 30 };
/* The same, or what PEAT_PLUGIN_SECONDS in the environment says. */
double apart_seconds(void);

/* In the child: `out` is sent to the parent. The trail is to be handed to
 * whatever calls plugins. */
typedef peat_status (*apart_fn)(void *ctx, struct trail *trail, struct strbuf *out,
                                struct error *err);

/* Where its standard output goes. */
enum apart_prints {
    APART_PRINTS, /* where this process's does */
    APART_ASIDE,  /* to this process's standard error: what plugins print stays out of results */
    APART_SILENT, /* nowhere, and standard error neither */
};

/* Outside of plugins the engine may work without a limit, and wait, using no processor, for this
 * many times the seconds of a plugin function; where it prints, as long as its reader does. */
enum { APART_WAITS = 4 };

/* seconds: how long one plugin function may take; 0: any time. An error of `work` is given back as
 * it is; a child that dies is PEAT_FAILED. `died` (may be NULL) is told which plugin it was: its
 * file is "" when that is not known, or when the child did not die. */
peat_status apart_run(apart_fn work, void *ctx, double seconds, enum apart_prints prints,
                      struct strbuf *out, struct trail_plugin *died, struct error *err);

/* SPDX-License-Identifier: MIT */
/*
 * apart.h: work that runs plugin code, in a process of its own, for a parent that must not.
 *
 * Loading a plugin and setting it up run its code. A plugin that crashes there, ends the process,
 * never returns or spoils the process is an error of one line here, which names its file and
 * function. The child is a fork, so this is for processes that have no threads yet.
 */
#ifndef PROCESS_APART_H
#define PROCESS_APART_H

#include "base/strbuf.h"
#include "process/trail.h"

enum { APART_SECONDS = 30 };

/* In the child: what it adds to `out` is what the parent gets. The trail is to be handed to
 * whatever calls plugins. */
typedef peat_status (*apart_fn)(void *ctx, struct trail *trail, struct strbuf *out,
                                struct error *err);

/* seconds: how long one plugin function may take; 0: any time. Unless `prints`, the child's
 * standard output is this process's standard error: what plugins print stays out of results. An
 * error of `work` is given back as it is; a child that dies is PEAT_FAILED. `died` (may be NULL) is
 * told which plugin it was: its file is "" when that is not known, or when the child did not die.
 */
peat_status apart_run(apart_fn work, void *ctx, double seconds, bool prints, struct strbuf *out,
                      struct trail_plugin *died, struct error *err);

#endif

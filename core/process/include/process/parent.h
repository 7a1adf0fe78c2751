/* SPDX-License-Identifier: MIT */
/* parent.h: a process that ends with the one that started it. */
#pragma once

#include "process/trail.h"

/* Sends this process the signal when its parent dies. False: process `parent` had died before. */
bool parent_follow(pid_t parent, int signal);

/* A process that lives longer than its parent is killed, with its group if it leads one. */
struct parent_watch {
    pid_t parent;
    double patience;               /* seconds without progress after the parent's death */
    const struct trail_page *page; /* the trail that shows progress; NULL: progress is not
                                    * watched */
};
/* Starts a thread that checks now and then whether the parent lives. It depends on neither other
 * threads nor signals, which a plugin could block. Call it before plugins are loaded; `page` lives
 * as long as the process. If no thread can be started, nothing is watched. */
void parent_watch(struct parent_watch w);

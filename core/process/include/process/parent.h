/* SPDX-License-Identifier: MIT */
/* parent.h: a process that ends with the one that started it. */
#pragma once

#include "process/trail.h"

/* This process gets the signal when its parent dies. False: process `parent` has gone before that
 * could be arranged. */
bool parent_follow(pid_t parent, int signal);

/* What outlasts the parent is killed, with its group if it leads one. */
struct parent_watch {
    pid_t parent;
    double patience;               /* seconds without progress, after the parent's death */
    const struct trail_page *page; /* what progress is seen in; NULL: in nothing         */
};
/* Starts a thread that looks now and then whether the parent lives. It needs nothing of what a
 * plugin could hold up: neither the other threads nor signals. Call before plugins are loaded;
 * `page` lives as long as the process. Without a thread to be had, nothing is watched. */
void parent_watch(struct parent_watch w);

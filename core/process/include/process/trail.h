/* SPDX-License-Identifier: MIT */
/*
 * trail.h: where a process is, for its parent to read when it has died or stands still.
 *
 * A process that runs plugins shares one page with its parent. Before a plugin's function is called
 * its name is copied there, so that a segmentation fault, an exit or an endless loop has a place,
 * without signal handlers. `beats` grows while the process gets on. A trail without a page costs
 * nothing and keeps nothing.
 */
#pragma once

#include "base/base.h"

enum { TRAIL_TEXT = 96, TRAIL_PLUGINS = 12, TRAIL_HINT = 240, TRAIL_NOTICE = 1024 };

struct trail_plugin {
    char id[TRAIL_TEXT];
    char file[512], at[256]; /* the shared object; "exp.yaml:3:5: ", where it is named, or "" */
};

/* Shared with the parent, which believes none of it: texts are cut at their ends. */
struct trail_page {
    uint64_t beats;
    int64_t step;              /* of training, begun last; 0: none yet                         */
    char hook[TRAIL_TEXT];     /* "rotary.qkv" while a plugin's function runs, else ""          */
    char kernel[TRAIL_TEXT];   /* the same for kernels, which run in hooks and outside of them */
    char cell[256];            /* the cell that is set up or trained, when there are several   */
    char missing[160];         /* tensors that the hook does not declare, so that it gets NULL */
    char notice[TRAIL_NOTICE]; /* a warning for the user before the first step; "": none      */
    int32_t n_plugin;
    struct trail_plugin plugin[TRAIL_PLUGINS];
    int32_t status;  /* peat_status: why the process is about to end ... */
    char said[1024]; /* ... in words; "": it has not said                */
};

/* One process's end of it. */
struct trail {
    struct trail_page *page; /* NULL: none */
    /* Called after each plugin function outside of kernels; NULL: nothing is. */
    void (*left)(void *ctx, const char *hook);
    void *ctx;
};

/* A page to share: *fd (close-on-exec) is for a process that is to be started; a fork needs none,
 * fd NULL. NULL: the system gives no page. */
struct trail_page *trail_page_new(int *fd);
/* The page behind a descriptor that the parent handed over, which is closed; NULL when it is none.
 */
struct trail_page *trail_page_open(int fd);
void trail_page_free(struct trail_page *page);

/* All of them take NULL for the trail. */
void trail_enter(struct trail *t, const char *hook);
void trail_leave(struct trail *t);
/* After trail_enter: the tensors that are NULL for the hook, "PEAT_NEED_X (x_q, x_k)"; "": nothing.
 */
void trail_missing(struct trail *t, const char *missing);
/* A kernel of the operation `name` that `hook` built (NULL: not known). */
void trail_enter_kernel(struct trail *t, const char *hook, const char *name, bool backward);
void trail_leave_kernel(struct trail *t);
void trail_beat(struct trail *t);
void trail_step(struct trail *t, int64_t step);
void trail_cell(struct trail *t, const char *label);
void trail_notice(struct trail *t, const char *text);
void trail_forget_plugins(struct trail *t);
void trail_plugin(struct trail *t, const char *id, const char *file, const char *at);
void trail_say(struct trail *t, const struct error *err);

/* For the parent: the plugin's function that runs or ran last without returning, "rotary.qkv";
 * "" when none did. */
void trail_where(const struct trail_page *page, char where[TRAIL_TEXT]);
/* Of a process that a bad address ended in a hook that is not given all there is: "; what it
 * does not declare is NULL there: PEAT_NEED_X (x_q, x_k)"; what SIGBUS means; else "". */
void trail_hint(const struct trail_page *page, int signal, char hint[TRAIL_HINT]);
/* False: the process has not said why it ends. */
bool trail_said(const struct trail_page *page, struct error *err);
/* The plugin that `where` belongs to, copied; false when it is not known. */
bool trail_find(const struct trail_page *page, const char *where, struct trail_plugin *plugin);

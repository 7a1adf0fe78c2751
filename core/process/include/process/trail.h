/* SPDX-License-Identifier: MIT */
/*
 * trail.h: records where a process is; its parent reads it when the process has died or makes no
 * progress.
 *
 * A process that runs plugins shares one page with its parent. Before a plugin's function is called
 * its name is copied there. The parent can then name the function after a segmentation fault, an
 * exit or an endless loop, without signal handlers. `beats` grows while the process makes progress.
 * A trail without a page records nothing.
 */
#pragma once

#include "base/base.h"

enum { TRAIL_TEXT = 96, TRAIL_PLUGINS = 12, TRAIL_HINT = 288, TRAIL_NOTICE = 1024 };

struct trail_plugin {
    char id[TRAIL_TEXT];
    char file[512], at[256]; /* the shared object; the place where it is named, "exp.yaml:3:5: ",
                              * or "" */
};

/* Shared with the parent, which trusts none of it: it ends every text at the end of its array. */
struct trail_page {
    uint64_t beats;
    int64_t step;              /* the last training step that began; 0: none yet               */
    char hook[TRAIL_TEXT];     /* "rotary.qkv" while a plugin's function runs, otherwise ""     */
    char kernel[TRAIL_TEXT];   /* the same for kernels, which run in hooks and outside of them */
    char cell[256];            /* the cell that is set up or trained, when there are several   */
    char missing[160];         /* tensors that the hook does not declare, so they are NULL for it */
    char notice[TRAIL_NOTICE]; /* a warning for the user before the first step; "": no warning */
    int32_t n_plugin;
    struct trail_plugin plugin[TRAIL_PLUGINS];
    int32_t status;  /* peat_status: why the process is about to end ... */
    char said[1024]; /* ... in words; "": the process has not said why   */
};

/* A process's own side of the page. */
struct trail {
    struct trail_page *page; /* NULL: records nothing */
    /* Called after each plugin function except kernels; may be NULL. */
    void (*left)(void *ctx, const char *hook);
    void *ctx;
};

/* Makes a page to share. *fd (close-on-exec) is for a program that is to be started; for a fork fd
 * is NULL. NULL: the system gives no page. */
struct trail_page *trail_page_new(int *fd);
/* Opens the page of a descriptor from the parent, and closes the descriptor; NULL when it is not a
 * page. */
struct trail_page *trail_page_open(int fd);
void trail_page_free(struct trail_page *page);

/* In all of these the trail may be NULL. */
void trail_enter(struct trail *t, const char *hook);
void trail_leave(struct trail *t);
/* Call after trail_enter: the tensors that are NULL for the hook, "PEAT_NEED_X (x_q, x_k)"; "": no
 * such tensor. */
void trail_missing(struct trail *t, const char *missing);
/* Records that a kernel of operation `name` runs, which `hook` built (NULL: not known). */
void trail_enter_kernel(struct trail *t, const char *hook, const char *name, bool backward);
void trail_leave_kernel(struct trail *t);
void trail_beat(struct trail *t);
void trail_step(struct trail *t, int64_t step);
void trail_cell(struct trail *t, const char *label);
void trail_notice(struct trail *t, const char *text);
void trail_forget_plugins(struct trail *t);
void trail_plugin(struct trail *t, const char *id, const char *file, const char *at);
void trail_say(struct trail *t, const struct error *err);

/* For the parent: the plugin's function that runs, or that ran last and did not return,
 * "rotary.qkv"; "": none. */
void trail_where(const struct trail_page *page, char where[TRAIL_TEXT]);
/* A hint on a process that a signal ended. After a bad address in a hook without all tensors: ";
 * the address is outside of its memory, or it is one of the pointers that it has not declared,
 * which are NULL there: PEAT_NEED_X (x_q, x_k)"; after SIGBUS its meaning; otherwise "". */
void trail_hint(const struct trail_page *page, int signal, char hint[TRAIL_HINT]);
/* The reason that the process gave for its end; false: it gave none. */
bool trail_said(const struct trail_page *page, struct error *err);
/* Copies the plugin that `where` belongs to; false when it is not known. */
bool trail_find(const struct trail_page *page, const char *where, struct trail_plugin *plugin);

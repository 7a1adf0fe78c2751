/* SPDX-License-Identifier: MIT */
/* data_tests.h: what the tests of tasks that read files share. The includer defines TASK. */
#pragma once

#include "support/plugin_harness.h"
#include "support/support.h"

/* A temporary file; the name is freed after unlink by data_forget. */
static inline char *data_write(const void *bytes, size_t n)
{
    char path[64];
    new_file(path, sizeof(path), bytes, n);
    return strdup(path);
}

static inline void data_forget(char *path)
{
    unlink(path);
    free(path);
}

/* The task over one file of these bytes; `more` are further parameters: ", \"valid\": 0.5". */
static inline peat_status data_open(struct harness *h, const void *bytes, size_t n,
                                    const char *more, const peat_task_plan *plan)
{
    char json[512];
    char *path = data_write(bytes, n);
    snprintf(json, sizeof(json), "{\"path\": \"%s\"%s}", path, more);
    peat_status status = harness_task(h, TASK, json, plan);
    data_forget(path);
    return status;
}

static inline void data_must_open(struct harness *h, const void *bytes, size_t n, const char *more,
                                  const peat_task_plan *plan)
{
    peat_status status = data_open(h, bytes, n, more, plan);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

/* Refused with one line that contains `text`. */
static inline void data_refused(const void *bytes, size_t n, const char *more,
                                const peat_task_plan *plan, const char *text)
{
    struct harness h;
    peat_status status = data_open(&h, bytes, n, more, plan);
    ck_assert_msg(status == PEAT_REFUSED && strstr(h.err.text, text) && !strchr(h.err.text, '\n'),
                  "%s: '%s' is not in: %s", status_text(status), text, h.err.text);
    harness_close(&h);
}

/* The plan shows `text` as what training data begin with. */
static inline void data_begin_with(const void *bytes, size_t n, const char *more,
                                   const peat_task_plan *plan, const char *text)
{
    struct harness h;
    data_must_open(&h, bytes, n, more, plan);
    ck_assert_pstr_eq(task_first_tokens(&h.task, &h.arena), text);
    harness_close(&h);
}

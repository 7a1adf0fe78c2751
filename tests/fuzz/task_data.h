/* SPDX-License-Identifier: MIT */
/*
 * task_data.h: any bytes as the data file of a task make batches that the trainer takes, or one
 * line that says why not.
 */
#pragma once

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_dir.h"
#include "fuzz/fuzz.h"
#include "plugin/params.h"
#include "train/task.h"

enum { FUZZ_SEQ_LEN = 12, FUZZ_ROWS = 4 };

/* One batch of each kind. */
static inline void fuzz_task_batches(struct task *t, struct arena *a)
{
    struct batch b;
    struct error err = {0};
    int64_t T = t->plan.eval_T[0] > FUZZ_SEQ_LEN ? t->plan.eval_T[0] : FUZZ_SEQ_LEN;
    BUG_UNLESS(batch_init(&b, a, FUZZ_ROWS, T) == PEAT_OK);
    BUG_UNLESS(task_train_batch(t, 1, 1, &b, &err) == PEAT_OK);
    BUG_UNLESS(task_eval_batch(t, 0, 0, &b, &err) == PEAT_OK);
}

/* `setting`: keys and values in turn, ended by NULL; the value "" is the file. */
static inline void fuzz_task_file(const peat_plugin *desc, const char *path, peat_arch arch,
                                  const char *const *setting)
{
    struct arena a;
    struct error err = {0};
    arena_init(&a, "fuzz", 1 << 16);
    void *config = arena_zalloc(&a, desc->config_size);
    struct value *given = value_map(&a, NOWHERE);
    for (; *setting; setting += 2)
        value_set(&a, given, setting[0], NOWHERE,
                  value_text(&a, NOWHERE, setting[1][0] ? setting[1] : path));
    BUG_UNLESS(params_fill(desc->param, config, given, desc->id, NULL, &a, &err) == PEAT_OK);
    struct task t = {
        .host = host_table(),
        .hooks = desc->interface,
        .part = {.id = desc->id, .prefix = "task", .config = config},
        .plan = {.arch = arch, .seq_len = FUZZ_SEQ_LEN, .eval_tokens = 64, .seed = 1},
    };
    peat_status status = task_setup(&t, &a, &err);
    if (status == PEAT_OK)
        fuzz_task_batches(&t, &a);
    else
        BUG_UNLESS(err.text[0] && !strchr(err.text, '\n'));
    arena_release(&a);
}

static inline void fuzz_task_data(const peat_plugin *desc, const char *const *setting,
                                  const uint8_t *bytes, size_t n)
{
    char *path = own_dir_pattern("fuzz");
    int fd = mkstemp(path);
    BUG_UNLESS(fd >= 0 && fd_write(fd, (const char *)bytes, n, NULL) == PEAT_OK);
    close(fd);
    fuzz_task_file(desc, path, PEAT_DECODER, setting);
    fuzz_task_file(desc, path, PEAT_ENCODER, setting);
    unlink(path);
    free(path);
}

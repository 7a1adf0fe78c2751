/* SPDX-License-Identifier: MIT */
/* handplan.c: plans made by hand. */
#include "support/handplan.h"

#include "support/support.h"

void handplan_open(struct handplan *h)
{
    static const char text[] = "version: 1\nname: hand\n";
    memset(h, 0, sizeof(*h));
    arena_init(&h->arena, "handplan", 1 << 16);
    new_folder(h->dir, sizeof(h->dir));
    snprintf(h->file, sizeof(h->file), "%s/hand.yaml", h->dir);
    snprintf(h->run, sizeof(h->run), "%s/run", h->dir);
    ck_assert_int_eq(file_write(h->file, text, strlen(text), NULL), PEAT_OK);
    h->experiment = (struct experiment){
        .arena = &h->arena,
        .path = h->file,
        .name = "hand",
        .description = "",
        .n_axis = 1,
        .axis = {{.key = "position.scheme"}},
        .n_seed = 1,
        .seed = &h->seed,
        .report = {.metric = ""},
    };
    h->plan = (struct plan){.experiment = &h->experiment,
                            .cell = h->cell,
                            .dropped = value_list(&h->arena, NOWHERE),
                            .skipped = value_list(&h->arena, NOWHERE)};
}

static struct value *number(struct arena *a, int64_t x)
{
    return value_int(a, NOWHERE, x);
}

static struct value *resolved(struct arena *a)
{
    struct value *v = value_map(a, NOWHERE), *lengths = value_list(a, NOWHERE);
    value_append(a, lengths, number(a, 8));
    v = value_with_path(a, v, "train.steps", NOWHERE, number(a, 100));
    v = value_with_path(a, v, "train.seq_len", NOWHERE, number(a, 8));
    v = value_with_path(a, v, "eval.lengths", NOWHERE, lengths);
    return value_with_path(a, v, "seed", NOWHERE, number(a, 0));
}

struct plan_cell *handplan_add(struct handplan *h, const char *scheme)
{
    struct arena *a = &h->arena;
    int i = h->plan.n++;
    ck_assert_int_lt(i, HANDPLAN_MAX);
    struct plan_cell *c = &h->cell[i];
    *c = (struct plan_cell){
        .index = i,
        .label = arena_printf(a, "%s.s0", scheme),
        .name = arena_printf(a, "%s.s0", scheme),
        .id = arena_printf(a, "%s.s0-%d", scheme, 10000000 + i),
        .axis = {arena_strdup(a, scheme)},
        .scheme = arena_strdup(a, scheme),
        .combine = "sum",
        .task = "copy",
        .attention_path = "fused",
        .injection = "",
        .baseline = -1,
    };
    c->config.train.steps = 100;
    c->config.train.seq_len = 8;
    c->config.train.batch = 1;
    c->config.resolved = resolved(a);
    snprintf(c->config.hash, sizeof(c->config.hash), "%d", 10000000 + i);
    return c;
}

void handplan_close(struct handplan *h)
{
    ck_assert_int_eq(dir_remove(h->dir, NULL), PEAT_OK);
    arena_release(&h->arena);
}

const char *handplan_path(struct handplan *h, int i, const char *name)
{
    return arena_printf(&h->arena, "%s/cells/%s/%s", h->run, h->cell[i].id, name);
}

void handplan_put(struct handplan *h, int i, const char *name, const char *text)
{
    ck_assert_int_eq(file_write(handplan_path(h, i, name), text, strlen(text), NULL), PEAT_OK);
}

/* SPDX-License-Identifier: MIT */
/* test_resolved.c: what each automatic parameter came to is recorded with the results. */
#include "plugin/registry.h"
#include "support/plugin_harness.h"
#include "support/support.h"

/* Every pass makes it of its own length: it never comes to one value. */
static const char of_each_pass[] = "rotary_scaled.factor";

static const peat_dims dims = {.D = 16,
                               .H = 2,
                               .L = 2,
                               .V = 300,
                               .d = 16,
                               .T_train = 16,
                               .T_max = 32,
                               .n_axes = 1,
                               .causal = true};

static peat_status open_task(struct harness *h, const char *name)
{
    const peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 32, .seed = 1};
    char json[128];
    snprintf(json, sizeof(json), "{\"path\": \"%s\"}", scratch_path("ids.bin"));
    return harness_task(h, name, strcmp(name, "tokens") == 0 ? json : NULL, &plan);
}

/* What the plugin recorded when all was left to it. */
static const struct value *recorded(struct harness *h, const peat_plugin *desc)
{
    static const char *const stream[] = {"token", "position"};
    int64_t width[2] = {0};
    peat_status status = desc->kind == PEAT_SCHEME ? harness_scheme(h, desc->id, NULL, &dims)
                         : desc->kind == PEAT_COMBINE
                             ? harness_combine(h, desc->id, NULL, &dims, 2, stream, width)
                             : open_task(h, desc->id);
    ck_assert_msg(status == PEAT_OK, "%s: %s", desc->id, h->err.text);
    return desc->kind == PEAT_SCHEME    ? h->positional.scheme[0].part.resolved
           : desc->kind == PEAT_COMBINE ? h->positional.combine_part.resolved
                                        : h->task.part.resolved;
}

/* Returns how many automatic parameters the plugin has. */
static int check_plugin(const peat_plugin *desc)
{
    struct harness h;
    int n = 0;
    for (const peat_param *row = desc->param; row && row->key; row++)
        n += (row->flags & PEAT_AUTO) != 0;
    if (n == 0)
        return 0;
    const struct value *all = recorded(&h, desc);
    for (const peat_param *row = desc->param; row->key; row++) {
        const char *name = arena_printf(&h.arena, "%s.%s", desc->id, row->key);
        const struct value *v = value_get(all, row->key);
        if (!(row->flags & PEAT_AUTO) || strcmp(name, of_each_pass) == 0)
            continue;
        ck_assert_msg(v, "%s is left to the plugin, which does not record its choice", name);
        ck_assert_msg((v->kind == VALUE_LIST) == (row->type == PEAT_REALS), "%s", name);
    }
    harness_close(&h);
    return n;
}

TEST(each_automatic_parameter_is_recorded)
{
    struct arena arena;
    struct error err = {0};
    struct registry r;
    int n = 0;
    FILE *ids = fopen(scratch_path("ids.bin"), "wb");
    for (int i = 0; i < 4000; i++)
        putc(i % 2 ? 0 : i % 7, ids);
    fclose(ids);
    arena_init(&arena, "test", 1 << 16);
    ck_assert_int_eq(registry_init(&r, &arena, NULL, &err), PEAT_OK);
    registry_load_all(&r, NULL, NULL);
    for (int i = 0; i < r.n; i++)
        n += check_plugin(r.item[i]->desc);
    ck_assert_int_ge(n, 40);
    arena_release(&arena);
}

TEST(a_list_is_recorded_as_it_was_given_or_chosen)
{
    const struct {
        const char *json;
        int64_t n, id[2];
    } set[] = {{NULL, 2, {46, 10}}, {"{\"separators\": [7]}", 1, {7}}};
    for (int i = 0; i < 2; i++) {
        struct harness h;
        ck_assert_int_eq(harness_scheme(&h, "bipe", set[i].json, &dims), PEAT_OK);
        const struct value *v = value_get(h.positional.scheme[0].part.resolved, "separators");
        ck_assert(v && v->kind == VALUE_LIST && v->n == set[i].n);
        for (int k = 0; k < v->n; k++)
            ck_assert_int_eq(v->item[k]->integer, set[i].id[k]);
        harness_close(&h);
    }
}

int main(void)
{
    use_built_plugins();
    return run_tests(
        (struct tests){"resolved", scratch_make, scratch_remove, .needs = "PEAT_BUILD"});
}

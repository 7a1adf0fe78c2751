/* SPDX-License-Identifier: MIT */
/* trunk.c: finds the steps that cells share, and where their state is kept. */
#include "cell/trunk.h"

#include "train/generation.h"

const struct field trunk_fields[] = {
    {"hash", FIELD_TEXT | FIELD_NEEDED},
    {"end", FIELD_INT | FIELD_NEEDED},
    {"cells", FIELD_MAP | FIELD_NEEDED, FIELD_INT},
    {NULL},
};

int64_t trunk_end(const struct cell_config *c)
{
    const struct train_config *t = &c->train;
    return t->schedule == SCHEDULE_WSD && t->patience == 0 ? schedule_flat_until(t) : 0;
}

/* The hash includes the section `eval`, because cells of a trunk share its curve. */
void trunk_hash(const struct cell_config *c, const struct value *identity, struct arena *a,
                char hash[HASH_HEX])
{
    hash[0] = '\0';
    if (trunk_end(c) == 0)
        return;
    struct json shared = {
        a, value_with_path(a, identity, "train.steps", NOWHERE, value_null(a, NOWHERE))};
    json_put(shared, "eval", value_get(c->resolved, "eval"));
    json_hash(shared.v, hash);
}

const char *trunk_dir(const char *run, const char *hash, struct arena *a)
{
    return arena_printf(a, "%s/trunks/%.16s", run, hash);
}

const char *trunk_state(const char *run, const char *hash, int64_t step, struct arena *a)
{
    char name[GENERATION_NAME];
    generation_name(step, name);
    return arena_printf(a, "%s/%s", trunk_dir(run, hash, a), name);
}

bool trunk_keeps(const struct value *trunk, const char *id, int64_t step)
{
    const struct value *cells = value_get(trunk, "cells");
    bool ends = false, used = false;
    for (int i = 0; cells && i < cells->n; i++) {
        int64_t end = cells->item[i]->integer;
        ends = ends || end == step;
        used = used || (end >= step && strcmp(cells->key[i], id) != 0);
    }
    return ends && used && step <= json_get_int(trunk, "end", 0);
}

void trunk_release(const char *run, const struct value *trunk, struct arena *a)
{
    const struct value *cells = value_get(trunk, "cells");
    bool done = cells != NULL;
    for (int i = 0; done && i < cells->n; i++)
        done = file_exists(arena_printf(a, "%s/cells/%s/result.json", run, cells->key[i]));
    if (done) {
        dir_remove(trunk_dir(run, json_get_text(trunk, "hash"), a), NULL);
        rmdir(arena_printf(a, "%s/trunks", run)); /* fails while other files are in it */
    }
}

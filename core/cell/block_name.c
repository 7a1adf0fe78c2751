/* SPDX-License-Identifier: MIT */
/* block_name.c: the settings that the name of a block fills in. */
#include "cell/block_name.h"

/* gpt2: the defaults (Radford et al. 2019). llama: Touvron et al. 2023 (arXiv:2302.13971). */
const char *const block_names[] = {"gpt2", "llama", NULL};
static const struct {
    const char *key, *value[2]; /* by name */
} settings[] = {
    {"norm", {"layer", "rms"}},
    {"norm_eps", {"1e-5", "1e-6"}},
    {"activation", {"gelu", "swiglu"}},
    {"bias", {"true", "false"}},
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

/* The value of the i-th setting; NULL: the section names no block, or gives the key itself. */
static const char *filled(const struct value *model, int i)
{
    const char *block = json_get_text(model, "block");
    const int name = block ? names_find(block_names, block) : -1;
    return name < 0 || value_get(model, settings[i].key) ? NULL : settings[i].value[name];
}

const struct value *block_name_filled(const struct value *model, struct arena *a)
{
    struct value *all = NULL;
    for (int i = 0; i < SETTINGS; i++) {
        const char *text = filled(model, i);
        const struct place at = text ? value_get(model, "block")->at : NOWHERE;
        if (text && !all)
            all = value_map_copy(a, model, model->at);
        if (text)
            value_set(a, all, settings[i].key, at, value_scalar(a, at, text));
    }
    return all ? all : model;
}

const char *block_name_text(const struct value *model, struct arena *a)
{
    const char *all = "";
    for (int i = 0; i < SETTINGS; i++)
        if (filled(model, i))
            all = arena_item(a, all, "%s: %s", settings[i].key, filled(model, i));
    return *all ? all : NULL;
}

/* SPDX-License-Identifier: MIT */
/* identity.c: comparing a checkpoint's identity with this run's. */
#include "identity.h"

#include "cell/cellmeta.h"

static const char plugin_set[] = "plugin_set";

/* The i-th deciding key: the hash of the configuration, which covers precision, plugins' names and
 * data; the plugins' files; then keys of meta.json. NULL: there are no more. */
static const char *key_at(int i)
{
    return i == 0 ? "hash" : i == 1 ? plugin_set : deciding_keys[i - 2];
}

/* "copy 1a2b3c4d, rotary 5e6f7a8b": plugins with the start of each file's SHA-256. */
static const char *plugin_text(const struct value *meta, struct arena *a)
{
    const char *text = "";
    const struct value *plugin;
    for (int i = 0; (plugin = json_get_item(meta, "plugins", i)); i++)
        text = arena_item(a, text, "%s %.8s", json_get_text(plugin, "id"),
                          json_get_text(plugin, "sha256"));
    return text;
}

struct json identity_of(const struct value *meta, const char *hash, struct arena *a)
{
    struct json v = json_map(a);
    json_put_text(v, key_at(0), hash);
    json_put_text(v, key_at(1), plugin_text(meta, a));
    for (int i = 2; key_at(i); i++)
        json_put_text(v, key_at(i), json_get_text(meta, key_at(i)));
    return v;
}

/* "missing", because checkpoints of earlier versions have fewer keys */
static const char *text_of(const struct value *identity, const char *key)
{
    return json_text_or(identity, key, "missing");
}

static bool differs(const struct value *stored, const struct value *now, const char *key)
{
    return strcmp(text_of(stored, key), text_of(now, key)) != 0;
}

/* The words in which a text differs from another, without the words that both begin or end with. */
static const char *own_words(const char *text, const char *other, struct arena *a)
{
    size_t n = strlen(text), m = strlen(other), from = 0, after = 0;
    for (size_t i = 0; i < n && i < m && text[i] == other[i]; i++)
        from = text[i] == ' ' ? i + 1 : from;
    for (size_t i = 1; i <= n - from && i <= m - from && text[n - i] == other[m - i]; i++)
        after = text[n - i] == ' ' ? i : after;
    return arena_printf(a, "%.*s", (int)(n - from - after), text + from);
}

const char *identity_difference(const struct value *stored, const struct value *now,
                                bool *may_drift, struct arena *a)
{
    *may_drift = !differs(stored, now, key_at(0)) &&
                 (!value_get(stored, plugin_set) || !differs(stored, now, plugin_set));
    for (int i = 0; key_at(i); i++) {
        const char *was = text_of(stored, key_at(i)), *is = text_of(now, key_at(i));
        bool whole =
            strcmp(key_at(i), plugin_set) == 0; /* parts of it would not say which plugin differs */
        if (strcmp(was, is) != 0)
            return arena_printf(a, "its %s is '%s', and this run's is '%s'", key_at(i),
                                whole ? was : own_words(was, is, a),
                                whole ? is : own_words(is, was, a));
    }
    return NULL;
}

static void add_entry(struct json list, const struct value *step, const char *key, const char *from,
                      const char *to)
{
    struct json m = json_add_map(list);
    if (step)
        json_put_int(m, "step", step->integer);
    json_put_text(m, "key", key);
    json_put_text(m, "from", from);
    json_put_text(m, "to", to);
}

struct value *identity_drift(const struct value *stored, const struct value *now, struct arena *a)
{
    struct json list = json_list(a);
    const struct value *d;
    for (int i = 0; (d = json_get_item(stored, "drift", i)); i++)
        add_entry(list, value_get(d, "step"), text_of(d, "key"), text_of(d, "from"),
                  text_of(d, "to"));
    for (int i = 0; key_at(i); i++)
        if (differs(stored, now, key_at(i)))
            add_entry(list, NULL, key_at(i), text_of(stored, key_at(i)), text_of(now, key_at(i)));
    return list.v->n ? list.v : NULL;
}

void identity_drifted_at(struct value *drift, int64_t step, const struct log *log, struct arena *a)
{
    for (int i = 0; drift && i < drift->n; i++) {
        struct json m = {a, drift->item[i]};
        if (value_get(m.v, "step"))
            continue;
        json_put_int(m, "step", step);
        log_line(log, "drifts at step %" PRId64 ": %s was '%s' and is '%s'", step,
                 text_of(m.v, "key"), text_of(m.v, "from"), text_of(m.v, "to"));
    }
}

void put_eval_identity(struct json identity, const struct value *settings)
{
    const struct value *eval = value_get(settings, "eval"), *test = value_get(eval, "test");
    if (json_get_int(value_get(settings, "train"), "patience", 0))
        json_put(identity, "eval", eval);
    else if (test)
        json_put(json_put_map(identity, "eval"), "test", test);
}

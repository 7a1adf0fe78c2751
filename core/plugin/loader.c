/* SPDX-License-Identifier: MIT */
/* loader.c: opens one plugin, and checks its contract before any of it is used: magic, size, ABI
 * numbers, id, kind, parameter rows, interface. */
#include "nn/hooks.h"
#include "plugin/params.h"
#include "plugin/registry.h"

enum { ID_MAX_LENGTH = 63, METRICS_MAX = 32 };

static const uint32_t known_needs = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_W | PEAT_NEED_PROJECT |
                                    PEAT_NEED_TOKENS | PEAT_NEED_BIAS | PEAT_NEED_LENGTH |
                                    PEAT_MIXES_HEADS;
static const uint32_t known_traits = PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING |
                                     PEAT_FINITE_LENGTH | PEAT_CONTENT_DEPENDENT |
                                     PEAT_NEEDS_CAUSAL | PEAT_PERMUTATION_EQUIVARIANT |
                                     PEAT_NO_TRAINABLE | PEAT_ACROSS | PEAT_STORABLE;

/* One rule of a check: false, with the message, where the rule is broken. */
static bool rule(struct error *err, bool kept, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool rule(struct error *err, bool kept, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!kept)
        error_set_args(err, PEAT_INVALID, fmt, args);
    va_end(args);
    return kept;
}

/* True for one to ID_MAX_LENGTH lower-case letters, digits and underscores. */
static bool is_name(const char *text)
{
    size_t n = text ? strlen(text) : 0;
    return n > 0 && n <= ID_MAX_LENGTH &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static bool is_line(const char *text)
{
    return text && *text && !strchr(text, '\n');
}

static bool bits_are_known(const char *field, uint32_t bits, uint32_t known, struct error *err)
{
    return rule(err, !(bits & ~known), "%s has unknown bits 0x%" PRIx32, field, bits & ~known);
}

/* Accepts any 1.x, and 0.1, to which 1.0 only added fields. */
static bool abi_fits(const peat_plugin *desc)
{
    return desc->abi_major == PEAT_ABI_MAJOR || (desc->abi_major == 0 && desc->abi_minor == 1);
}

/* Checks the fields that never change. No later field is read before these are right. */
static bool check_header(const peat_plugin *desc, struct error *err)
{
    if (!rule(err, desc, "peat_entry returned no descriptor") ||
        !rule(err, desc->magic == PEAT_MAGIC,
              "its descriptor starts with 0x%08" PRIx32 ", not with 0x%08" PRIx32, desc->magic,
              PEAT_MAGIC))
        return false;
    if (!abi_fits(desc)) {
        return error_fail(err, PEAT_MISMATCH,
                          "built for ABI %" PRIu32 ".%" PRIu32 ", this program loads %d.x and 0.1",
                          desc->abi_major, desc->abi_minor, PEAT_ABI_MAJOR);
    }
    return rule(err, desc->size >= sizeof(*desc),
                "its descriptor has %" PRIu32 " bytes, that of ABI %s has %zu", desc->size,
                PEAT_ABI, sizeof(*desc));
}

static bool check_texts(const peat_plugin *desc, struct error *err)
{
    return rule(err, desc->version && *desc->version, "the version is missing") &&
           rule(err, is_line(desc->version), "the version must be one line") &&
           rule(err, is_line(desc->summary), "the summary must be one line") &&
           rule(err, desc->licence && *desc->licence, "the licence is missing") &&
           rule(err, is_line(desc->licence), "the licence must be one line") &&
           rule(err, desc->citation && !strchr(desc->citation, '\n'),
                "the citation must be one line, or \"\"");
}

/* ---- the interface ---- */

/* Whether the interface has a hook to which this bit applies. */
static bool need_has_hook(const peat_scheme *s, uint32_t need)
{
    for (const struct hook *h = hook_table(); h->name; h++)
        if (h->need & need && hook_is_in(h, s))
            return true;
    return false;
}

static bool needs_have_hooks(const peat_scheme *s, struct error *err)
{
    for (const struct hook *h = hook_table(); h->name; h++)
        if (!rule(err, !(s->needs & h->need) || need_has_hook(s, h->need),
                  "%s is for the %s hook, which is missing", h->need_name, h->name))
            return false;
    return true;
}

static bool axes_fit(const char *field, int32_t n, struct error *err)
{
    return rule(err, n >= 0 && n <= PEAT_MAX_AXES, "%s must be from 0 to %d, not %" PRId32, field,
                PEAT_MAX_AXES, n);
}

static bool check_scheme(const peat_scheme *s, struct error *err)
{
    const bool terms = s->score_terms > 0;
    return bits_are_known("needs", s->needs, known_needs, err) &&
           bits_are_known("traits", s->traits, known_traits, err) &&
           axes_fit("max_axes", s->max_axes, err) && axes_fit("own_axes", s->own_axes, err) &&
           rule(err, s->own_axes == 0 || s->own_positions,
                "own_axes is set, but own_positions is not") &&
           rule(err, s->scale >= PEAT_SCALE_SQRT && s->scale <= PEAT_SCALE_OWN,
                "scale has the unknown value %d", (int)s->scale) &&
           rule(err, s->scale != PEAT_SCALE_OWN || s->qkv,
                "PEAT_SCALE_OWN is for the qkv hook, which is missing") &&
           rule(err, s->score_terms >= 0, "score_terms is negative: %" PRId32, s->score_terms) &&
           rule(err, !terms || s->scale != PEAT_SCALE_ONE,
                "score_terms must be 0 with PEAT_SCALE_ONE") &&
           rule(err, !terms || s->score_add, "score_terms is set, but score_add is not") &&
           needs_have_hooks(s, err) &&
           rule(err, !s->reach || s->residual || s->hidden,
                "reach is set, but neither residual nor hidden is") &&
           rule(err, !s->carry || s->prepare, "carry is set, but prepare is not") &&
           rule(err, !s->carry || !(s->traits & PEAT_STORABLE),
                "PEAT_STORABLE is not for a scheme with carry") &&
           rule(err, !s->width || s->encode, "width is set, but encode is not");
}

static bool check_required(peat_kind kind, const void *interface, struct error *err)
{
    for (const struct hook *h = hook_table(); h->name; h++)
        if (!rule(err, h->kind != kind || !h->required || hook_is_in(h, interface),
                  "a %s needs %s, which is missing", kind_name(kind), h->name))
            return false;
    return true;
}

static bool check_combine(const peat_combine *c, struct error *err)
{
    return bits_are_known("needs", c->needs, known_needs, err) &&
           bits_are_known("traits", c->traits, PEAT_STORABLE, err) &&
           check_required(PEAT_COMBINE, c, err) &&
           rule(err, c->min_streams >= 1, "min_streams must be at least 1, not %" PRId32,
                c->min_streams) &&
           rule(err, c->max_streams == 0 || c->max_streams >= c->min_streams,
                "max_streams %" PRId32 " is below min_streams %" PRId32, c->max_streams,
                c->min_streams);
}

static bool check_metric(const peat_metric *metric, int i, struct error *err)
{
    const char *name = metric[i].name;
    bool kept =
        rule(err, i < METRICS_MAX, "more than %d metrics; does a NULL name end the list?",
             METRICS_MAX) &&
        rule(err, is_name(name),
             "the metric name '%s' may have lower-case letters, digits and underscores only",
             name) &&
        rule(err, is_line(metric[i].doc), "metric '%s' has no doc", name) &&
        rule(err, metric[i].value, "metric '%s' has no value function", name);
    for (int j = 0; kept && j < i; j++)
        kept = rule(err, strcmp(name, metric[j].name) != 0, "two metrics are called '%s'", name);
    return kept;
}

static bool check_task(const peat_task *t, struct error *err)
{
    const peat_metric *metric = t->metric;
    bool kept = bits_are_known("needs", t->needs, known_needs, err) &&
                rule(err, metric && metric->name, "a task needs a metric, and has none");
    for (int i = 0; kept && metric[i].name; i++)
        kept = check_metric(metric, i, err);
    return kept && check_required(PEAT_TASK, t, err);
}

/* ---- a copy of this program's size ---- */

/* `first`: the size up to the last field that ABI 0.1 began with. Later fields are after it. */
struct layout {
    const char *kind, *type;
    size_t first, now;
};

/* clang-format off */
#define LAYOUT(kind, last)                                                                         \
    {#kind, "peat_" #kind,                                                                          \
     offsetof(peat_##kind, last) + sizeof(((peat_##kind *)0)->last), sizeof(peat_##kind)}
/* clang-format on */

static const struct layout layouts[] = {
    [PEAT_SCHEME] = LAYOUT(scheme, context),
    [PEAT_COMBINE] = LAYOUT(combine, merge),
    [PEAT_TASK] = LAYOUT(task, evaluate),
};

static bool all_zero(const unsigned char *byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (byte[i])
            return false;
    return true;
}

/* A combination and a task of ABI 0.1 have the same size. They differ in one place: a function of a
 * task, bits of traits in a combination. */
static const struct layout *combine_or_task(const void *given)
{
    uintptr_t last;
    memcpy(&last, (const char *)given + offsetof(peat_task, evaluate), sizeof(last));
    return &layouts[last > UINT16_MAX ? PEAT_TASK : PEAT_COMBINE];
}

/* The kind that the interface resembles by its bytes, if it is not the declared one. */
static const struct layout *other_kind(const struct layout *l, const void *given, uint32_t size)
{
    const struct layout *fits = NULL;
    if (l != &layouts[PEAT_SCHEME] && size == layouts[PEAT_TASK].first) {
        fits = combine_or_task(given);
        return fits == l ? NULL : fits;
    }
    for (int k = PEAT_SCHEME; k <= PEAT_TASK; k++)
        if (size >= layouts[k].first && size <= layouts[k].now)
            fits = &layouts[k];
    return size >= l->first && size <= l->now ? NULL : fits;
}

static bool check_size(const struct layout *l, const void *given, uint32_t size, struct error *err)
{
    const struct layout *other = other_kind(l, given, size);
    if (!rule(err, size > 0, "its %s does not set size", l->type) ||
        !rule(err, !other,
              "it is declared as a %s, but its interface has %" PRIu32 " bytes, like a %s", l->kind,
              size, other ? other->type : "") ||
        !rule(err, size >= l->first,
              "its %s has %" PRIu32 " bytes, that of ABI %s has at least %zu", l->type, size,
              PEAT_ABI, l->first))
        return false;
    if (size <= l->now || all_zero((const unsigned char *)given + l->now, size - l->now))
        return true;
    return error_fail(err, PEAT_MISMATCH,
                      "its %s sets fields that this program does not know: it has %" PRIu32
                      " bytes, here %zu; a newer PEAT is needed",
                      l->type, size, l->now);
}

/* An interface grows only at its end. Fields that the plugin's headers lack become zero, and those
 * that these headers lack must be zero. */
static bool copy_interface(struct arena *a, peat_plugin *whole, struct error *err)
{
    const struct layout *l = &layouts[whole->kind];
    const uint32_t now = (uint32_t)l->now;
    uint32_t size;
    memcpy(&size, whole->interface, sizeof(size)); /* the first field of each */
    if (!check_size(l, whole->interface, size, err))
        return false;
    unsigned char *copy = ARENA_ARRAY(a, (int64_t)l->now, unsigned char);
    memcpy(copy, whole->interface, size < l->now ? size : l->now);
    memcpy(copy, &now, sizeof(now));
    whole->interface = copy;
    return true;
}

/* ---- the whole descriptor ---- */

static bool check_interface(const peat_plugin *desc, struct error *err)
{
    return desc->kind == PEAT_SCHEME    ? check_scheme(desc->interface, err)
           : desc->kind == PEAT_COMBINE ? check_combine(desc->interface, err)
                                        : check_task(desc->interface, err);
}

static bool check_named(struct arena *a, peat_plugin *desc, struct error *err)
{
    bool known = desc->kind == PEAT_SCHEME || desc->kind == PEAT_COMBINE || desc->kind == PEAT_TASK;
    return check_texts(desc, err) && params_check(desc->param, desc->config_size, err) == PEAT_OK &&
           rule(err, desc->interface, "the interface is missing") &&
           rule(err, known, "the kind %d is unknown", (int)desc->kind) &&
           copy_interface(a, desc, err) && check_interface(desc, err);
}

static bool check_contract(struct arena *a, const peat_plugin *given, const peat_plugin **whole,
                           struct error *err)
{
    peat_plugin *desc = ARENA_NEW(a, peat_plugin);
    if (!check_header(given, err) ||
        !rule(err, is_name(given->id),
              "the id '%s' may have lower-case letters, digits and underscores only",
              given->id ? given->id : ""))
        return false;
    *desc = *given;
    desc->size = sizeof(*desc);
    *whole = desc;
    if (check_named(a, desc, err))
        return true;
    error_prefix(err, "plugin '%s'", given->id);
    return false;
}

bool plugin_contract(struct arena *a, const peat_plugin *given, const peat_plugin **whole,
                     const char *path, struct error *err)
{
    if (check_contract(a, given, whole, err))
        return true;
    error_prefix(err, "'%s'", path);
    return false;
}

/* ---- one file ---- */

static bool read_descriptor(struct arena *a, const char *path, const struct object *o,
                            const peat_plugin **desc, struct error *err)
{
    void *symbol = object_symbol(o, PEAT_ENTRY_NAME);
    if (!symbol)
        return error_fail(err, PEAT_INVALID, "'%s' is not a PEAT plugin: it has no %s", path,
                          PEAT_ENTRY_NAME);
    /* POSIX: a symbol's address may be copied into a pointer to a function. */
    peat_entry_fn entry;
    memcpy(&entry, &symbol, sizeof(entry));
    return plugin_contract(a, entry(), desc, path, err);
}

peat_status plugin_load(struct arena *a, const char *path, enum object_hash hash,
                        const struct plugin **plugin, struct error *err)
{
    struct plugin *loaded = ARENA_NEW(a, struct plugin);
    struct object o = {0};
    struct error why = {0};
    if (object_open(&o, "plugin", path, hash, a, &why) == PEAT_OK &&
        read_descriptor(a, path, &o, &loaded->desc, &why)) {
        loaded->name = object_stem(a, path);
        loaded->path = o.path;
        memcpy(loaded->sha256, o.sha256, sizeof(o.sha256));
        if (hash == OBJECT_HASHED)
            object_note("plugin", path, PEAT_BUILT_NOTE, &loaded->built, a, NULL);
        *plugin = loaded;
    }
    return error_copy(err, &why);
}

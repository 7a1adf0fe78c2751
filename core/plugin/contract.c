/* SPDX-License-Identifier: MIT */
/* contract.c: is this descriptor one that can be used? Reads it and runs nothing of it. */
#include <inttypes.h>
#include <string.h>

#include "interface.h"
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

static peat_status refuse(struct error *err, const char *text)
{
    return error_set(err, PEAT_INVALID, "%s", text);
}

/* Non-empty, lower case, digits, underscore. */
static bool is_name(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && n <= ID_MAX_LENGTH &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static bool is_line(const char *text)
{
    return text && *text && !strchr(text, '\n');
}

static peat_status check_bits(const char *field, uint32_t bits, uint32_t known, struct error *err)
{
    if ((bits & ~known) == 0)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "%s has unknown bits 0x%" PRIx32, field, bits & ~known);
}

/* The fields that never change. Nothing after them is read before they fit. */
static peat_status check_header(const peat_plugin *desc, struct error *err)
{
    if (!desc)
        return refuse(err, "peat_entry returned no descriptor");
    if (desc->magic != PEAT_MAGIC)
        return error_set(err, PEAT_INVALID,
                         "its descriptor starts with 0x%08" PRIx32 ", not with 0x%08" PRIx32,
                         desc->magic, PEAT_MAGIC);
    if (desc->abi_major != PEAT_ABI_MAJOR || desc->abi_minor != PEAT_ABI_MINOR)
        return error_set(err, PEAT_MISMATCH,
                         "built for ABI %" PRIu32 ".%" PRIu32 ", this program speaks %s",
                         desc->abi_major, desc->abi_minor, PEAT_ABI);
    if (desc->size < sizeof(*desc))
        return error_set(err, PEAT_INVALID,
                         "its descriptor has %" PRIu32 " bytes, that of ABI %s has %zu", desc->size,
                         PEAT_ABI, sizeof(*desc));
    return PEAT_OK;
}

static peat_status check_texts(const peat_plugin *desc, struct error *err)
{
    if (!is_line(desc->version))
        return refuse(err, "the version is missing");
    if (!is_line(desc->summary))
        return refuse(err, "the summary must be one line");
    if (!is_line(desc->licence))
        return refuse(err, "the licence is missing");
    if (!desc->citation || strchr(desc->citation, '\n'))
        return refuse(err, "the citation must be one line, or \"\"");
    return PEAT_OK;
}

static peat_status check_params(const peat_plugin *desc, struct error *err)
{
    return desc->param ? params_check(desc->param, desc->config_size, err) : PEAT_OK;
}

/* Whether a hook that this bit is for is there. */
static bool need_has_hook(const peat_scheme *s, uint32_t need)
{
    for (const struct hook *h = hook_table(); h->name; h++)
        if (h->need & need && hook_is_in(h, s))
            return true;
    return false;
}

static peat_status check_scheme(const peat_scheme *s, struct error *err)
{
    peat_status status = check_bits("needs", s->needs, known_needs, err);
    if (status == PEAT_OK)
        status = check_bits("traits", s->traits, known_traits, err);
    if (status != PEAT_OK)
        return status;
    if (s->max_axes < 0 || s->max_axes > PEAT_MAX_AXES)
        return error_set(err, PEAT_INVALID, "max_axes must be from 0 to %d, not %" PRId32,
                         PEAT_MAX_AXES, s->max_axes);
    if (s->own_axes < 0 || s->own_axes > PEAT_MAX_AXES)
        return error_set(err, PEAT_INVALID, "own_axes must be from 0 to %d, not %" PRId32,
                         PEAT_MAX_AXES, s->own_axes);
    if (s->own_axes > 0 && !s->own_positions)
        return refuse(err, "own_axes is set, but own_positions is not");
    if (s->scale != PEAT_SCALE_SQRT && s->scale != PEAT_SCALE_ONE)
        return error_set(err, PEAT_INVALID, "scale has the unknown value %d", (int)s->scale);
    if (s->score_terms < 0)
        return error_set(err, PEAT_INVALID, "score_terms is negative: %" PRId32, s->score_terms);
    if (s->score_terms > 0 && s->scale == PEAT_SCALE_ONE)
        return refuse(err, "score_terms must be 0 with PEAT_SCALE_ONE");
    if (s->score_terms > 0 && !s->score_add)
        return refuse(err, "score_terms is set, but score_add is not");
    for (const struct hook *h = hook_table(); h->name; h++)
        if (s->needs & h->need && !need_has_hook(s, h->need))
            return error_set(err, PEAT_INVALID, "%s is for the %s hook, which is missing",
                             h->need_name, h->name);
    if (s->reach && !s->residual && !s->hidden)
        return refuse(err, "reach is set, but neither residual nor hidden is");
    if (s->width && !s->encode)
        return refuse(err, "width is set, but encode is not");
    return PEAT_OK;
}

static peat_status check_required(peat_kind kind, const void *interface, struct error *err)
{
    for (const struct hook *h = hook_table(); h->name; h++)
        if (h->kind == kind && h->required && !hook_is_in(h, interface))
            return error_set(err, PEAT_INVALID, "a %s needs %s, which is missing", kind_name(kind),
                             h->name);
    return PEAT_OK;
}

static peat_status check_combine(const peat_combine *c, struct error *err)
{
    peat_status status = check_bits("needs", c->needs, known_needs, err);
    if (status == PEAT_OK)
        status = check_bits("traits", c->traits, PEAT_STORABLE, err);
    if (status == PEAT_OK)
        status = check_required(PEAT_COMBINE, c, err);
    if (status != PEAT_OK)
        return status;
    if (c->min_streams < 1)
        return error_set(err, PEAT_INVALID, "min_streams must be at least 1, not %" PRId32,
                         c->min_streams);
    if (c->max_streams != 0 && c->max_streams < c->min_streams)
        return error_set(err, PEAT_INVALID, "max_streams %" PRId32 " is below min_streams %" PRId32,
                         c->max_streams, c->min_streams);
    return PEAT_OK;
}

static peat_status check_metrics(const peat_metric *metric, struct error *err)
{
    if (!metric || !metric->name)
        return refuse(err, "a task needs a metric, and has none");
    for (int i = 0; metric[i].name; i++) {
        if (i == METRICS_MAX)
            return error_set(err, PEAT_INVALID,
                             "more than %d metrics; does a NULL name end the list?", METRICS_MAX);
        if (!is_name(metric[i].name))
            return error_set(err, PEAT_INVALID,
                             "the metric name '%s' is not of lower case, digits and underscores",
                             metric[i].name);
        if (!is_line(metric[i].doc))
            return error_set(err, PEAT_INVALID, "metric '%s' has no doc", metric[i].name);
        if (!metric[i].value)
            return error_set(err, PEAT_INVALID, "metric '%s' has no value function",
                             metric[i].name);
        for (int j = 0; j < i; j++)
            if (!strcmp(metric[i].name, metric[j].name))
                return error_set(err, PEAT_INVALID, "two metrics are called '%s'", metric[i].name);
    }
    return PEAT_OK;
}

static peat_status check_task(const peat_task *t, struct error *err)
{
    peat_status status = check_bits("needs", t->needs, known_needs, err);
    if (status == PEAT_OK)
        status = check_metrics(t->metric, err);
    return status == PEAT_OK ? check_required(PEAT_TASK, t, err) : status;
}

static peat_status check_interface(const peat_plugin *desc, struct error *err)
{
    if (desc->kind == PEAT_SCHEME)
        return check_scheme(desc->interface, err);
    if (desc->kind == PEAT_COMBINE)
        return check_combine(desc->interface, err);
    return check_task(desc->interface, err);
}

/* A descriptor as long as in this program's headers, not yet checked. */
static peat_status whole_descriptor(struct arena *a, const peat_plugin *given, peat_plugin *whole,
                                    struct error *err)
{
    if (!given->interface)
        return refuse(err, "the interface is missing");
    if (given->kind != PEAT_SCHEME && given->kind != PEAT_COMBINE && given->kind != PEAT_TASK)
        return error_set(err, PEAT_INVALID, "the kind %d is unknown", (int)given->kind);
    *whole = *given;
    whole->size = sizeof(*whole);
    return interface_whole(a, given->kind, given->interface, &whole->interface, err);
}

static peat_status check_named(struct arena *a, const peat_plugin *given, peat_plugin *whole,
                               struct error *err)
{
    peat_status status = check_texts(given, err);
    if (status == PEAT_OK)
        status = check_params(given, err);
    if (status == PEAT_OK)
        status = whole_descriptor(a, given, whole, err);
    if (status == PEAT_OK)
        status = check_interface(whole, err);
    if (status != PEAT_OK)
        error_prefix(err, "plugin '%s'", given->id);
    return status;
}

peat_status plugin_contract(struct arena *a, const peat_plugin *given, const peat_plugin **whole,
                            struct error *err)
{
    peat_status status = check_header(given, err);
    if (status != PEAT_OK)
        return status;
    if (!given->id || !is_name(given->id))
        return error_set(err, PEAT_INVALID,
                         "the id '%s' is not of lower case, digits and underscores",
                         given->id ? given->id : "");
    peat_plugin *desc = ARENA_NEW(a, peat_plugin);
    status = check_named(a, given, desc, err);
    if (status == PEAT_OK)
        *whole = desc;
    return status;
}

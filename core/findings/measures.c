/* SPDX-License-Identifier: MIT */
/* measures.c: the list of measures, and finding their numbers in a diagnosis. */
#include "findings/measures.h"

#define SHARE(name, head, term, usual, meaning)                                                    \
    {                                                                                              \
        name, head, "logits", "layers", "layer", "share/" term, NULL, usual, meaning               \
    }
#define HEADS(name, head, key, usual, meaning)                                                     \
    {                                                                                              \
        name, head, "attention", "layers", "layer", "heads/*/" key, NULL, usual, meaning           \
    }

const struct measure measures[] = {
    {"loss", "loss", NULL, NULL, NULL, "loss", NULL, false, "nats per target on the windows"},
    {"ratio_start", "tok:pos start", "sizes", NULL, NULL, "start/ratio", NULL, true,
     "size of tokens over size of positions at the input, before training"},
    {"ratio", "tok:pos end", "sizes", NULL, NULL, "ratio", NULL, true,
     "size of tokens over size of positions at the input"},
    {"cosine_start", "cosine start", "sizes", NULL, NULL, "start/cosine", NULL, false,
     "mean cosine between a token's and a position's vector before training"},
    {"cosine", "cosine", "sizes", NULL, NULL, "cosine", NULL, true,
     "mean cosine between a token's and a position's vector; 0 by chance"},
    {"cosine_size_start", "|cosine| start", "sizes", NULL, NULL, "start/cosine_size", "chance",
     false, "mean size of that cosine before training"},
    {"cosine_size", "|cosine|", "sizes", NULL, NULL, "cosine_size", "chance", true,
     "mean size of the cosine between a token's and a position's vector"},
    {"angle_start", "angle start", "subspaces", NULL, NULL, "start/mean", "start/random/mean",
     false, "mean angle between what tokens and positions span, before training (degrees)"},
    {"angle", "angle", "subspaces", NULL, NULL, "mean", "random/mean", true,
     "mean angle between what tokens and positions span (degrees)"},
    {"smallest_angle", "smallest angle", "subspaces", NULL, NULL, "smallest", "random/smallest",
     false, "smallest angle between what tokens and positions span (degrees)"},
    {"overlap", "overlap", "subspaces", NULL, NULL, "overlap", "random/overlap", false,
     "mean squared cosine of the angles between what tokens and positions span"},
    {"token_rank", "token rank", "subspaces", NULL, NULL, "token/rank", NULL, false,
     "dimensions that hold 99 % of the tokens' variance"},
    {"position_rank", "position rank", "subspaces", NULL, NULL, "position/rank", NULL, false,
     "dimensions that hold 99 % of the positions' variance"},
    {"disjoint_start", "disjoint start", "support", NULL, NULL, "start/disjoint",
     "start/disjoint_by_chance", false, "disjoint-support index before training"},
    {"disjoint", "disjoint", "support", NULL, NULL, "disjoint", "disjoint_by_chance", true,
     "disjoint-support index; 1: no dimension carries both"},
    {"without_token", "without tokens", "support", NULL, NULL, "whole/token", NULL, false,
     "change of the loss (nats) without the tokens' part of the input"},
    {"without_position", "without positions", "support", NULL, NULL, "whole/position", NULL, true,
     "change of the loss (nats) without the positions' part of the input"},
    {"block_token", "block of tokens", "support", "blocks", "begin", "token", NULL, false,
     "change of the loss without some dimensions of the tokens' part"},
    {"block_position", "block of positions", "support", "blocks", "begin", "position", NULL, false,
     "change of the loss without some dimensions of the positions' part"},
    {"decoded_token", "token decoded", "collisions", NULL, NULL, "decoded/0/token", NULL, false,
     "share of the tokens that the nearest sum gets right"},
    {"decoded_position", "position decoded", "collisions", NULL, NULL, "decoded/0/position", NULL,
     false, "share of the positions that the nearest sum gets right"},
    {"decoded", "both decoded", "collisions", NULL, NULL, "decoded/0/both", NULL, true,
     "share of the sums whose token and position the nearest sum gets right"},
    {"decoded_noisy", "decoded in noise", "collisions", NULL, NULL, "decoded/2/both", NULL, false,
     "the same share in noise of half the sums' standard deviation"},
    {"collisions", "collisions", "collisions", NULL, NULL, "exact", NULL, false,
     "sums equal to that of another token at another position"},
    {"nearest", "nearest", "collisions", NULL, NULL, "near_least", NULL, false,
     "least distance of two sums that differ in both, in mean distances"},
    SHARE("token_token", "tok.tok", "token.token", true,
          "share of the terms of the logits in which query and key are tokens"),
    SHARE("token_position", "tok.pos", "token.position", true,
          "share of the terms in which a token asks for a position"),
    SHARE("position_token", "pos.tok", "position.token", true,
          "share of the terms in which a position asks for a token"),
    SHARE("position_position", "pos.pos", "position.position", true,
          "share of the terms in which query and key are positions"),
    SHARE("bias", "bias", "bias", true, "share of the terms that schemes add to the logits"),
    {"position_r2", "position R²", "probes", "layers", "layer", "position_r2", NULL, true,
     "R² of a linear probe for the position, on positions that it has not seen"},
    {"position_accuracy", "position read", "probes", "layers", "layer", "position_accuracy",
     "chance/position_accuracy", false, "share of the positions that a linear probe gets right"},
    {"token_accuracy", "token read", "probes", "layers", "layer", "token_accuracy",
     "chance/token_accuracy", false, "share of the tokens that a linear probe gets right"},
    {"order", "reordering", "order", "layers", "layer", "change", NULL, true,
     "change of the last place when the other tokens change places"},
    HEADS("distance", "distance", "mean_distance", false,
          "mean distance in tokens, weighted by attention, over the heads"),
    HEADS("entropy", "entropy", "entropy_share", false,
          "entropy of the weights as a share of that of equal weights, over the heads"),
    HEADS("position_share", "by place", "position_share", false,
          "share of the logits' variance that the two places explain, over the heads"),
    HEADS("distance_share", "by distance", "distance_share", false,
          "share of the logits' variance that their distance explains, over the heads"),
    {NULL},
};

/* NaN where the path leads to no number. */
static double number_at(const struct value *v, const char *path)
{
    char name[64] = "";
    if (!v || !path)
        return (double)NAN;
    if (!*path)
        return value_number(v);
    size_t n = strcspn(path, "/");
    const char *rest = path + n + (path[n] == '/');
    memcpy(name, path, n < sizeof(name) - 1 ? n : sizeof(name) - 1);
    if (v->kind != VALUE_LIST)
        return number_at(value_get(v, name), rest);
    if (strcmp(name, "*") != 0) {
        int64_t i = strtoll(name, NULL, 10);
        return i < v->n ? number_at(v->item[i], rest) : (double)NAN;
    }
    double sum = 0.0;
    for (int i = 0; i < v->n; i++)
        sum += number_at(v->item[i], rest);
    return v->n ? sum / v->n : (double)NAN;
}

int measure_read(const struct measure *m, const struct value *diagnosis,
                 struct measured out[MEASURE_PARTS])
{
    const struct value *from = m->diagnostic ? value_get(diagnosis, m->diagnostic) : diagnosis;
    if (!from)
        return 0;
    double chance = number_at(from, m->chance);
    if (!m->list) {
        out[0] = (struct measured){-1, number_at(from, m->key), chance};
        return isfinite(out[0].value);
    }
    int n = json_get_count(from, m->list);
    n = n < MEASURE_PARTS ? n : MEASURE_PARTS;
    for (int i = 0; i < n; i++) {
        const struct value *item = json_get_item(from, m->list, i);
        out[i] = (struct measured){json_get_int(item, m->part, i), number_at(item, m->key), chance};
    }
    return n;
}

const struct measure *measure_find(const char *name, const char *what, struct error *err)
{
    const char *known[sizeof(measures) / sizeof(*measures)];
    int n = 0;
    for (; measures[n].name; n++) {
        if (strcmp(measures[n].name, name) == 0)
            return &measures[n];
        known[n] = measures[n].name;
    }
    error_set(err, PEAT_INVALID, "%s: there is no measure '%s'; there are ", what, name);
    error_add_names(err, name, known, n);
    return NULL;
}

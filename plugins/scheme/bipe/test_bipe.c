/* SPDX-License-Identifier: MIT */
/* The scheme 'bipe': places and segments against those of its paper, documents, and its gradient.
 */
#include "../content_tests.h"

enum { T = 8 };

/* Ids 2 and 5 end segments: "0 3 4 2" "1 5" "6 6". */
static const int32_t token[] = {0, 3, 4, 2, 1, 5, 6, 6};
static const char two[] = "{\"separators\": [2, 5], \"scale\": 1, \"longest\": 3}";

/* Positions after the hook, and rows of the table that the stream has, value(row) = row. */
static void levels(const int32_t *document, const uint8_t *pad, double *segment, double *place)
{
    struct harness h;
    scheme_open(&h, "bipe", two, 1, 2, T, true);
    struct tensor *table = &h.weights.item[0]->value;
    for (int64_t i = 0; i < tensor_count(table); i++)
        tensor_set(table, i, (double)(i / 2));
    harness_call(&h, 1, T, 1, NULL);
    h.call.own.token = token;
    h.call.own.document = document;
    h.call.own.pad = pad;
    ck_assert(harness_again(&h));
    ck_assert_int_eq(h.scheme->positions(&h.call.base, segment), PEAT_OK);
    peat_node *n = h.scheme->encode(&h.call.base);
    for (int64_t i = 0; i < T; i++)
        place[i] = harness_at(n, 2 * i);
    harness_close(&h);
}

static void assert_levels(const int32_t *document, const uint8_t *pad, const double *segments,
                          const double *places)
{
    double segment[T], place[T];
    levels(document, pad, segment, place);
    for (int64_t i = 0; i < T; i++) {
        ck_assert_double_eq(segment[i], segments[i]);
        ck_assert_double_eq(place[i], places[i]);
    }
}

/* A separator is the last of its segment; places beyond the last share its vector. */
TEST(segments_and_places_are_counted)
{
    assert_levels(NULL, NULL, (double[]){0, 0, 0, 0, 1, 1, 2, 2},
                  (double[]){0, 1, 2, 2, 0, 1, 0, 1});
}

TEST(documents_begin_anew)
{
    const int32_t document[] = {0, 0, 0, 0, 0, 1, 1, 1};
    assert_levels(document, NULL, (double[]){0, 0, 0, 0, 1, 0, 1, 1},
                  (double[]){0, 1, 2, 2, 0, 0, 0, 1});
}

TEST(padding_in_front_is_not_counted)
{
    const uint8_t pad[] = {1, 1, 0, 0, 0, 0, 0, 0};
    double segment[T], place[T];
    levels(NULL, pad, segment, place);
    const double segments[] = {0, 0, 1, 1, 2, 2}, places[] = {0, 1, 0, 1, 0, 1};
    for (int64_t i = 0; i < 6; i++) {
        ck_assert_double_eq(segment[2 + i], segments[i]);
        ck_assert_double_eq(place[2 + i], places[i]);
    }
}

/* The id of a model's class token is one beyond the vocabulary. */
TEST(a_class_token_ends_nothing)
{
    const int32_t with_class[] = {7, 3};
    double segment[2];
    struct harness h;
    scheme_open(&h, "bipe", two, 1, 2, T, true);
    harness_call(&h, 1, 2, 1, NULL);
    h.call.own.token = with_class;
    ck_assert_int_eq(h.scheme->positions(&h.call.base, segment), PEAT_OK);
    ck_assert_double_eq(segment[1], 0);
    harness_close(&h);
}

TEST(separators_that_are_no_tokens_are_refused)
{
    scheme_refuses("bipe", NULL, 1, 2, T, true,
                   "separator 46 is not one of the 7 token ids of the task: name the ids that end "
                   "a segment in separators");
}

/* BiPE-RoPE of the paper: rotary sees the numbers of segments. */
TEST(a_model_with_rotary_learns)
{
    struct modelcheck m;
    struct harness bipe, rotary;
    modelcheck_init(&m, PEAT_DECODER);
    content_add(&m, &bipe, "bipe", two);
    content_add(&m, &rotary, "rotary", NULL);
    modelcheck_build(&m);
    content_fill(&m);
    modelcheck_gradients(&m, 1e-6);
    content_sees_no_future(&m);
    modelcheck_release(&m);
    harness_close(&bipe);
    harness_close(&rotary);
    content_documents_are_apart("bipe", two, PEAT_DECODER);
}

PLUGIN_TESTS("bipe")

/* SPDX-License-Identifier: MIT */
/* addition.c: the sum of two numbers, digit by digit. Kazemnejad et al. 2023. */
#include <peat/sequence.h>

enum { PLUS = PEAT_FIRST_SYMBOL + 10, IDS = 11 };

struct config {
    peat_lengths length;
    bool reversed;
};

static const peat_param rows[] = {
    {"reversed", PEAT_BOOL, offsetof(struct config, reversed),
     .doc = "the answer begins with its last digit"},
    PEAT_LENGTH_ROWS(struct config, 1, 1, "(seq_len-5)/3"),
    PEAT_PARAM_END,
};

static int64_t ids(const void *config)
{
    (void)config;
    return IDS;
}

/* Two numbers of n digits, and a sum of n + 1. */
static void size(const void *config, int64_t n, int64_t *n_asked, int64_t *n_answer)
{
    (void)config;
    *n_asked = 2 * n + 1;
    *n_answer = n + 1;
}

/* Digits of both numbers: in training any pair, in evaluation any whose longer one has n. */
static void digits(const peat_question *q, int64_t *a, int64_t *b)
{
    const struct config *k = q->config;
    *a = *b = q->n;
    if (q->of == 0) {
        int64_t lengths = q->longest - k->length.min_len + 1;
        *b = k->length.min_len + peat_question_draw(q, PEAT_SHAPE_DRAWS, lengths);
        return;
    }
    int64_t pair = peat_question_kind(q, 0, 2 * q->n - 1);
    *(pair < q->n ? b : a) = pair < q->n ? pair + 1 : pair - q->n + 1;
}

static void shape(peat_question *q)
{
    int64_t a, b;
    digits(q, &a, &b);
    q->n_asked = a + 1 + b;
    q->n_answer = (a > b ? a : b) + 1;
}

/* A number of exactly n digits, uniform; of one digit 0 is one. */
static void write_number(const peat_question *q, int64_t draw, int64_t n, int32_t *digit)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i == 0 && n > 1;
        digit[i] =
            PEAT_FIRST_SYMBOL + (int32_t)(least + peat_question_draw(q, draw + i, 10 - least));
    }
}

/* Digit i of a number from its end, 0 before its beginning. */
static int32_t digit_of(const int32_t *digit, int64_t n, int64_t i)
{
    return i < n ? digit[n - 1 - i] - PEAT_FIRST_SYMBOL : 0;
}

/* Last digit first; the room for a carry that is not there is filled with EOS. Returns how many
 * digits the sum has. */
static int64_t write_sum(peat_question *q, int64_t a, int64_t b)
{
    int64_t n = q->n_answer - 1;
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum = sum / 10 + digit_of(q->asked, a, i) + digit_of(q->asked + a + 1, b, i);
        q->answer[i] = PEAT_FIRST_SYMBOL + sum % 10;
    }
    q->answer[n] = sum >= 10 ? PEAT_FIRST_SYMBOL + 1 : PEAT_EOS;
    return sum >= 10 ? n + 1 : n;
}

static void fill(peat_question *q)
{
    const struct config *k = q->config;
    int64_t a, b;
    digits(q, &a, &b);
    write_number(q, 0, a, q->asked);
    write_number(q, a, b, q->asked + a + 1);
    q->asked[a] = PLUS;
    int64_t n = write_sum(q, a, b);
    for (int64_t i = 0; !k->reversed && i < n / 2; i++) {
        int32_t digit = q->answer[i];
        q->answer[i] = q->answer[n - 1 - i];
        q->answer[n - 1 - i] = digit;
    }
}

static const peat_sequence adding = {.ids = ids, .size = size, .shape = shape, .fill = fill};

PEAT_DEFINE_SEQUENCE(adding, struct config, rows, "addition", "1.0",
                     "add two numbers given by their digits", "arXiv:2305.19466")

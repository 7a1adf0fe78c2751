/* SPDX-License-Identifier: MIT */
/* test_rng.c: counter-based random numbers. */
#include "support/support.h"

/* Random123's known answers for philox4x32-10 whose counter fits the index: the first two of the
 * four words. */
TEST(bits_are_philox4x32_10)
{
    ck_assert_uint_eq(rng_bits(0, 0), UINT64_C(0xe169c58d6627e8d5));
}

/* An independent Philox: ten rounds of two 32 x 32 -> 64 bit products. */
static uint64_t plain_philox(uint64_t key, uint64_t index, uint32_t use)
{
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), 0, use};
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xd2511f53) * c[0], p1 = UINT64_C(0xcd9e8d57) * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k[0], (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ k[1], (uint32_t)p0};
        memcpy(c, next, sizeof(c));
        k[0] += UINT32_C(0x9e3779b9);
        k[1] += UINT32_C(0xbb67ae85);
    }
    return (uint64_t)c[1] << 32 | c[0];
}

TEST(key_is_the_stream_and_counter_the_index)
{
    ck_assert_uint_eq(plain_philox(0, 0, 0), UINT64_C(0xe169c58d6627e8d5));
    uint64_t word = UINT64_C(0x123456789abcdef0);
    for (int i = 0; i < 100; i++, word = word * 6364136223846793005u + 1) {
        ck_assert_uint_eq(rng_bits(word, ~word), plain_philox(word, ~word, 0));
        ck_assert_uint_eq(rng_substream(word, ~word), plain_philox(word, ~word, 1));
    }
}

/* Frozen: other values would change every experiment. */
TEST(streams_never_change)
{
    ck_assert_uint_eq(rng_stream(0, "init", ""), UINT64_C(0xe9e57ed2d5487a0));
    ck_assert_uint_eq(rng_stream(7, "batch", "train"), UINT64_C(0xbbc5173712d40be9));
}

TEST(seed_purpose_and_name_all_count)
{
    const uint64_t stream[] = {
        rng_stream(0, "init", ""),      rng_stream(1, "init", ""),
        rng_stream(0, "batch", ""),     rng_stream(0, "init", "w"),
        rng_stream(0, "ini", "t"),      rng_stream(0, "", "init"),
        rng_stream(0, "init", "w2"),    rng_stream(UINT64_C(1) << 32, "init", ""),
        rng_stream(UINT64_MAX, "", ""),
    };
    const int n = (int)(sizeof(stream) / sizeof(stream[0]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(stream[i], stream[j]);
}

TEST(substreams_differ_from_each_other_and_from_draws)
{
    uint64_t stream = rng_stream(3, "dropout", "h");
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_uint_ne(rng_substream(stream, i), rng_bits(stream, i));
        ck_assert_uint_ne(rng_substream(stream, i), rng_substream(stream, i + 1));
        ck_assert_uint_ne(rng_bits(rng_substream(stream, i), 0),
                          rng_bits(rng_substream(stream, i + 1), 0));
    }
}

enum { DRAWS = 200000 };

/* Bounds are five standard errors. */
TEST(uniform_has_the_right_range_mean_and_variance)
{
    uint64_t stream = rng_stream(0, "test", "uniform");
    double sum = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double u = rng_uniform(stream, i);
        ck_assert(u >= 0.0 && u < 1.0);
        sum += u - 0.5;
        squares += (u - 0.5) * (u - 0.5);
    }
    ck_assert_double_lt(fabs(sum / DRAWS), 5.0 * sqrt(1.0 / 12.0 / DRAWS));
    ck_assert_double_lt(fabs(squares / DRAWS - 1.0 / 12.0), 5.0 * sqrt(1.0 / 180.0 / DRAWS));
}

TEST(normal_has_the_right_moments)
{
    uint64_t stream = rng_stream(0, "test", "normal");
    double m1 = 0.0, m2 = 0.0, m3 = 0.0, m4 = 0.0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        double x = rng_normal(stream, i);
        ck_assert(isfinite(x));
        m1 += x;
        m2 += x * x;
        m3 += x * x * x;
        m4 += x * x * x * x;
    }
    ck_assert_double_lt(fabs(m1 / DRAWS), 5.0 * sqrt(1.0 / DRAWS));
    ck_assert_double_lt(fabs(m2 / DRAWS - 1.0), 5.0 * sqrt(2.0 / DRAWS));
    ck_assert_double_lt(fabs(m3 / DRAWS), 5.0 * sqrt(15.0 / DRAWS));
    ck_assert_double_lt(fabs(m4 / DRAWS - 3.0), 5.0 * sqrt(96.0 / DRAWS));
}

TEST(neighbouring_draws_are_uncorrelated)
{
    uint64_t one = rng_stream(0, "test", "a"), two = rng_stream(1, "test", "a");
    double lag = 0.0, cross = 0.0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        lag += rng_normal(one, i) * rng_normal(one, i + 1);
        cross += rng_normal(one, i) * rng_normal(two, i);
    }
    ck_assert_double_lt(fabs(lag / DRAWS), 5.0 * sqrt(1.0 / DRAWS));
    ck_assert_double_lt(fabs(cross / DRAWS), 5.0 * sqrt(1.0 / DRAWS));
}

int main(void)
{
    return run_tests((struct tests){"rng"});
}

/* SPDX-License-Identifier: MIT */
/* test_heatmap.c: colours of numbers, and their picture. */
#include <math.h>
#include <string.h>

#include "plot/heatmap.h"
#include "support/support.h"

START_TEST(zero_is_pale_and_both_signs_have_the_same_range)
{
    const float x[] = {-1.0f, 0.5f, 4.0f, (float)NAN};
    const struct heatmap h = {.value = x, .sheets = 1, .rows = 2, .columns = 2};
    double low, high;
    unsigned char zero[3], least[3], most[3];
    heatmap_range(&h, &low, &high);
    ck_assert_double_eq(low, -4.0);
    ck_assert_double_eq(high, 4.0);
    heatmap_colour(0.0, low, high, zero);
    heatmap_colour(low, low, high, least);
    heatmap_colour(high, low, high, most);
    ck_assert_int_gt(zero[0], 240);
    ck_assert_int_gt(least[2], least[0]);
    ck_assert_int_gt(most[0], most[2]);
}
END_TEST

START_TEST(values_of_one_sign_darken_away_from_zero)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const float x[] = {(float)sign, 2.0f * (float)sign};
        const struct heatmap h = {.value = x, .sheets = 1, .rows = 1, .columns = 2};
        double low, high;
        unsigned char near[3], far[3];
        heatmap_range(&h, &low, &high);
        heatmap_colour(sign, low, high, near);
        heatmap_colour(2.0 * sign, low, high, far);
        ck_assert_int_gt(near[0], 200);
        ck_assert_int_lt(far[0], 50);
    }
}
END_TEST

START_TEST(a_table_without_range_still_has_one)
{
    const float x[2][2] = {{3.0f, 3.0f}, {(float)NAN, (float)NAN}};
    for (int i = 0; i < 2; i++) {
        const struct heatmap h = {.value = x[i], .sheets = 1, .rows = 1, .columns = 2};
        double low, high;
        heatmap_range(&h, &low, &high);
        ck_assert_double_lt(low, high);
    }
}
END_TEST

/* Big-endian, at a fixed place of the first chunk. */
static int png_side(const struct strbuf *png, int at)
{
    const unsigned char *c = (const unsigned char *)png->text + at;
    return c[0] << 24 | c[1] << 16 | c[2] << 8 | c[3];
}

START_TEST(a_picture_has_a_square_for_each_value)
{
    const float x[12] = {0};
    const struct heatmap h = {.value = x, .sheets = 1, .rows = 3, .columns = 4};
    struct strbuf png;
    struct error err = {0};
    strbuf_init(&png);
    if (heatmap_png(&h, &png, &err) == PEAT_OK) {
        ck_assert_int_eq(memcmp(png.text, "\x89PNG\r\n\x1a\n", 8), 0);
        ck_assert_int_eq(png_side(&png, 16), 512);
        ck_assert_int_eq(png_side(&png, 20), 384);
    } else {
        ck_assert_msg(strstr(err.text, "libpng-dev"), "%s", err.text);
    }
    strbuf_release(&png);
}
END_TEST

START_TEST(a_pair_has_both_tables_head_by_head)
{
    float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8};
    const struct scheme_table before = {
        .what = "bias", .heads = 2, .rows = 1, .columns = 2, .value = x};
    struct scheme_table after = before;
    struct arena a;
    after.value = y;
    arena_init(&a, "test", 1 << 12);
    const struct heatmap h = heatmap_of_pair(&before, &after, &a);
    const float together[] = {1, 2, 5, 6, 3, 4, 7, 8};
    ck_assert_int_eq(h.sheets, 4);
    for (int i = 0; i < 8; i++)
        ck_assert(h.value[i] == together[i]);
    ck_assert_str_eq(h.title[2], "head 1, before training");
    ck_assert_str_eq(h.title[3], "head 1, after");
    arena_release(&a);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"heatmap"},
        TESTS(zero_is_pale_and_both_signs_have_the_same_range,
              values_of_one_sign_darken_away_from_zero, a_table_without_range_still_has_one,
              a_picture_has_a_square_for_each_value, a_pair_has_both_tables_head_by_head));
}

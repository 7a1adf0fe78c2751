/* SPDX-License-Identifier: MIT */
/* test_heatmap.c: colours of numbers, and their picture. */
#include "plot/heatmap.h"
#include "support/support.h"

/* The palette's colour of the lowest (0) to the highest value (4), as red, green, blue. */
static void colour_of(double low, double high, int step, unsigned rgb[3])
{
    char entry[8];
    struct strbuf palette;
    strbuf_init(&palette);
    heatmap_palette(&palette, low, high);
    snprintf(entry, sizeof(entry), "%d '#", step);
    const char *at = strstr(palette.text, entry);
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(sscanf(at + strlen(entry), "%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]), 3);
    strbuf_release(&palette);
}

START_TEST(zero_is_pale_and_both_signs_have_the_same_range)
{
    const float x[] = {-1.0f, 0.5f, 4.0f, (float)NAN};
    const struct heatmap h = {.value = x, .sheets = 1, .rows = 2, .columns = 2};
    double low, high;
    unsigned zero[3], least[3], most[3];
    heatmap_range(&h, &low, &high);
    ck_assert_double_eq(low, -4.0);
    ck_assert_double_eq(high, 4.0);
    colour_of(low, high, 2, zero);
    colour_of(low, high, 0, least);
    colour_of(low, high, 4, most);
    ck_assert_int_gt((int)zero[0], 240);
    ck_assert_int_gt((int)least[2], (int)least[0]);
    ck_assert_int_gt((int)most[0], (int)most[2]);
}
END_TEST

START_TEST(values_of_one_sign_darken_away_from_zero)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const float x[] = {(float)sign, 2.0f * (float)sign};
        const struct heatmap h = {.value = x, .sheets = 1, .rows = 1, .columns = 2};
        double low, high;
        unsigned near[3], far[3];
        heatmap_range(&h, &low, &high);
        colour_of(low, high, sign < 0 ? 4 : 0, near);
        colour_of(low, high, sign < 0 ? 0 : 4, far);
        ck_assert_int_gt((int)near[0], 200);
        ck_assert_int_lt((int)far[0], 50);
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
    return run_list((struct tests){"heatmap"},
                    TESTS(zero_is_pale_and_both_signs_have_the_same_range,
                          values_of_one_sign_darken_away_from_zero,
                          a_table_without_range_still_has_one,
                          a_pair_has_both_tables_head_by_head));
}

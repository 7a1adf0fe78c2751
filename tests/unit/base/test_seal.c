/* SPDX-License-Identifier: MIT */
/* test_seal.c: a seal is valid only for what was written. */
#include "support/support.h"

static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, "test", 4096);
}

static void close_arena(void)
{
    arena_release(&arena);
}

static struct value *parse(const char *text)
{
    struct value *v = json_parse(&arena, text, strlen(text), "text", NULL);
    ck_assert_ptr_nonnull(v);
    return v;
}

static const char *sealed_text(const char *text)
{
    struct strbuf out = STRBUF_NEW;
    json_print(sealed(&arena, parse(text)), JSON_INDENTED, &out);
    const char *copy = arena_strdup(&arena, out.text);
    strbuf_release(&out);
    return copy;
}

TEST(sealed_map_is_good_in_any_order_and_spacing)
{
    static const char *const same[] = {
        "{\"a\": 1.0, \"b\": [true, null], \"c\": \"x\"}",
        "{\"c\":\"x\",\"b\":[true,null],\"a\":1}",
    };
    struct value *one = sealed(&arena, parse(same[0]));
    ck_assert_int_eq(seal_check(one), SEAL_GOOD);
    struct value *other = parse(same[1]);
    value_set(&arena, other, SEAL_KEY, other->at, value_get(one, SEAL_KEY));
    ck_assert_int_eq(seal_check(other), SEAL_GOOD);
}

TEST(sealed_map_read_again_is_good)
{
    const char *text =
        sealed_text("{\"x\": -0.0, \"y\": 1e300, \"z\": 0.1, \"n\": -5, \"t\": \"\\u00e9\"}");
    ck_assert_int_eq(seal_check(parse(text)), SEAL_GOOD);
}

TEST(sealing_again_changes_nothing)
{
    struct value *once = sealed(&arena, parse("{\"a\": 1}"));
    ck_assert(value_equal(once, sealed(&arena, once)));
}

TEST(changed_value_breaks_the_seal)
{
    char *text = arena_strdup(&arena, sealed_text("{\"mean\": 1.5, \"n\": 8}"));
    strstr(text, "1.5")[2] = '7';
    ck_assert_int_eq(seal_check(parse(text)), SEAL_BROKEN);
}

TEST(map_without_a_seal_is_told_apart)
{
    ck_assert_int_eq(seal_check(parse("{\"a\": 1}")), SEAL_ABSENT);
    ck_assert_int_eq(seal_check(parse("{\"a\": 1, \"check\": 3}")), SEAL_BROKEN);
    ck_assert_int_eq(seal_check(parse("[1]")), SEAL_ABSENT);
}

TEST(every_changed_byte_of_a_line_breaks_it_or_leaves_its_numbers)
{
    struct strbuf line = STRBUF_NEW;
    strbuf_add(&line, "{\"step\":10,\"value\":1.25}");
    size_t covered = line.n - 1;
    seal_line(&line);
    ck_assert_int_eq(seal_check_line(line.text, line.n), SEAL_GOOD);
    ck_assert_ptr_nonnull(json_parse(&arena, line.text, line.n, "line", NULL));
    for (size_t i = 0; i < line.n; i++) {
        line.text[i] ^= 4;
        enum seal now = seal_check_line(line.text, line.n);
        ck_assert(now == SEAL_BROKEN || (now == SEAL_ABSENT && i >= covered));
        line.text[i] ^= 4;
    }
    ck_assert_int_eq(seal_check_line(line.text, line.n - 1), SEAL_ABSENT);
    strbuf_release(&line);
}

int main(void)
{
    return run_tests((struct tests){"seal", open_arena, close_arena});
}

/* SPDX-License-Identifier: MIT */
/* test_shown.c: text that no terminal obeys. */
#include "support/support.h"

static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, "shown", 1 << 12);
}

static void release_arena(void)
{
    arena_release(&arena);
}

static const struct {
    const char *text, *shown;
} cases[] = {
    {"", ""},
    {"rotary(base=500) é 中 – € 🙂 \\x1b %s",
     "rotary(base=500) é 中 – € 🙂 \\x1b %s"},
    {"\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"},
    {"a\nb\rc\td\be\x7f", "a\\nb\\rc\\td\\x08e\\x7f"},
    {"\xc2\x9b"
     "31m \xc2\x80\xc2\x9f\xc2\xa0",
     "\\u009b31m \\u0080\\u009f\xc2\xa0"},
    {"\x9b"
     "31m \xff \xc3",
     "\\x9b31m \\xff \\xc3"},
    {"\xc1\x9b \xed\xa0\x80 \xf4\x90\x80\x80", "\\xc1\\x9b \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
    {"abc\xe2\x80\xae"
     "fed\xe2\x81\xa6\xe2\x80\xa8",
     "abc\\u202efed\\u2066\\u2028"},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

LOOP_TEST(controls_and_what_is_no_text_are_written_out, CASES)
{
    ck_assert_str_eq(shown_text(&arena, cases[_i].text), cases[_i].shown);
}

TEST(bytes_with_nul_and_kept_characters_are_shown)
{
    struct strbuf out = STRBUF_NEW;
    shown_add_bytes(&out, "a\0\n\tb\r", 6, "\n\t");
    ck_assert_str_eq(out.text, "a\\x00\n\tb\\r");
    strbuf_release(&out);
}

/* What f printed. */
static char *printed(FILE *f)
{
    char *text = arena_zalloc(&arena, 4096);
    rewind(f);
    ck_assert_uint_lt(fread(text, 1, 4095, f), 4095);
    fclose(f);
    return text;
}

TEST(a_line_of_a_log_is_one_line)
{
    FILE *f = tmpfile();
    log_line(&(struct log){f}, "%s", "one\npeat: two\x1b[2J\tthree");
    ck_assert_str_eq(printed(f), "one\\npeat: two\\x1b[2J\tthree\n");
}

TEST(columns_are_as_wide_as_what_is_shown)
{
    struct columns t;
    FILE *f = tmpfile();
    columns_init(&t, &arena, 2);
    columns_add(&t, (const char *const[]){"\x1b[1m", "x\ny"});
    columns_add(&t, (const char *const[]){"longer-text", "\xc2\x9bz"});
    columns_print(&t, "", f);
    ck_assert_str_eq(printed(f), "\\x1b[1m      x\\ny\nlonger-text  \\u009bz\n");
}

TEST(json_escapes_them_but_not_in_its_canonical_form)
{
    struct json m = json_map(&arena);
    json_put_text(m, "k\xc2\x9b", "\x7f\xe2\x80\xae é");
    ck_assert_str_eq(json_to_text(m.v, JSON_DENSE, &arena), "{\"k\\u009b\":\"\\u007f\\u202e é\"}");
    ck_assert_str_eq(json_to_text(m.v, JSON_CANONICAL, &arena),
                     "{\"k\xc2\x9b\":\"\x7f\xe2\x80\xae é\"}");
}

TEST(text_is_cut_between_characters)
{
    ck_assert_uint_eq(text_fit("abc", 2), 2);
    ck_assert_uint_eq(text_fit("abc", 9), 3);
    ck_assert_uint_eq(text_fit("aé中b", 3), 3); /* 中 takes two columns */
    ck_assert_uint_eq(text_fit("aé中b", 4), 6);
}

int main(void)
{
    return run_tests((struct tests){"shown", open_arena, release_arena});
}

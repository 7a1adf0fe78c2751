/* SPDX-License-Identifier: MIT */
/* test_record.c: fields of a record have the kinds of their rows, or are damage with a place. */
#include "support/support.h"

static const struct field inner[] = {{"n", FIELD_INT | FIELD_NEEDED}, {NULL}};
static const struct field rows[] = {
    {"name", FIELD_TEXT | FIELD_NEEDED},      {"x", FIELD_NUMBER | FIELD_SIGNED | FIELD_NULL},
    {"words", FIELD_LIST, FIELD_TEXT},        {"parts", FIELD_LIST, FIELD_MAP, inner},
    {"by_name", FIELD_MAP, FIELD_MAP, inner}, {NULL},
};
static const struct record kind = {"kind.json", "format", 2, false, rows};
static const struct record bare = {"bare.json", "format", 1, true, rows};

static struct arena arena;
static struct error err;

static void open_arena(void)
{
    arena_init(&arena, "test", 4096);
    err = (struct error){0};
}

static void close_arena(void)
{
    arena_release(&arena);
}

static peat_status check(const struct record *r, const char *text)
{
    return record_check(r, json_parse(&arena, text, strlen(text), "text", &err), r->name, &err);
}

TEST(what_fits_its_rows_is_accepted)
{
    static const char *const text[] = {
        "{\"format\": 1, \"name\": \"\"}",
        "{\"format\": 2, \"name\": \"a\", \"x\": null, \"other\": [1]}",
        "{\"format\": 2, \"name\": \"a\", \"x\": -1.5, \"words\": [], \"parts\": [{\"n\": 0}]}",
        "{\"format\": 2, \"name\": \"a\", \"by_name\": {\"k\": {\"n\": 3}}}",
    };
    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
        ck_assert_msg(check(&kind, text[i]) == PEAT_OK, "%s: %s", text[i], err.text);
    ck_assert_int_eq(check(&bare, "{\"name\": \"a\"}"), PEAT_OK);
}

TEST(what_does_not_is_named_with_its_place)
{
    static const struct {
        const char *text, *why;
    } row[] = {
        {"[]", "'kind.json' is damaged: it is not a map"},
        {"{\"name\": \"a\"}", "'kind.json' is damaged: it has no format"},
        {"{\"format\": 0, \"name\": \"a\"}", "its format is not a whole number from 1"},
        {"{\"format\": \"1\", \"name\": \"a\"}", "its format is not a whole number from 1"},
        {"{\"format\": 1.5, \"name\": \"a\"}", "its format is not a whole number from 1"},
        {"{\"format\": 1}", "its name is missing"},
        {"{\"format\": 1, \"name\": null}", "its name is null"},
        {"{\"format\": 1, \"name\": 7}", "its name is of another kind"},
        {"{\"format\": 1, \"name\": \"a\", \"x\": true}", "its x is of another kind"},
        {"{\"format\": 1, \"name\": \"a\", \"words\": [\"a\", 1]}",
         "its words[1] is of another kind"},
        {"{\"format\": 1, \"name\": \"a\", \"parts\": [{\"n\": 1}, {\"n\": -1}]}",
         "its parts[1].n is below 0"},
        {"{\"format\": 1, \"name\": \"a\", \"parts\": [{}]}", "its parts[0].n is missing"},
        {"{\"format\": 1, \"name\": \"a\", \"by_name\": {\"k\": 1}}",
         "its by_name.k is of another kind"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        ck_assert_int_eq(check(&kind, row[i].text), PEAT_CORRUPT);
        ck_assert_msg(strstr(err.text, row[i].why), "'%s' does not say '%s'", err.text, row[i].why);
    }
}

TEST(newer_format_is_refused_by_its_number)
{
    ck_assert_int_eq(check(&kind, "{\"format\": 99}"), PEAT_MISMATCH);
    ck_assert_str_eq(err.text,
                     "'kind.json' was written by a newer peat, format 99; this one reads 1 to 2");
    ck_assert_int_eq(check(&bare, "{\"format\": 2}"), PEAT_MISMATCH);
    ck_assert_str_eq(err.text,
                     "'bare.json' was written by a newer peat, format 2; this one reads 1");
}

int main(void)
{
    return run_tests((struct tests){"record", open_arena, close_arena});
}

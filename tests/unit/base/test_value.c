/* SPDX-License-Identifier: MIT */
/* test_value.c: trees of settings, plain scalars, numbers as text, and JSON. */
#include <locale.h>

#include "support/support.h"

static struct arena memory;

static void open_arena(void)
{
    arena_init(&memory, "test", 1 << 16);
}

static void close_arena(void)
{
    arena_release(&memory);
}

static struct value *json(const char *text)
{
    struct error err = {0};
    struct value *v = json_parse(&memory, text, strlen(text), "test.json", &err);
    ck_assert_msg(v != NULL, "%s", err.text);
    return v;
}

static const char *canonical(const struct value *v)
{
    return json_to_text(v, JSON_CANONICAL, &memory);
}

static const char *on_one_line(const struct value *v)
{
    return json_to_text(v, JSON_LINE, &memory);
}

static struct value *scalar(const char *text)
{
    struct value *v = value_scalar(&memory, NOWHERE, text);
    ck_assert_str_eq(v->text, text);
    return v;
}

TEST(scalars_have_the_kinds_of_the_core_schema)
{
    static const struct {
        enum value_kind kind;
        const char *text;
    } row[] = {
        {VALUE_NULL, ""},
        {VALUE_NULL, "~"},
        {VALUE_NULL, "null"},
        {VALUE_NULL, "Null"},
        {VALUE_NULL, "NULL"},
        {VALUE_TEXT, "nULL"},
        {VALUE_BOOL, "true"},
        {VALUE_BOOL, "True"},
        {VALUE_BOOL, "TRUE"},
        {VALUE_BOOL, "false"},
        {VALUE_BOOL, "False"},
        {VALUE_BOOL, "FALSE"},
        {VALUE_TEXT, "no"},
        {VALUE_TEXT, "yes"},
        {VALUE_TEXT, "on"},
        {VALUE_TEXT, "tRUE"},
        {VALUE_INT, "0"},
        {VALUE_INT, "-0"},
        {VALUE_INT, "+12"},
        {VALUE_INT, "007"},
        {VALUE_TEXT, "+"},
        {VALUE_TEXT, "-"},
        {VALUE_TEXT, "1_000"},
        {VALUE_TEXT, "12a"},
        {VALUE_INT, "0o17"},
        {VALUE_INT, "0xfF"},
        {VALUE_TEXT, "0o8"},
        {VALUE_TEXT, "0x"},
        {VALUE_TEXT, "0xg"},
        {VALUE_TEXT, "-0x1"},
        {VALUE_TEXT, "0b1"},
        {VALUE_REAL, "1e-3"},
        {VALUE_REAL, "1E+3"},
        {VALUE_REAL, "1."},
        {VALUE_REAL, ".5"},
        {VALUE_REAL, "-.5"},
        {VALUE_REAL, "+1.5e2"},
        {VALUE_REAL, "1.e1"},
        {VALUE_TEXT, "."},
        {VALUE_TEXT, ".e1"},
        {VALUE_TEXT, "1e"},
        {VALUE_TEXT, "1e+"},
        {VALUE_TEXT, "1.5.2"},
        {VALUE_TEXT, "1,5"},
        {VALUE_TEXT, "1e3x"},
        {VALUE_TEXT, " 1"},
        {VALUE_TEXT, "1 "},
        {VALUE_TEXT, "0x1p3"},
        {VALUE_REAL, ".inf"},
        {VALUE_REAL, "-.INF"},
        {VALUE_REAL, "+.Inf"},
        {VALUE_REAL, ".nan"},
        {VALUE_REAL, ".NaN"},
        {VALUE_REAL, ".NAN"},
        {VALUE_TEXT, "inf"},
        {VALUE_TEXT, "nan"},
        {VALUE_TEXT, "-.nan"},
        {VALUE_TEXT, ".iNF"},
        {VALUE_TEXT, "infinity"},
        {VALUE_TEXT, "2h"},
        {VALUE_INT, "9223372036854775807"},
        {VALUE_REAL, "9223372036854775808"},
        {VALUE_INT, "-9223372036854775808"},
        {VALUE_REAL, "-9223372036854775809"},
        {VALUE_INT, "0x7fffffffffffffff"},
        {VALUE_REAL, "0x8000000000000000"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        ck_assert_msg(scalar(row[i].text)->kind == row[i].kind, "'%s'", row[i].text);
}

TEST(scalars_have_the_right_values)
{
    ck_assert_int_eq(scalar("-9223372036854775808")->integer, INT64_MIN);
    ck_assert_int_eq(scalar("+12")->integer, 12);
    ck_assert_int_eq(scalar("0o17")->integer, 15);
    ck_assert_int_eq(scalar("0xfF")->integer, 255);
    ck_assert_int_eq(scalar("010")->integer, 10);
    ck_assert(scalar("12")->real == 12.0);
    ck_assert(scalar("1e-3")->real == 1e-3);
    ck_assert(scalar("+1.5e2")->real == 150.0);
    ck_assert(scalar("18446744073709551616")->real == 0x1p64);
    ck_assert(scalar("0x10000000000000000")->real == 0x1p64);
    ck_assert(scalar("0o4000000000000000000000")->real == 0x1p65);
    ck_assert(scalar("-.inf")->real == -HUGE_VAL);
    ck_assert(scalar("+.inf")->real == HUGE_VAL);
    ck_assert(isnan(scalar(".nan")->real));
    ck_assert(scalar("True")->boolean);
    ck_assert(!scalar("FALSE")->boolean);
}

TEST(numbers_read_back_and_are_short)
{
    static const struct {
        double x;
        const char *text;
    } row[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {1e-3, "0.001"},
        {1e-5, "1e-05"},
        {100000.0, "100000"},
        {1e300, "1e+300"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {5e-324, "5e-324"},
        {1.0 / 3.0, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        number_text(row[i].x, text);
        ck_assert_str_eq(text, row[i].text);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bits = rng_bits(1, i);
        double x;
        memcpy(&x, &bits, sizeof(x));
        number_text(x, text);
        ck_assert_uint_lt(strlen(text), sizeof(text));
        if (isfinite(x))
            ck_assert_msg(strtod(text, NULL) == x, "%s", text);
    }
    number_text((double)NAN, text);
    ck_assert_str_eq(text, "null");
    number_text(-HUGE_VAL, text);
    ck_assert_str_eq(text, "null");
}

/* A program that embeds a library may run in a locale with a decimal comma. */
TEST(numbers_do_not_depend_on_the_locale)
{
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    bool found = false;
    for (int i = 0; i < 4 && !found; i++)
        found = setlocale(LC_ALL, comma[i]) && *localeconv()->decimal_point == ',';
    char text[32];
    number_text(0.5, text);
    ck_assert_str_eq(text, "0.5");
    ck_assert(scalar("0.5")->real == 0.5);
    ck_assert(json("0.5")->real == 0.5);
    ck_assert_str_eq(canonical(json("[0.5, 1e-9]")), "[0.5,1e-09]");
    if (found)
        ck_assert_int_eq(*localeconv()->decimal_point, ',');
    setlocale(LC_ALL, "C");
}

TEST(lists_and_maps_grow_and_keep_order)
{
    struct value *list = value_list(&memory, NOWHERE), *map = value_map(&memory, NOWHERE);
    for (int i = 0; i < 1000; i++) {
        value_append(&memory, list, value_int(&memory, NOWHERE, i));
        value_set(&memory, map, arena_printf(&memory, "k%d", i), (struct place){"f", i, 1},
                  list->item[i]);
    }
    ck_assert_int_eq(list->n, 1000);
    ck_assert_int_eq(map->n, 1000);
    for (int i = 0; i < 1000; i++) {
        const char *key = arena_printf(&memory, "k%d", i);
        ck_assert_int_eq(list->item[i]->integer, i);
        ck_assert_int_eq(value_get(map, key)->integer, i);
        ck_assert_int_eq(value_key_place(map, key).line, i);
        ck_assert_str_eq(map->key[i], key);
    }
}

TEST(set_replaces_and_get_finds_nothing_elsewhere)
{
    struct place at = {"f", 1, 2}, later = {"f", 3, 4};
    struct value *map = value_map(&memory, at);
    value_set(&memory, map, "a", at, value_text(&memory, at, "old"));
    value_set(&memory, map, "a", later, value_text(&memory, later, "new"));
    ck_assert_int_eq(map->n, 1);
    ck_assert_str_eq(value_get(map, "a")->text, "new");
    ck_assert_int_eq(value_key_place(map, "a").line, 3);
    ck_assert_int_eq(value_key_place(map, "b").line, 1);
    ck_assert_ptr_null(value_get(map, "b"));
    ck_assert_ptr_null(value_get(map, ""));
    ck_assert_ptr_null(value_get(NULL, "a"));
    ck_assert_ptr_null(value_get(value_get(map, "a"), "a"));
}

TEST(paths_reach_into_maps)
{
    struct value *v = json("{\"model\": {\"d_model\": 8, \"d\": {\"x\": 1}}, \"model.d\": 3}");
    ck_assert_int_eq(value_get_path(v, "model.d_model")->integer, 8);
    ck_assert_int_eq(value_get_path(v, "model.d.x")->integer, 1);
    ck_assert_ptr_null(value_get_path(v, "model.d.x.y"));
    ck_assert_ptr_null(value_get_path(v, "mode"));
    ck_assert_ptr_null(value_get_path(v, "model."));
    ck_assert_ptr_null(value_get_path(NULL, "model"));
}

TEST(with_path_copies_and_leaves_the_original)
{
    struct value *v = json("{\"a\": {\"b\": {\"c\": 1}, \"d\": 2}, \"e\": 3}");
    const char *before = canonical(v);
    struct place at = {"command line", 2, 0};
    struct value *seven = value_int(&memory, at, 7);
    ck_assert_str_eq(canonical(value_with_path(&memory, v, "a.b.c", at, seven)),
                     "{\"a\":{\"b\":{\"c\":7},\"d\":2},\"e\":3}");
    ck_assert_str_eq(canonical(value_with_path(&memory, v, "a.x.y", at, seven)),
                     "{\"a\":{\"b\":{\"c\":1},\"d\":2,\"x\":{\"y\":7}},\"e\":3}");
    ck_assert_str_eq(canonical(value_with_path(&memory, v, "e.f", at, seven)),
                     "{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":{\"f\":7}}");
    ck_assert_str_eq(canonical(value_with_path(&memory, NULL, "x.y", at, seven)),
                     "{\"x\":{\"y\":7}}");
    ck_assert_str_eq(canonical(v), before);
    struct value *changed = value_with_path(&memory, v, "a.d", at, seven);
    ck_assert_str_eq(value_key_place(value_get(changed, "a"), "d").file, "command line");
}

TEST(merge_is_deep_and_leaves_its_inputs)
{
    struct value *base = json("{\"a\": {\"x\": 1, \"y\": [1, 2]}, \"b\": 1, \"c\": {\"z\": 1}}");
    struct value *over = json("{\"a\": {\"y\": [3], \"w\": 4}, \"b\": {\"q\": 5}, \"c\": null}");
    const char *base_text = canonical(base), *over_text = canonical(over);
    struct value *merged = value_merge(&memory, base, over);
    ck_assert_str_eq(on_one_line(merged),
                     "{\"a\": {\"x\": 1, \"y\": [3], \"w\": 4}, \"b\": {\"q\": 5}, \"c\": null}");
    value_set(&memory, value_get(merged, "a"), "x", NOWHERE, value_null(&memory, NOWHERE));
    value_set(&memory, value_get(merged, "b"), "q", NOWHERE, value_null(&memory, NOWHERE));
    ck_assert_str_eq(canonical(base), base_text);
    ck_assert_str_eq(canonical(over), over_text);
}

TEST(merge_with_nothing_is_a_copy)
{
    struct value *map = json("{\"a\": {\"x\": 1}}");
    ck_assert_ptr_null(value_merge(&memory, NULL, NULL));
    struct value *one = value_merge(&memory, map, NULL), *two = value_merge(&memory, NULL, map);
    ck_assert(value_equal(one, map) && value_equal(two, map));
    ck_assert_ptr_ne(value_get(one, "a"), value_get(map, "a"));
    ck_assert_ptr_ne(value_get(two, "a"), value_get(map, "a"));
}

TEST(merge_keeps_the_places_of_the_winner)
{
    struct value *base = value_map(&memory, (struct place){"f", 1, 1});
    struct value *over = value_map(&memory, (struct place){"command line", 1, 0});
    struct value *item = value_null(&memory, NOWHERE);
    value_set(&memory, base, "a", (struct place){"f", 2, 3}, item);
    value_set(&memory, base, "b", (struct place){"f", 3, 3}, item);
    value_set(&memory, over, "a", (struct place){"command line", 1, 0}, item);
    struct value *merged = value_merge(&memory, base, over);
    ck_assert_str_eq(value_key_place(merged, "a").file, "command line");
    ck_assert_str_eq(value_key_place(merged, "b").file, "f");
}

TEST(equality_is_of_content)
{
    static const struct {
        bool equal;
        const char *a, *b;
    } row[] = {
        {true, "1", "1.0"},
        {true, "10000000000000000", "1e16"},
        {true, "-0.0", "0"},
        {true, "{\"a\": 1, \"b\": [2]}", "{\"b\": [2.0], \"a\": 1}"},
        {false, "9007199254740993", "9007199254740992.0"},
        {false, "9223372036854775807", "9223372036854775808.0"},
        {false, "1", "true"},
        {false, "1", "\"1\""},
        {false, "[1, 2]", "[2, 1]"},
        {false, "[1]", "[1, 1]"},
        {false, "{\"a\": 1}", "{\"b\": 1}"},
        {false, "{\"a\": 1}", "{\"a\": 1, \"b\": 1}"},
        {false, "null", "false"},
        {false, "[]", "{}"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct value *a = json(row[i].a), *b = json(row[i].b);
        ck_assert_msg(value_equal(a, b) == row[i].equal, "%s and %s", row[i].a, row[i].b);
        ck_assert(value_equal(b, a) == row[i].equal);
        /* Equal values have one canonical text: it names cells. */
        ck_assert_int_eq(!strcmp(canonical(a), canonical(b)), row[i].equal);
    }
    ck_assert(value_equal(scalar(".nan"), scalar(".NaN")));
    ck_assert(!value_equal(NULL, scalar("1")));
    ck_assert(value_equal(NULL, NULL));
}

TEST(json_is_written_as_asked)
{
    struct value *v = json("{\"b\": [1, 2.5, \"x\"], \"a\": {}, \"c\": [{\"d\": []}], \"e\": 1.0}");
    ck_assert_str_eq(canonical(v), "{\"a\":{},\"b\":[1,2.5,\"x\"],\"c\":[{\"d\":[]}],\"e\":1}");
    ck_assert_str_eq(on_one_line(v),
                     "{\"b\": [1, 2.5, \"x\"], \"a\": {}, \"c\": [{\"d\": []}], \"e\": 1.0}");
    ck_assert_str_eq(json_to_text(v, JSON_INDENTED, &memory), "{\n"
                                                              "  \"b\": [1, 2.5, \"x\"],\n"
                                                              "  \"a\": {},\n"
                                                              "  \"c\": [\n"
                                                              "    {\n"
                                                              "      \"d\": []\n"
                                                              "    }\n"
                                                              "  ],\n"
                                                              "  \"e\": 1.0\n"
                                                              "}\n");
}

TEST(members_are_put_and_read)
{
    struct json m = json_map(&memory), list = json_put_list(m, "list");
    json_put_text(m, "text", "t");
    json_put_text(m, "none", NULL);
    json_put_int(m, "int", 3);
    json_put_bool(m, "yes", true);
    json_put_real(m, "real", 2.0);
    json_put_number(m, "number", 2.0);
    json_put_number(m, "infinite", HUGE_VAL);
    json_add_text(list, "x");
    json_put_int(json_add_map(list), "y", 1);
    ck_assert_str_eq(on_one_line(m.v),
                     "{\"list\": [\"x\", {\"y\": 1}], \"text\": \"t\", \"none\": null, "
                     "\"int\": 3, \"yes\": true, \"real\": 2.0, \"number\": 2, "
                     "\"infinite\": null}");
    ck_assert_str_eq(json_get_text(m.v, "text"), "t");
    ck_assert_ptr_null(json_get_text(m.v, "int"));
    ck_assert(json_text_is(m.v, "text", "t") && !json_text_is(m.v, "none", "t"));
    ck_assert_int_eq(json_get_int(m.v, "int", -1), 3);
    ck_assert_int_eq(json_get_int(m.v, "real", -1), -1);
    ck_assert_double_eq(json_get_number(m.v, "int"), 3.0);
    ck_assert_double_nan(json_get_number(m.v, "none"));
    ck_assert(json_get_bool(m.v, "yes") && !json_get_bool(m.v, "int"));
    ck_assert_int_eq(json_get_count(m.v, "list"), 2);
    ck_assert_int_eq(json_get_count(m.v, "text"), 0);
}

TEST(json_numbers_survive)
{
    static const double real[] = {0.1,     1.0,     -0.0,   1e16,          1e22,    5e-324,
                                  DBL_MAX, 1.0 / 3, -2.5e9, 0x1.fffp-1000, 123456.0};
    for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
        struct value *back = json(on_one_line(value_real(&memory, NOWHERE, real[i])));
        ck_assert_int_eq(back->kind, VALUE_REAL);
        ck_assert_mem_eq(&back->real, &real[i], sizeof(double));
        ck_assert(json(canonical(value_real(&memory, NOWHERE, real[i])))->real == real[i]);
    }
    static const int64_t integer[] = {0, -1, INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};
    for (size_t i = 0; i < sizeof(integer) / sizeof(integer[0]); i++) {
        struct value *back = json(canonical(value_int(&memory, NOWHERE, integer[i])));
        ck_assert_int_eq(back->kind, VALUE_INT);
        ck_assert_int_eq(back->integer, integer[i]);
    }
    ck_assert_str_eq(canonical(scalar(".nan")), "null");
    ck_assert_str_eq(on_one_line(scalar("-.inf")), "null");
}

TEST(json_texts_survive)
{
    char all[300] = "";
    for (int c = 1; c < 128; c++)
        all[c - 1] = (char)c;
    strcat(all, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(json(canonical(value_text(&memory, NOWHERE, all)))->text, all);
    ck_assert_str_eq(canonical(value_text(&memory, NOWHERE, "a\"\\\n\x01/")),
                     "\"a\\\"\\\\\\n\\u0001/\"");
    ck_assert_str_eq(json("\"\\u20ac\"")->text, "\xe2\x82\xac");
}

/* Stray, cut, overlong, surrogate, beyond the last: text that was written can be read. */
TEST(bytes_that_are_not_utf8_are_replaced)
{
    static const char *const bad[] = {
        "\x80",         "\xc3",         "\xe2\x82",         "\xc0\xaf",
        "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *text = arena_printf(&memory, "a%sb", bad[i]);
        const char *back = json(canonical(value_text(&memory, NOWHERE, text)))->text;
        ck_assert_int_eq(back[0], 'a');
        ck_assert_mem_eq(back + 1, "\xef\xbf\xbd", 3);
        ck_assert_int_eq(back[strlen(back) - 1], 'b');
    }
}

TEST(bad_json_is_placed)
{
    static const struct {
        const char *text, *place;
    } row[] = {
        {"{\"a\": 1,\n \"a\": 2}", "test.json:2:"},
        {"{\"a\": }", "test.json:1:"},
        {"", "test.json:1:"},
        {"[1] 2", "test.json:1:"},
        {"NaN", "test.json:1:"},
        {"100000000000000000000", "test.json:1:"},
        {"\"\xff\"", "test.json:1:"},
        {"\"\\u0000\"", "test.json:1:"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct error err = {0};
        const char *text = row[i].text;
        ck_assert_ptr_null(json_parse(&memory, text, strlen(text), "test.json", &err));
        ck_assert_int_eq(err.status, PEAT_INVALID);
        ck_assert_msg(!strncmp(err.text, row[i].place, strlen(row[i].place)), "%s", err.text);
    }
    char deep[5000];
    struct error err = {0};
    memset(deep, '[', sizeof(deep));
    ck_assert_ptr_null(json_parse(&memory, deep, sizeof(deep), "test.json", &err));
}

TEST(places_are_named_as_far_as_known)
{
    struct error err;
    ck_assert_int_eq(place_error(&err, (struct place){"f.yaml", 3, 7}, "bad %s", "'x'"),
                     PEAT_INVALID);
    ck_assert_int_eq(err.status, PEAT_INVALID);
    ck_assert_str_eq(err.text, "f.yaml:3:7: bad 'x'");
    place_error(&err, (struct place){"command line", 2, 0}, "bad");
    ck_assert_str_eq(err.text, "command line:2: bad");
    place_error(&err, (struct place){"f.yaml", 0, 0}, "bad");
    ck_assert_str_eq(err.text, "f.yaml: bad");
    place_error(&err, NOWHERE, "bad");
    ck_assert_str_eq(err.text, "bad");
    ck_assert_int_eq(place_error(NULL, NOWHERE, "bad"), PEAT_INVALID);
}

int main(void)
{
    return run_tests((struct tests){"value", open_arena, close_arena});
}

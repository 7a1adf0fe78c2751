/* SPDX-License-Identifier: MIT */
/* Parameter rows: what a user writes becomes a config, or a message that says what is wrong. */
#include "plugin/params.h"

#include "experiment/yamldoc.h"
#include "support/support.h"

struct config {
    bool flag;
    int64_t steps, span, layout;
    double fraction, base, clip;
    const char *name, *path;
    peat_strings files, tags;
    peat_reals lengths;
};

static const char *const layouts[] = {"interleaved", "halves", "2", NULL};

#define FIELD(name) offsetof(struct config, name)

static const peat_param rows[] = {
    {"flag", PEAT_BOOL, FIELD(flag), .preset = 1, .doc = "A switch."},
    {"steps", PEAT_INT, FIELD(steps), .preset = 10, .min = 1, .max = 1e9, .doc = "Updates."},
    {"span", PEAT_INT, FIELD(span), .min = 1, .max = 4096, .automatic = "d_model/4",
     .unit = "tokens", .doc = "Reach.", .flags = PEAT_AUTO},
    {"layout", PEAT_ENUM, FIELD(layout), .preset = 1, .labels = layouts, .doc = "Pairs."},
    {"fraction", PEAT_REAL, FIELD(fraction), .preset = 0.5, .max = 1, .doc = "Share."},
    {"base", PEAT_REAL, FIELD(base), .preset = 10000, .max = 1e9, .doc = "Wavelength.",
     .flags = PEAT_OPEN_MIN},
    {"clip", PEAT_REAL, FIELD(clip), .preset = -1e-5, .doc = "Any number."},
    {"name", PEAT_STRING, FIELD(name), .doc = "A name."},
    {"path", PEAT_STRING, FIELD(path), .doc = "A file.", .flags = PEAT_PATH},
    {"files", PEAT_STRINGS, FIELD(files), .doc = "Files.", .flags = PEAT_PATH},
    {"tags", PEAT_STRINGS, FIELD(tags), .doc = "Words."},
    {"lengths", PEAT_REALS, FIELD(lengths), .min = 1, .max = 1e6, .doc = "Lengths."},
    PEAT_PARAM_END,
};

static const peat_param required_rows[] = {
    {"path", PEAT_STRING, FIELD(path), .doc = "the text to read", .flags = PEAT_REQUIRED},
    {"files", PEAT_STRINGS, FIELD(files), .doc = "more texts"},
    PEAT_PARAM_END,
};

static const peat_param no_rows[] = {PEAT_PARAM_END};

static struct arena arena;
static struct error error;
static struct config config;

static void set_up(void)
{
    arena_init(&arena, "test", 65536);
    error = (struct error){0};
    config = (struct config){0};
}

static void tear_down(void)
{
    arena_release(&arena);
}

static const struct value *parse(const char *text)
{
    struct value *root = NULL;
    peat_status status = yaml_parse(&arena, text, strlen(text), "exp.yaml", &root, &error);
    ck_assert_msg(status == PEAT_OK, "%s", error.text);
    return root;
}

static void fill(const char *text)
{
    peat_status status =
        params_fill(rows, &config, parse(text), "scheme 'rotary'", NULL, &arena, &error);
    ck_assert_msg(status == PEAT_OK, "%s", error.text);
}

static void assert_refused_by(const peat_param *row, const char *what, const char *text,
                              const char *expected)
{
    ck_assert_int_eq(params_fill(row, &config, parse(text), what, NULL, &arena, &error),
                     PEAT_INVALID);
    ck_assert_str_eq(error.text, expected);
}

static void assert_refused(const char *text, const char *expected)
{
    assert_refused_by(rows, "scheme 'rotary'", text, expected);
}

/* ---- filling ---- */

TEST(what_is_not_given_is_the_preset)
{
    const struct value nothing = {.kind = VALUE_NULL};
    const struct value *const given[] = {NULL, &nothing, parse("{}")};
    for (int i = 0; i < 3; i++) {
        config = (struct config){.steps = 77, .span = 77};
        ck_assert_int_eq(params_fill(rows, &config, given[i], "train", NULL, &arena, &error),
                         PEAT_OK);
        ck_assert(config.flag);
        ck_assert_int_eq(config.steps, 10);
        ck_assert_int_eq(config.span, 0);
        ck_assert_int_eq(config.layout, 1);
        ck_assert_double_eq(config.base, 10000);
        ck_assert_str_eq(config.name, "");
        ck_assert_str_eq(config.path, "");
        ck_assert_int_eq(config.files.n, 0);
        ck_assert_int_eq(config.lengths.n, 0);
    }
}

TEST(every_type_is_filled)
{
    fill("flag: false\nsteps: 1e3\nspan: 7\nlayout: interleaved\nfraction: 1\nbase: 0x10\n"
         "clip: -.5\nname: x y\nfiles: [/, /]\ntags: one\nlengths: [128, 2.5e2]\n");
    ck_assert(!config.flag);
    ck_assert_int_eq(config.steps, 1000);
    ck_assert_int_eq(config.span, 7);
    ck_assert_int_eq(config.layout, 0);
    ck_assert_double_eq(config.fraction, 1);
    ck_assert_double_eq(config.base, 16);
    ck_assert_double_eq(config.clip, -0.5);
    ck_assert_str_eq(config.name, "x y");
    ck_assert_int_eq(config.files.n, 2);
    ck_assert_str_eq(config.files.item[1], "/");
    ck_assert_int_eq(config.tags.n, 1);
    ck_assert_str_eq(config.tags.item[0], "one");
    ck_assert_int_eq(config.lengths.n, 2);
    ck_assert_double_eq(config.lengths.item[1], 250);
}

TEST(auto_stands_for_not_given)
{
    fill("span: auto\n");
    ck_assert_int_eq(config.span, 0);
    fill("name: auto\n");
    ck_assert_str_eq(config.name, "auto");
    assert_refused("steps: auto\n", "exp.yaml:1:8: parameter 'steps' of scheme 'rotary' must be a "
                                    "whole number from 1 to 1000000000, not 'auto'");
}

TEST(a_label_that_looks_like_a_number_is_a_label)
{
    fill("layout: 2\n");
    ck_assert_int_eq(config.layout, 2);
    fill("layout: '2'\n");
    ck_assert_int_eq(config.layout, 2);
}

TEST(bounds_are_inclusive_unless_open)
{
    fill("steps: 1\nfraction: 0\n");
    fill("steps: 1000000000\nfraction: 1\nbase: 5e-324\n");
    assert_refused("base: 0\n", "exp.yaml:1:7: parameter 'base' of scheme 'rotary' must be a "
                                "number above 0 and at most 1000000000, not 0");
}

TEST(reserved_keys_are_passed_over)
{
    const char *const reserved[] = {"plugin", "where", NULL};
    ck_assert_int_eq(params_fill(rows, &config, parse("plugin: rotary\nwhere: [1]\nsteps: 3\n"),
                                 "scheme 'rotary'", reserved, &arena, &error),
                     PEAT_OK);
    ck_assert_int_eq(config.steps, 3);
    ck_assert_int_eq(params_fill(rows, &config, parse("wher: [1]\n"), "scheme 'rotary'", reserved,
                                 &arena, &error),
                     PEAT_INVALID);
    ck_assert_str_eq(error.text, "exp.yaml:1:1: unknown parameter 'wher' of scheme 'rotary'; did "
                                 "you mean 'where'?");
}

TEST(the_config_outlives_the_settings)
{
    char text[] = "first";
    const struct value item = {.kind = VALUE_TEXT, .text = text};
    struct value *map = value_map(&arena, (struct place){0});
    value_set(&arena, map, "name", (struct place){0}, (struct value *)&item);
    value_set(&arena, map, "tags", (struct place){0}, (struct value *)&item);
    ck_assert_int_eq(params_fill(rows, &config, map, "train", NULL, &arena, &error), PEAT_OK);
    strcpy(text, "other");
    ck_assert_str_eq(config.name, "first");
    ck_assert_str_eq(config.tags.item[0], "first");
}

/* ---- refusals ---- */

TEST(an_unknown_key_is_refused_with_the_nearest_or_with_all)
{
    assert_refused("steps: 1\nbsae: 2\n", "exp.yaml:2:1: unknown parameter 'bsae' of scheme "
                                          "'rotary'; did you mean 'base'?");
    assert_refused("zzzz: 2\n",
                   "exp.yaml:1:1: unknown parameter 'zzzz' of scheme 'rotary'; allowed: flag, "
                   "steps, span, layout, fraction, base, clip, name, path, files, tags, lengths");
    assert_refused_by(rows, "train", "stpes: 1\n",
                      "exp.yaml:1:1: unknown key 'stpes' in train; did you mean 'steps'?");
    assert_refused_by(no_rows, "scheme 'none'", "base: 1\n",
                      "exp.yaml:1:1: unknown parameter 'base' of scheme 'none'; scheme 'none' "
                      "takes none");
}

TEST(a_number_out_of_bounds_is_refused_at_its_place)
{
    assert_refused("fraction: 2\n", "exp.yaml:1:11: parameter 'fraction' of scheme 'rotary' must "
                                    "be a number from 0 to 1, not 2");
    assert_refused_by(rows, "train", "steps: -5\n",
                      "exp.yaml:1:8: 'steps' in train must be a whole number from 1 to "
                      "1000000000, not -5");
    assert_refused("span: 0\n", "exp.yaml:1:7: parameter 'span' of scheme 'rotary' must be a whole "
                                "number from 1 to 4096 (tokens), or auto, not 0");
}

TEST(what_is_no_finite_number_is_refused)
{
    const char *const written[] = {"1e999", ".nan", "-.inf", "1_000", "1:30", "true", "'1'", "[1]"};
    for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
        const char *text = arena_printf(&arena, "clip: %s\n", written[i]);
        ck_assert_int_eq(params_fill(rows, &config, parse(text), "train", NULL, &arena, &error),
                         PEAT_INVALID);
        ck_assert_int_eq(
            strncmp(error.text, "exp.yaml:1:7: 'clip' in train must be a number, not", 51), 0);
    }
    assert_refused_by(rows, "train", "steps: 2.5\n",
                      "exp.yaml:1:8: 'steps' in train must be a whole number from 1 to "
                      "1000000000, not 2.5");
    assert_refused_by(rows, "train", "steps: 99999999999999999999\n",
                      "exp.yaml:1:8: 'steps' in train must be a whole number from 1 to "
                      "1000000000, not 99999999999999999999");
}

TEST(an_unknown_label_is_refused_with_the_nearest)
{
    assert_refused("layout: half\n", "exp.yaml:1:9: parameter 'layout' of scheme 'rotary' must be "
                                     "one of interleaved, halves, 2, not 'half'; did you mean "
                                     "'halves'?");
    assert_refused("layout: 1\n", "exp.yaml:1:9: parameter 'layout' of scheme 'rotary' must be "
                                  "one of interleaved, halves, 2, not 1");
}

TEST(booleans_are_true_and_false_alone)
{
    assert_refused_by(rows, "model", "flag: no\n",
                      "exp.yaml:1:7: 'flag' in model must be true or false, not 'no'; only true "
                      "and false are booleans");
    assert_refused_by(rows, "model", "flag: 1\n",
                      "exp.yaml:1:7: 'flag' in model must be true or false, not 1");
    assert_refused_by(rows, "model", "flag:\n",
                      "exp.yaml:1:6: 'flag' in model must be true or false, not nothing");
}

TEST(texts_are_texts)
{
    assert_refused_by(rows, "run", "name: 10\n",
                      "exp.yaml:1:7: 'name' in run must be a text, not 10; put it in quotes to "
                      "make it a text");
    assert_refused_by(rows, "run", "name: {a: 1}\n",
                      "exp.yaml:1:7: 'name' in run must be a text, not a map");
    assert_refused_by(rows, "run", "tags: {a: 1}\n",
                      "exp.yaml:1:7: 'tags' in run must be a text, or a list of such, not a map");
}

TEST(a_bad_item_is_refused_at_its_own_place)
{
    assert_refused_by(rows, "run", "tags: [a, 7]\n",
                      "exp.yaml:1:11: each item of 'tags' in run must be a text, not 7; put it in "
                      "quotes to make it a text");
    assert_refused_by(rows, "eval", "lengths: [1, 2, 0]\n",
                      "exp.yaml:1:17: each item of 'lengths' in eval must be a number from 1 to "
                      "1000000, not 0");
    assert_refused_by(rows, "eval", "lengths: 0\n",
                      "exp.yaml:1:10: 'lengths' in eval must be a number from 1 to 1000000, or a "
                      "list of such, not 0");
}

TEST(a_missing_required_key_is_refused_at_the_map)
{
    assert_refused_by(required_rows, "task 'text'", "files: a\n",
                      "exp.yaml:1:1: task 'text' needs parameter 'path': the text to read");
    ck_assert_int_eq(params_fill(required_rows, &config, NULL, "task 'text'", NULL, &arena, &error),
                     PEAT_INVALID);
    ck_assert_str_eq(error.text, "task 'text' needs parameter 'path': the text to read");
    assert_refused_by(required_rows, "task", "path: ''\n",
                      "exp.yaml:1:7: 'path' in task must be a text, not ''; it cannot be empty");
}

TEST(only_a_map_can_be_filled_from)
{
    assert_refused_by(
        rows, "train", "[1, 2]\n",
        "exp.yaml:1:1: train must be a map of keys and values such as {flag: ...}, not a list");
    assert_refused_by(
        rows, "train", "fast\n",
        "exp.yaml:1:1: train must be a map of keys and values such as {flag: ...}, not 'fast'");
}

TEST(a_long_text_is_cut_in_messages_and_stays_one_line)
{
    assert_refused_by(rows, "model",
                      "layout: \"a\\nb"
                      "ääääääääääääääääääääääääääääääääääää\"\n",
                      "exp.yaml:1:9: 'layout' in model must be one of interleaved, halves, 2, not "
                      "'a bääääääääääääääääääääääääääää...'");
    const char *digits = arena_printf(&arena, "steps: %0900d\n", 1);
    ck_assert_int_eq(params_fill(rows, &config, parse(digits), "train", NULL, &arena, &error), 0);
    digits = arena_printf(&arena, "steps: 1%0900d\n", 1);
    ck_assert_int_ne(params_fill(rows, &config, parse(digits), "train", NULL, &arena, &error), 0);
    ck_assert_uint_lt(strlen(error.text), 200);
}

/* ---- paths ---- */

static const struct value *one_key(const char *key, const char *text, const char *file)
{
    struct value *map = value_map(&arena, (struct place){file, 3, 1});
    struct place at = {file, 3, 14};
    value_set(&arena, map, key, at, value_text(&arena, at, text));
    return map;
}

static peat_status fill_path(const char *text, const char *file)
{
    return params_fill(rows, &config, one_key("path", text, file), "task 'text'", NULL, &arena,
                       &error);
}

static void assert_path(const char *text, const char *file, const char *expected)
{
    ck_assert_int_eq(fill_path(text, file), PEAT_OK);
    ck_assert_str_eq(config.path, expected);
}

TEST(a_path_is_seen_from_the_file_it_was_written_in)
{
    scratch_make();
    char *real = realpath(scratch_dir, NULL);
    const char *expected = arena_printf(&arena, "%s/corpus.txt", real);
    ck_assert_int_eq(file_write(expected, "x", 1, &error), PEAT_OK);
    assert_path("corpus.txt", scratch_path("exp.yaml"), expected);
    assert_path(scratch_path("corpus.txt"), "elsewhere/exp.yaml", expected);

    ck_assert_int_eq(chdir(scratch_dir), 0);
    assert_path("corpus.txt", "command line", expected);
    assert_path("corpus.txt", "exp.yaml", expected);

    ck_assert_int_eq(chdir("/"), 0);
    scratch_remove();
    free(real);
}

TEST(a_path_that_does_not_exist_is_refused_with_where_it_was_sought)
{
    ck_assert_int_eq(fill_path("corpus.txt", "/nowhere/exp.yaml"), PEAT_INVALID);
    ck_assert_str_eq(error.text,
                     "/nowhere/exp.yaml:3:14: parameter 'path' of task 'text' names 'corpus.txt', "
                     "which does not exist (looked for '/nowhere/corpus.txt')");
    ck_assert_int_eq(params_fill(rows, &config, one_key("files", "no", "/nowhere/exp.yaml"), "task",
                                 NULL, &arena, &error),
                     PEAT_INVALID);
}

/* ---- back to settings ---- */

static void assert_same_config(const struct config *a, const struct config *b)
{
    ck_assert_int_eq(a->flag, b->flag);
    ck_assert_int_eq(a->steps, b->steps);
    ck_assert_int_eq(a->span, b->span);
    ck_assert_int_eq(a->layout, b->layout);
    ck_assert_double_eq(a->fraction, b->fraction);
    ck_assert_double_eq(a->base, b->base);
    ck_assert_double_eq(a->clip, b->clip);
    ck_assert_str_eq(a->name, b->name);
    ck_assert_str_eq(a->path, b->path);
    ck_assert_int_eq(a->files.n, b->files.n);
    ck_assert_int_eq(a->tags.n, b->tags.n);
    ck_assert_int_eq(a->lengths.n, b->lengths.n);
    for (int64_t i = 0; i < a->files.n; i++)
        ck_assert_str_eq(a->files.item[i], b->files.item[i]);
    for (int64_t i = 0; i < a->tags.n; i++)
        ck_assert_str_eq(a->tags.item[i], b->tags.item[i]);
    for (int64_t i = 0; i < a->lengths.n; i++)
        ck_assert_double_eq(a->lengths.item[i], b->lengths.item[i]);
}

/* The settings give the config back. */
static void assert_fills_same(const struct value *map)
{
    struct config again = {0};
    ck_assert_int_eq(params_fill(rows, &again, map, "train", NULL, &arena, &error), PEAT_OK);
    assert_same_config(&config, &again);
}

static const char *const settings[] = {
    "{}",
    "{flag: false, steps: 1000000000, span: 4096, layout: 2}",
    "{fraction: 0.1, base: 1e-300, clip: -123456789.12345678}",
    "{name: 'a: b', path: /, files: [/, /tmp], tags: [], lengths: []}",
    "{name: '8', tags: ['true', '', 'x, y', \"a\\n\\\"ü\"], lengths: [1, 2.5, 1e6]}",
    "{tags: one, lengths: 3, span: auto}",
};

enum { N_SETTINGS = sizeof(settings) / sizeof(*settings) };

LOOP_TEST(settings_of_a_config_give_the_same_config, N_SETTINGS)
{
    struct config again = {0};
    fill(settings[_i]);
    const struct value *map = params_value(rows, &config, &arena);
    assert_fills_same(map);
    ck_assert_int_eq(params_fill(rows, &again, map, "train", NULL, &arena, &error), PEAT_OK);
    ck_assert(value_equal(map, params_value(rows, &again, &arena)));
}

LOOP_TEST(settings_survive_json, N_SETTINGS)
{
    fill(settings[_i]);
    const char *text = json_to_text(params_value(rows, &config, &arena), JSON_CANONICAL, &arena);
    assert_fills_same(json_parse(&arena, text, strlen(text), "config.json", &error));
}

/* Each row's text, read as YAML, fills the same field. */
LOOP_TEST(the_text_of_a_value_reads_back, N_SETTINGS)
{
    struct strbuf text;
    strbuf_init(&text);
    fill(settings[_i]);
    for (const peat_param *row = rows; row->key; row++)
        strbuf_addf(&text, "%s: %s\n", row->key, params_text(row, &config, &arena));
    assert_fills_same(parse(text.text));
    strbuf_release(&text);
}

TEST(every_row_is_in_the_settings_in_row_order)
{
    fill("{}");
    const struct value *map = params_value(rows, &config, &arena);
    ck_assert_int_eq(map->n, (int)(sizeof(rows) / sizeof(*rows)) - 1);
    for (int i = 0; i < map->n; i++)
        ck_assert_str_eq(map->key[i], rows[i].key);
    ck_assert_str_eq(value_get(map, "span")->text, "auto");
}

static const char *text_of(const char *key)
{
    const peat_param *row = rows;
    while (strcmp(row->key, key) != 0)
        row++;
    return params_text(row, &config, &arena);
}

TEST(values_are_written_as_a_person_would)
{
    fill("clip: 1e-5\nlengths: [128, 256]\nname: a b\ntags: [x, 'no: y']\n");
    ck_assert_str_eq(text_of("clip"), "1e-05");
    ck_assert_str_eq(text_of("lengths"), "[128, 256]");
    ck_assert_str_eq(text_of("layout"), "halves");
    ck_assert_str_eq(text_of("flag"), "true");
    ck_assert_str_eq(text_of("span"), "auto");
    ck_assert_str_eq(text_of("steps"), "10");
    ck_assert_str_eq(text_of("tags"), "[x, \"no: y\"]");
}

static void assert_allowed(peat_param row, const char *expected)
{
    ck_assert_str_eq(params_allowed(&row, &arena), expected);
}

#define ALLOWED(expected, ...) assert_allowed((peat_param){__VA_ARGS__}, expected)

TEST(what_is_allowed_is_said_in_words)
{
    const double inf = (double)INFINITY;
    ALLOWED("a whole number from 1 to 4096", .type = PEAT_INT, .min = 1, .max = 4096);
    ALLOWED("a whole number", .type = PEAT_INT);
    ALLOWED("a number of at least -1", .type = PEAT_REAL, .min = -1, .max = inf);
    ALLOWED("a number of at most 1", .type = PEAT_REAL, .min = -inf, .max = 1);
    ALLOWED("a number above 0", .type = PEAT_REAL, .max = inf, .flags = PEAT_OPEN_MIN);
    ALLOWED("a number above 0 and at most 0.5", .type = PEAT_REAL, .max = 0.5,
            .flags = PEAT_OPEN_MIN);
    ALLOWED("one of interleaved, halves, 2", .type = PEAT_ENUM, .labels = layouts);
    ALLOWED("a path, or a list of such", .type = PEAT_STRINGS, .flags = PEAT_PATH);
    ALLOWED("a number (radians), or auto", .type = PEAT_REAL, .unit = "radians",
            .flags = PEAT_AUTO);
}

/* ---- tables ---- */

static void assert_faulty(peat_param row, const char *fault)
{
    const peat_param table[] = {{"first", PEAT_INT, FIELD(steps), .doc = "x"}, row, PEAT_PARAM_END};
    ck_assert_msg(params_check(table, sizeof(struct config), &error) == PEAT_INVALID, "%s", fault);
    ck_assert_str_eq(error.text, arena_printf(&arena, "row 2 ('%s') of the parameter table: %s",
                                              row.key, fault));
}

#define FAULTY(fault, ...) assert_faulty((peat_param){__VA_ARGS__, .doc = "x"}, fault)

TEST(a_good_table_passes)
{
    ck_assert_msg(params_check(rows, sizeof(struct config), &error) == PEAT_OK, "%s", error.text);
    ck_assert_int_eq(params_check(required_rows, sizeof(struct config), &error), PEAT_OK);
    ck_assert_int_eq(params_check(no_rows, 0, &error), PEAT_OK);
    ck_assert_int_eq(params_check(NULL, 0, &error), PEAT_OK);
}

TEST(a_faulty_key_or_field_is_found)
{
    FAULTY("the key is not in snake_case", "Key", PEAT_INT, FIELD(span));
    FAULTY("the key is not in snake_case", "", PEAT_INT, FIELD(span));
    FAULTY("the host needs this key itself", "where", PEAT_INT, FIELD(span));
    FAULTY("the key occurs twice", "first", PEAT_INT, FIELD(span));
    FAULTY("the type does not exist", "key", (peat_param_type)8, FIELD(span));
    FAULTY("the field lies outside the config", "key", PEAT_INT, sizeof(struct config));
    FAULTY("the field lies outside the config", "key", PEAT_INT, SIZE_MAX - 3);
    FAULTY("the field is not aligned", "key", PEAT_INT, FIELD(span) + 1);
    FAULTY("the field overlaps another row's", "key", PEAT_REAL, FIELD(steps));
    assert_faulty((peat_param){"key", PEAT_INT, FIELD(span), .doc = ""},
                  "the doc must be one line");
}

TEST(faulty_bounds_and_labels_are_found)
{
    static const char *const twice[] = {"a", "a", NULL};
    FAULTY("ENUM needs labels", "key", PEAT_ENUM, FIELD(layout));
    FAULTY("a label is empty or occurs twice", "key", PEAT_ENUM, FIELD(layout), .labels = twice);
    FAULTY("labels are for ENUM", "key", PEAT_INT, FIELD(span), .labels = layouts);
    FAULTY("bounds are for numbers", "key", PEAT_STRING, FIELD(name), .max = 1);
    FAULTY("the lower bound lies above the upper one", "key", PEAT_INT, FIELD(span), .min = 2,
           .max = 1);
    FAULTY("the preset is out of bounds", "key", PEAT_INT, FIELD(span), .min = 1, .max = 2);
    FAULTY("the preset is not a whole number", "key", PEAT_INT, FIELD(span), .preset = 0.5);
    FAULTY("the preset is out of bounds", "key", PEAT_BOOL, FIELD(flag), .preset = 2);
    FAULTY("the preset is out of bounds", "key", PEAT_ENUM, FIELD(layout), .preset = 3,
           .labels = layouts);
    FAULTY("the preset is never used", "key", PEAT_STRING, FIELD(name), .preset = 1);
}

TEST(faulty_flags_are_found)
{
    const peat_param span = {"key", PEAT_INT, FIELD(span), .min = 1, .max = 9, .doc = "x"};
    peat_param row = span;
    row.flags = PEAT_PATH;
    assert_faulty(row, "PEAT_PATH is for STRING and STRINGS");
    row.flags = PEAT_LATER;
    assert_faulty(row, "PEAT_LATER is for lists and ENUM");
    row.flags = 64;
    assert_faulty(row, "a flag does not exist");
    row.flags = PEAT_AUTO;
    assert_faulty(row, "PEAT_AUTO needs `automatic`");
    row.automatic = "d_model/4";
    row.flags = PEAT_AUTO | PEAT_REQUIRED;
    assert_faulty(row, "PEAT_AUTO and PEAT_REQUIRED exclude each other");
    row.flags = PEAT_AUTO;
    row.min = 0;
    assert_faulty(row, "0 means auto, so the bounds must exclude it");
    row = (peat_param){"key", PEAT_REAL, FIELD(base), .doc = "x", .flags = PEAT_OPEN_MIN};
    assert_faulty(row, "PEAT_OPEN_MIN needs bounds");
}

int main(void)
{
    return run_tests((struct tests){"params", set_up, tear_down});
}

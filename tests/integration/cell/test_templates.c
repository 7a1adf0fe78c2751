/* SPDX-License-Identifier: MIT */
/*
 * test_templates.c: what the documents show works, and the template folders build without a tree.
 *
 * Each test writes the files of a document (support/blocks.h) into a directory and does with them
 * what a reader would do.
 */
#include "cell/start.h"
#include "plugin/params.h"
#include "support/blocks.h"
#include "support/modelcheck.h"
#include "support/shell.h"
#include "support/support.h"

static const char compile[] =
    "${CC:-cc} -std=c11 -O1 -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion "
    "-Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror -I\"$PEAT_SOURCE/include\"";

/* ---- documents ---- */

/* The plugin guide's files, its plugins built. */
static void open_guide(void)
{
    shell_open();
    ck_assert_int_ge(write_blocks("docs/plugin-guide.md"), 8);
    ck_assert_int_ge(write_blocks("README.md"), 1);
    shell_expect(0,
                 "for f in *.c; do case $f in test_*) continue;; esac; "
                 "%s -shared -fPIC $f -o ${f%%.c}.so -lm -Wl,-z,defs || exit 1; done",
                 compile);
}

TEST(the_tests_of_the_guide_compile)
{
    write_blocks("docs/plugin-guide.md");
    shell_expect(0,
                 "%s -D_GNU_SOURCE $(printf -- '-I%%s ' \"$PEAT_SOURCE\"/core/*/include) "
                 "-I\"$PEAT_SOURCE/tests\" -fsyntax-only test_near.c",
                 compile);
    shell_expect(0, "%s test_bell.c -o test_bell -lm && ./test_bell", compile);
}

/* ---- the guide's tables ---- */

static void assert_lists(const char *guide, const peat_param *row)
{
    for (; row->key; row++) {
        char key[64];
        snprintf(key, sizeof(key), "\n| `%s` | ", row->key);
        const char *line = strstr(guide, key);
        ck_assert_msg(line, "docs/guide.md has no row for '%s'", row->key);
        const char *doc = strstr(line, row->doc);
        ck_assert_msg(doc && doc < strchr(line + 1, '\n'), "docs/guide.md says of '%s' not '%s'",
                      row->key, row->doc);
    }
}

TEST(the_guide_lists_every_setting_with_its_meaning)
{
    char *path = path_join(getenv("PEAT_SOURCE"), "docs/guide.md"), *guide;
    size_t n;
    ck_assert_int_eq(file_read(path, 0, &guide, &n, NULL), PEAT_OK);
    assert_lists(guide, model_rows);
    assert_lists(guide, attention_rows);
    assert_lists(guide, train_rows);
    assert_lists(guide, eval_rows);
    free(guide);
    free(path);
    path = path_join(getenv("PEAT_SOURCE"), "docs/reference/starting.md");
    ck_assert_int_eq(file_read(path, 0, &guide, &n, NULL), PEAT_OK);
    assert_lists(guide, start_rows);
    free(guide);
    free(path);
}

/* ---- gradients ---- */

/* A built plugin, with its parameters at their defaults. */
static const peat_plugin *load(struct modelcheck *m, const char *path, void **config)
{
    const struct plugin *plugin;
    peat_status status = plugin_load(&m->arena, path, OBJECT_HASHED, &plugin, &m->err);
    ck_assert_msg(status == PEAT_OK, "%s", m->err.text);
    const peat_plugin *desc = plugin->desc;
    *config = arena_zalloc(&m->arena, desc->config_size + 1);
    status = params_fill(desc->param, *config, NULL, desc->id, NULL, &m->arena, &m->err);
    ck_assert_msg(status == PEAT_OK, "%s", m->err.text);
    return desc;
}

static void add_scheme(struct modelcheck *m, const char *path)
{
    void *config;
    const peat_plugin *desc = load(m, path, &config);
    modelcheck_scheme(m, desc->id, desc->interface)->part.config = config;
}

static void set_combine(struct modelcheck *m, const char *path)
{
    void *config;
    const peat_plugin *desc = load(m, path, &config);
    m->positional.combine = desc->interface;
    m->positional.combine_part =
        (struct part){.id = desc->id, .prefix = "combine", .config = config};
}

/* All tensors of a small model with this scheme and this combination (NULL: the model's own). */
static void assert_gradients(const char *scheme, const char *combine)
{
    struct modelcheck m;
    modelcheck_init(&m, PEAT_DECODER);
    add_scheme(&m, arena_printf(&m.arena, "%s/%s.so", shell.dir, scheme));
    if (combine)
        set_combine(&m, arena_printf(&m.arena, "%s/%s.so", shell.dir, combine));
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
    modelcheck_release(&m);
}

/* ---- templates ---- */

static const char *const kinds[] = {"scheme", "combine", "task"};

/* prefix/ an installation, <kind>/ a copy of each template folder, home/ */
static void open_templates(void)
{
    shell_open();
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/prefix\"");
    shell_expect(0, "cp -r \"$PEAT_SOURCE\"/plugins/template/* . && mkdir home");
}

/* Compiled straight from the tree, as the guide's are. */
static void open_built_templates(void)
{
    shell_open();
    shell_expect(0,
                 "for k in scheme combine task; do %s -shared -fPIC -o my_$k.so -Wl,-z,defs "
                 "\"$PEAT_SOURCE\"/plugins/template/$k/my_$k.c -lm || exit 1; done",
                 compile);
}

GROUP(guide)

TEST(plugins_of_the_guide_compile_without_warnings_and_load)
{
    shell_says(0, "wave: sines of falling frequency",
               "for f in *.so; do peat plugins info ./$f || exit 1; done");
}

TEST(plugins_of_the_guide_train_together)
{
    shell_expect(0, "peat validate first.yaml");
    shell_expect(
        0, "peat run first.yaml -q seeds=1 train.steps=2 train.batch=2 report.metric=accuracy "
           "report.baseline=null task=./delay.so position.combine=./mix.so "
           "'position.scheme=[./wave.so, ./bell.so, [./fall.so, ./near.so, ./bell.so]]'");
    shell_says(0, "3 done", "peat status runs/first");
}

TEST(experiments_of_the_guide_are_valid)
{
    ck_assert_int_ge(write_blocks("docs/guide.md"), 1);
    shell_expect(0, "for i in $(seq 2000); do echo a line of text; done >corpus.txt");
    shell_expect(0, "for f in *.yaml; do peat validate $f || exit 1; done");
}

TEST(gradients_of_the_plugins_of_the_guide_agree_in_a_model)
{
    assert_gradients("wave", NULL);
    assert_gradients("fall", NULL);
    assert_gradients("near", NULL);
    assert_gradients("bell", NULL);
    assert_gradients("bell", "mix");
}

GROUP(folders)

LOOP_TEST(a_template_builds_and_installs_with_cmake, 3)
{
    const char *kind = kinds[_i];
    shell_expect(0,
                 "cd %s && cmake -S . -B build -DCMAKE_PREFIX_PATH=\"$PWD/../prefix\" "
                 "-DCMAKE_C_FLAGS=-Werror && cmake --build build && cmake --install build",
                 kind);
    shell_says(0, "/prefix/", "prefix/bin/peat plugins info %s/my_%s", kind, kind);
}

LOOP_TEST(a_template_builds_and_installs_with_make, 3)
{
    const char *kind = kinds[_i];
    shell_expect(0,
                 "export HOME=\"$PWD/home\"; "
                 "peat=$PWD/prefix/bin/peat; cd %s && "
                 "CFLAGS='-O2 -Werror' make PEAT=\"$peat\" install && make clean",
                 kind);
    shell_says(0, "/home/.local/lib/peat/", "HOME=\"$PWD/home\" prefix/bin/peat plugins info my_%s",
               kind);
}

LOOP_TEST(a_template_can_be_renamed, 3)
{
    const char *kind = kinds[_i];
    shell_expect(0,
                 "peat=$PWD/prefix/bin/peat; cd %s && "
                 "sed -i s/my_%s/ramp/g * && mv my_%s.c ramp.c && make PEAT=\"$peat\"",
                 kind, kind, kind);
    shell_says(0, "id       ramp\n", "prefix/bin/peat plugins info %s/ramp.so", kind);
}

GROUP(built)

TEST(templates_train_together)
{
    shell_write("exp.yaml", "version: 1\n"
                            "name: exp\n"
                            "defaults:\n"
                            "  task: ./my_task.so\n"
                            "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                            "  position: {scheme: ./my_scheme.so, combine: ./my_combine.so}\n"
                            "  train: {steps: 2, batch: 2, seq_len: 8}\n"
                            "  eval: {lengths: [8, 100]}\n");
    shell_says(0, "accuracy", "peat run exp.yaml");
}

TEST(gradients_of_the_templates_agree_in_a_model)
{
    assert_gradients("my_scheme", "my_combine");
}

int main(void)
{
    struct tests tests = {"templates", shell_open, shell_close, .seconds = 120,
                          .needs = "PEAT_SOURCE PEAT_BUILD PEAT cc cmake make pkg-config"};
    int end = run_tests(tests);
    tests.open = open_guide;
    tests.group = "guide";
    end |= run_tests(tests);
    tests.open = open_templates;
    tests.group = "folders";
    end |= run_tests(tests);
    tests.open = open_built_templates;
    tests.group = "built";
    return end | run_tests(tests);
}

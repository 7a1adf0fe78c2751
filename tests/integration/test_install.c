/* SPDX-License-Identifier: MIT */
/*
 * test_install.c: an installation works without a source tree.
 *
 * The build is installed, the installation is moved, and a scheme is built against it with CMake
 * and with pkg-config. PEAT_TEST_DIR, set by main, holds everything:
 *   moved/ the installation   home/ an empty home   twist/ a separate project
 */
#include "support/support.h"

static const char source_text[] =
    "#include <peat/plugin.h>\n"
    "struct config { double rate; };\n"
    "static const peat_param rows[] = {\n"
    "    {\"rate\", PEAT_REAL, offsetof(struct config, rate), 0.5, 0, 1, 0, 0, \"turns\", "
    "\"speed\", 0},\n"
    "    PEAT_PARAM_END};\n"
    "static peat_node *encode(const peat_call *c) { return peat_pos(c, c->q, 0); }\n"
    "static const peat_scheme scheme = {.size = sizeof(scheme), .encode = encode};\n"
    "PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, \"twist\", \"2.5\", \"turns\", \"MIT\", "
    "\"\")\n";

static const char project_text[] = "cmake_minimum_required(VERSION 3.21)\n"
                                   "project(twist C)\n"
                                   "find_package(peat 1.0 REQUIRED)\n"
                                   "peat_add_plugin(twist scheme twist.c)\n"
                                   "message(STATUS \"ABI ${peat_ABI} in ${peat_PLUGIN_DIR}\")\n";

static int run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The exit status of a shell command in PEAT_TEST_DIR; its output is in `output`. */
static int run(const char *fmt, ...)
{
    struct strbuf command;
    strbuf_init(&command);
    strbuf_add(&command, "cd \"$PEAT_TEST_DIR\" && { ");
    va_list args;
    va_start(args, fmt);
    strbuf_addv(&command, fmt, args);
    va_end(args);
    strbuf_add(&command, "; } >output 2>&1");
    fflush(NULL);
    int status = system(command.text);
    strbuf_release(&command);
    return status;
}

/* What the last command printed; freed by the caller. */
static char *output(void)
{
    char *path = path_join(getenv("PEAT_TEST_DIR"), "output"), *text;
    size_t n;
    if (file_read(path, 0, &text, &n, NULL) != PEAT_OK)
        text = strdup("(no output)");
    free(path);
    return text;
}

static void assert_runs(const char *command)
{
    int status = run("%s", command);
    char *text = output();
    ck_assert_msg(status == 0, "%s\n%s", command, text);
    free(text);
}

static void assert_prints(const char *command, const char *expected)
{
    assert_runs(command);
    char *text = output();
    ck_assert_msg(strstr(text, expected) != NULL, "no '%s' from %s:\n%s", expected, command, text);
    free(text);
}

static bool put_file(const char *name, const char *text)
{
    char *path = path_join(getenv("PEAT_TEST_DIR"), name);
    peat_status status = file_write(path, text, strlen(text), NULL);
    free(path);
    return status == PEAT_OK;
}

START_TEST(the_moved_program_finds_its_own_plugins_and_libraries)
{
    assert_prints("moved/bin/peat plugins list", "rotary");
    assert_prints("moved/bin/peat plugins info rotary", "/moved/lib");
    assert_prints("moved/bin/peat --version", "openblas");
    assert_prints("moved/bin/peat bench step --d 32 --layers 1 --T 16 --B 2 --steps 1",
                  "USE_OPENMP");
    assert_prints("cat moved/share/man/man1/peat-plugins-list.1", "list");
    assert_prints("cat moved/share/bash-completion/completions/peat", "complete ");
    assert_prints("cat moved/share/zsh/site-functions/_peat", "#compdef peat");
    assert_prints("cat moved/share/fish/vendor_completions.d/peat.fish", "complete ");
}
END_TEST

START_TEST(find_package_builds_and_installs_a_plugin)
{
    assert_prints("cmake -S twist -B twist/build -DCMAKE_BUILD_TYPE=Release "
                  "-DCMAKE_PREFIX_PATH=\"$PEAT_TEST_DIR/moved\"",
                  "ABI 1.0 in ");
    assert_runs("cmake --build twist/build");
    assert_prints("moved/bin/peat plugins info twist/build/twist.so", "twist: turns");
    assert_runs("cmake --install twist/build");
    assert_prints("moved/bin/peat plugins info scheme/twist", "2.5");
    assert_runs("rm \"$(find moved -name twist.so)\"");
}
END_TEST

/* As a user would who starts from one. */
START_TEST(sources_of_built_in_plugins_are_installed_and_build)
{
    assert_runs("cd moved/share/peat/examples && for kind in scheme combine task; do "
                "test $(ls $kind/*/*.c | wc -l) -ge 20 || exit 1; done && "
                "for f in scheme/rotary/rotary.c combine/sum/sum.c task/copy/copy.c; do "
                "${CC:-cc} -std=c11 -shared -fPIC -fvisibility=hidden -Wl,-z,defs "
                "-I../../../include $f -o x.so -lm || exit 2; done; rm x.so");
}
END_TEST

/* A folder of plugins/ or tests/ stands below examples, and what has a < is a pattern. */
START_TEST(what_the_guides_name_is_installed)
{
    assert_runs("cd moved/share && ls doc/peat/docs/plugin-guide.md doc/peat/CONTRIBUTING.md && "
                "test $(ls peat/examples/support/*.h | wc -l) -ge 10 && "
                "ls peat/examples/README.md peat/examples/golden/*.py doc/peat/results.ipynb");
    assert_runs("cd moved/share/doc/peat/docs && "
                "grep -hoE '`(plugins|tests|share/peat)/[^`<]*`' plugin-guide.md cookbook.md | "
                "tr -d '`' | sed -e 's#^plugins/template#share/peat/template#' "
                "-e 's#^\\(plugins\\|tests\\)/#share/peat/examples/#' | sort -u >names && "
                "test $(wc -l <names) -ge 15 && "
                "while read f; do test -e ../../../../$f || { echo no $f; exit 1; }; done <names");
    assert_runs("rm moved/share/doc/peat/docs/names");
}
END_TEST

/* Relative ones, with what they name beside them; [text](file.md#place) and pictures. */
START_TEST(no_link_of_an_installed_document_is_dead)
{
    assert_runs("cd moved/share/doc/peat && find . -name '*.md' >pages && "
                "test $(wc -l <pages) -ge 100 && while read page; do "
                "grep -oE '\\]\\([^)#: ]+[)#]' \"$page\" | sed 's/^..//; s/.$//' | "
                "while read link; do test -e \"$(dirname \"$page\")/$link\" || "
                "echo \"$page: $link\"; done; done <pages >dead; cat dead; rm pages; "
                "test ! -s dead && rm dead");
}
END_TEST

/* The manifest that CMake leaves is the build's, in which other tests install too: one of its kind.
 */
START_TEST(uninstall_removes_all_that_was_installed)
{
    assert_runs("cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/twice\" && "
                "find \"$PWD/twice\" -type f >manifest && touch twice/share/mine && "
                "cmake -DMANIFEST=manifest -P \"$PEAT_SOURCE\"/cmake/Uninstall.cmake && "
                "test \"$(find twice -type f)\" = twice/share/mine && "
                "test ! -e twice/lib/peat && test ! -e twice/share/doc/peat");
    ck_assert_int_ne(run("cmake -DMANIFEST=nosuch -P \"$PEAT_SOURCE\"/cmake/Uninstall.cmake"), 0);
}
END_TEST

START_TEST(find_package_refuses_a_newer_minor)
{
    assert_runs("mkdir -p other && sed 's/peat 1.0/peat 1.1/' twist/CMakeLists.txt "
                ">other/CMakeLists.txt && cp twist/twist.c other/");
    ck_assert_int_ne(
        run("cmake -S other -B other/build -DCMAKE_PREFIX_PATH=\"$PEAT_TEST_DIR/moved\""), 0);
}
END_TEST

START_TEST(pkg_config_builds_a_plugin)
{
    assert_runs("PKG_CONFIG_PATH=\"$(dirname \"$(find \"$PWD/moved\" -name peat.pc)\")\"; "
                "export PKG_CONFIG_PATH; ${CC:-cc} -shared -fPIC $(pkg-config --cflags peat) "
                "twist/twist.c -o x.so -Wl,-z,defs $(pkg-config --libs peat) && "
                "test -e \"$(pkg-config --variable=plugindir peat)/scheme/rotary.so\" && "
                "test -e \"$(pkg-config --variable=plugindir peat)/scheme/rotary.py\" && "
                "test -e \"$(pkg-config --variable=pythondir peat)/peat/torch/model.py\" && "
                "test \"$(pkg-config --variable=abi peat)\" = 1.0 && "
                "test -d \"$(pkg-config --variable=plugindir peat)/../$(pkg-config "
                "--variable=plugins peat)\"");
    assert_prints("moved/bin/peat plugins info ./x.so", "rate       real  0.5");
    assert_prints("moved/bin/peat plugins info x.so --json", "\"version\": \"2.5\"");
}
END_TEST

/* True when the build is installed under PEAT_TEST_DIR/moved and the project is written. */
static bool prepare(void)
{
    unsetenv("PEAT_PLUGIN_PATH");
    unsetenv("DESTDIR");
    char *home = path_join(getenv("PEAT_TEST_DIR"), "home");
    setenv("HOME", home, 1);
    free(home);
    if (run("mkdir home twist && cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/first\" && "
            "mv first moved") != 0)
        return false;
    return put_file("twist/twist.c", source_text) && put_file("twist/CMakeLists.txt", project_text);
}

static int run_tests(void)
{
    if (!prepare()) {
        char *text = output();
        printf("the build could not be installed:\n%s\n", text);
        free(text);
        return EXIT_FAILURE;
    }
    return run_list((struct tests){"install", .seconds = 120},
                    TESTS(the_moved_program_finds_its_own_plugins_and_libraries,
                          find_package_builds_and_installs_a_plugin,
                          sources_of_built_in_plugins_are_installed_and_build,
                          what_the_guides_name_is_installed, find_package_refuses_a_newer_minor,
                          no_link_of_an_installed_document_is_dead,
                          uninstall_removes_all_that_was_installed, pkg_config_builds_a_plugin));
}

int main(void)
{
    char dir[64];
    if (!is_here("PEAT_BUILD cmake pkg-config"))
        return SKIPPED;
    new_folder(dir, sizeof(dir));
    setenv("PEAT_TEST_DIR", dir, 1);
    int status = run_tests();
    dir_remove(dir, NULL);
    return status;
}

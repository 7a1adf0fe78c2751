/* SPDX-License-Identifier: MIT */
/*
 * test_install.c: an installation works without a source tree.
 *
 * The build is installed, the installation is moved, and a scheme is built against it with CMake
 * and with pkg-config, in one folder for all tests:
 *   moved/ the installation   twist/ a separate project
 */
#include "support/shell.h"
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

static void open_installation(void)
{
    shell_open();
    unsetenv("DESTDIR");
    shell_expect(0, "mkdir twist && cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/first\" && "
                    "mv first moved");
    shell_write("twist/twist.c", source_text);
    shell_write("twist/CMakeLists.txt", project_text);
}

TEST(the_moved_program_finds_its_own_plugins_and_libraries)
{
    shell_says(0, "rotary", "moved/bin/peat plugins list");
    shell_says(0, "/moved/lib", "moved/bin/peat plugins info rotary");
    shell_says(0, "openblas", "moved/bin/peat --version");
    shell_says(0, "USE_OPENMP",
               "moved/bin/peat bench step --d 32 --layers 1 --T 16 --B 2 --steps 1");
    shell_says(0, "list", "cat moved/share/man/man1/peat-plugins-list.1");
    shell_says(0, "complete ", "cat moved/share/bash-completion/completions/peat");
    shell_says(0, "#compdef peat", "cat moved/share/zsh/site-functions/_peat");
    shell_says(0, "complete ", "cat moved/share/fish/vendor_completions.d/peat.fish");
}

TEST(find_package_builds_and_installs_a_plugin)
{
    shell_says(0, "ABI 1.0 in ",
               "cmake -S twist -B twist/build -DCMAKE_BUILD_TYPE=Release "
               "-DCMAKE_PREFIX_PATH=\"$PWD/moved\"");
    shell_expect(0, "cmake --build twist/build");
    shell_says(0, "twist: turns", "moved/bin/peat plugins info twist/build/twist.so");
    shell_expect(0, "cmake --install twist/build");
    shell_says(0, "2.5", "moved/bin/peat plugins info scheme/twist");
    shell_expect(0, "rm \"$(find moved -name twist.so)\"");
}

/* As a user would who starts from one. */
TEST(sources_of_built_in_plugins_are_installed_and_build)
{
    shell_expect(0, "cd moved/share/peat/examples && for kind in scheme combine task; do "
                    "test $(ls $kind/*/*.c | wc -l) -ge 20 || exit 1; done && "
                    "for f in scheme/rotary/rotary.c combine/sum/sum.c task/copy/copy.c; do "
                    "${CC:-cc} -std=c11 -shared -fPIC -fvisibility=hidden -Wl,-z,defs "
                    "-I../../../include $f -o x.so -lm || exit 2; done; rm x.so");
}

/* A folder of plugins/ or tests/ stands below examples, and what has a < is a pattern. */
TEST(what_the_guides_name_is_installed)
{
    shell_expect(0,
                 "cd moved/share && ls doc/peat/docs/plugin-guide.md doc/peat/CONTRIBUTING.md && "
                 "test $(ls peat/examples/support/*.h | wc -l) -ge 10 && "
                 "ls peat/examples/README.md peat/examples/golden/*.py doc/peat/results.ipynb");
    shell_expect(0,
                 "cd moved/share/doc/peat/docs && "
                 "grep -hoE '`(plugins|tests|share/peat)/[^`<]*`' plugin-guide.md cookbook.md | "
                 "tr -d '`' | sed -e 's#^plugins/template#share/peat/template#' "
                 "-e 's#^\\(plugins\\|tests\\)/#share/peat/examples/#' | sort -u >names && "
                 "test $(wc -l <names) -ge 15 && "
                 "while read f; do test -e ../../../../$f || { echo no $f; exit 1; }; done <names");
    shell_expect(0, "rm moved/share/doc/peat/docs/names");
}

/* Relative ones, with what they name beside them; [text](file.md#place) and pictures. */
TEST(no_link_of_an_installed_document_is_dead)
{
    shell_expect(0, "cd moved/share/doc/peat && find . -name '*.md' >pages && "
                    "test $(wc -l <pages) -ge 100 && while read page; do "
                    "grep -oE '\\]\\([^)#: ]+[)#]' \"$page\" | sed 's/^..//; s/.$//' | "
                    "while read link; do test -e \"$(dirname \"$page\")/$link\" || "
                    "echo \"$page: $link\"; done; done <pages >dead; cat dead; rm pages; "
                    "test ! -s dead && rm dead");
}

/* The manifest that CMake leaves is the build's, in which other tests install too: one of its kind.
 */
TEST(uninstall_removes_all_that_was_installed)
{
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/twice\" && "
                    "find \"$PWD/twice\" -type f >manifest && touch twice/share/mine && "
                    "cmake -DMANIFEST=manifest -P \"$PEAT_SOURCE\"/cmake/Uninstall.cmake && "
                    "test \"$(find twice -type f)\" = twice/share/mine && "
                    "test ! -e twice/lib/peat && test ! -e twice/share/doc/peat");
    ck_assert_int_ne(shell_run("cmake -DMANIFEST=nosuch -P \"$PEAT_SOURCE\"/cmake/Uninstall.cmake"),
                     0);
}

TEST(find_package_refuses_a_newer_minor)
{
    shell_expect(0, "mkdir -p other && sed 's/peat 1.0/peat 1.1/' twist/CMakeLists.txt "
                    ">other/CMakeLists.txt && cp twist/twist.c other/");
    ck_assert_int_ne(shell_run("cmake -S other -B other/build -DCMAKE_PREFIX_PATH=\"$PWD/moved\""),
                     0);
}

TEST(pkg_config_builds_a_plugin)
{
    shell_expect(0, "PKG_CONFIG_PATH=\"$(dirname \"$(find \"$PWD/moved\" -name peat.pc)\")\"; "
                    "export PKG_CONFIG_PATH; ${CC:-cc} -shared -fPIC $(pkg-config --cflags peat) "
                    "twist/twist.c -o x.so -Wl,-z,defs $(pkg-config --libs peat) && "
                    "test -e \"$(pkg-config --variable=plugindir peat)/scheme/rotary.so\" && "
                    "test -e \"$(pkg-config --variable=plugindir peat)/scheme/rotary.py\" && "
                    "test -e \"$(pkg-config --variable=pythondir peat)/peat/torch/model.py\" && "
                    "test \"$(pkg-config --variable=abi peat)\" = 1.0 && "
                    "test -d \"$(pkg-config --variable=plugindir peat)/../$(pkg-config "
                    "--variable=plugins peat)\"");
    shell_says(0, "rate       real  0.5", "moved/bin/peat plugins info ./x.so");
    shell_says(0, "\"version\": \"2.5\"", "moved/bin/peat plugins info x.so --json");
}

int main(void)
{
    return run_tests((struct tests){"install", open_installation, shell_close, .seconds = 120,
                                    .needs = "PEAT PEAT_BUILD cmake pkg-config", .once = true});
}

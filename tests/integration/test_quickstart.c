/* SPDX-License-Identifier: MIT */
/*
 * test_quickstart.c: what ./quickstart does around the build, with programs of our own in the place
 * of cmake, dpkg-query, apt-get and id: whom it makes `peat` findable for, and what it installs;
 * and what README promises of its experiment.
 */

#include "support/shell.h"
#include "support/support.h"

/* The built program is a script that says how it was called and ends with status 3. */
static void open_copy(void)
{
    shell_open();
    shell_expect(0,
                 "mkdir -p copy/build/installed/bin copy/build/installed/lib/pkgconfig bin home && "
                 "printf 'prefix=x\npythondir=${prefix}/python\nName: peat\nDescription: x\n"
                 "Version: 1\n' >copy/build/installed/lib/pkgconfig/peat.pc && cp "
                 "\"$PEAT_SOURCE\"/quickstart copy && "
                 "printf '#!/bin/sh\\necho built $*; exit 3\\n' >copy/build/installed/bin/peat && "
                 "printf '#!/bin/sh\\nexit 0\\n' >bin/cmake && "
                 "printf '#!/bin/sh\\necho 1000\\n' >bin/id && "
                 "printf '#!/bin/sh\\necho \"ii \"\\n' >bin/dpkg-query && "
                 "chmod +x bin/* copy/build/installed/bin/peat");
}

/* A pkg-config that looks into no folder of the machine, where a peat may be installed. */
#define QUICKSTART "HOME=$PWD/home PKG_CONFIG_LIBDIR=$PWD/none PATH=$PWD/bin:/usr/bin:/bin "

TEST(peat_is_linked_and_the_line_for_this_shell_is_said)
{
    shell_says(3, "built run experiments/quickstart.yaml", QUICKSTART "copy/quickstart");
    assert_printed("/home/.local/bin/peat, a link to ");
    assert_printed("/home/.local/bin:$PATH\"\n");
    shell_says(3, "built again", "home/.local/bin/peat again");
}

/* What a user's shell needs to find the headers is said, and python3 finds the package. */
TEST(headers_and_the_package_of_python_are_found)
{
    shell_says(3, "for pkg-config: export PKG_CONFIG_PATH=", QUICKSTART "copy/quickstart");
    shell_says(0, "copy/build/installed\n",
               "PKG_CONFIG_PATH=home/.local/lib/pkgconfig pkg-config --variable=prefix peat");
    if (shell_run("test -x /usr/bin/python3") == 0)
        shell_says(0, "copy/build/installed/python", "cat $(find home -name peat.pth)");
}

/* The line that is said makes `peat` the program. */
TEST(the_line_is_true)
{
    shell_expect(3, QUICKSTART "copy/quickstart 2>said");
    shell_says(3, "built there", "eval \"$(sed -n 's/.*in this shell: //p' said)\"; peat there");
}

TEST(where_the_folder_is_on_the_path_no_line_is_needed)
{
    shell_expect(
        3, "PATH=$PWD/home/.local/bin:$PATH; HOME=$PWD/home PATH=$PWD/bin:$PATH copy/quickstart");
    ck_assert(!shell_printed("export PATH"));
}

TEST(another_program_called_peat_stays)
{
    shell_expect(0, "mkdir -p home/.local/bin && echo mine >home/.local/bin/peat");
    shell_says(3, "/bin/peat is another file and stays", QUICKSTART "copy/quickstart");
    shell_expect(0, "grep -q mine home/.local/bin/peat");
}

/* Packages that are missing and cannot be installed are all named. */
TEST(what_report_plot_and_bundle_start_is_installed)
{
    shell_expect(0, "printf '#!/bin/sh\\nexit 1\\n' >bin/dpkg-query && mkdir only && "
                    "for i in sh sed dirname; do ln -s $(command -v $i) only; done");
    shell_says(2, "python3-matplotlib", "HOME=$PWD/home PATH=$PWD/bin:$PWD/only copy/quickstart");
    assert_printed("xz-utils");
}

/* The last line of a run of tests counts what they left out; PEAT_NO_SKIPS makes it a failure. */
TEST(skips_are_counted_and_fail_where_they_may_not_be)
{
    shell_expect(0, "printf '#!/bin/sh\\nd=build/release/Testing/Temporary; mkdir -p $d; "
                    "printf \"1/2 Testing: unit.a\\\\nskipped: bf16: no unit\\\\n2/2 Testing: "
                    "unit.b\\\\nok\\\\n\" >$d/LastTest.log\\n' >bin/ctest && chmod +x bin/ctest");
    shell_says(0, "quickstart: 1 skips; unit.a: bf16: no unit\n",
               "PEAT_NO_SKIPS= " QUICKSTART "copy/quickstart test");
    shell_expect(0, "PEAT_NO_SKIPS=bf16 " QUICKSTART "copy/quickstart test");
    shell_expect(1, "PEAT_NO_SKIPS=torch " QUICKSTART "copy/quickstart test");
    shell_says(2, "unknown option '--al' of test; allowed: --all, --long",
               QUICKSTART "copy/quickstart test --al");
}

/* Each cell's products are small enough for PEAT to multiply itself, whatever is installed. */
TEST(its_bits_are_the_same_beside_every_library)
{
    if (shell_run("peat --version | grep -q onednn && peat --version | grep -q openblas") != 0) {
        skip_all("there is one provider of products");
        return;
    }
    shell_expect(0, "for g in onednn openblas; do peat run \"$PEAT_SOURCE\"/experiments/"
                    "quickstart.yaml seeds=1 train.steps=2 run.gemm=$g -q -o $g || exit 1; "
                    "grep -h -e weights_hash -e '\"value\"' $g/cells/*/result.json >$g.txt; "
                    "grep -q \"gemm.*$g\" $g/cells/*/meta.json || exit 2; done; "
                    "[ $(grep -c weights_hash onednn.txt) = 9 ] && cmp onednn.txt openblas.txt");
}

int main(void)
{
    return run_tests((struct tests){.subject = "quickstart",
                                    .open = open_copy,
                                    .close = shell_close,
                                    .seconds = 200,
                                    .needs = "PEAT_SOURCE PEAT"});
}

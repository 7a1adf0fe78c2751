/* SPDX-License-Identifier: MIT */
/* test_rust.c: docs/rust.md does what it says. */
#include "support/blocks.h"
#include "support/shell.h"
#include "support/support.h"

static void open_page(void)
{
    shell_open();
    ck_assert_int_eq(write_blocks("docs/rust.md"), 3);
}

TEST(a_scheme_in_rust_builds_passes_and_trains)
{
    shell_expect(0, "sh -e rust.sh");
    shell_says(0, "2 done", "peat status runs/rust");
    shell_says(0, "fading", "peat results runs/rust");
}

int main(void)
{
    /* Commands of the test have another home, and rustup's rustc looks for itself at home. */
    const char *home = getenv("HOME");
    char *rustup = path_join(home ? home : "/", ".rustup");
    setenv("RUSTUP_HOME", rustup, 0);
    free(rustup);
    return run_tests((struct tests){"rust", open_page, shell_close, .seconds = 120,
                                    .needs = "PEAT_SOURCE PEAT rustc"});
}

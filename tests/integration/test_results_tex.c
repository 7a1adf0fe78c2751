/* SPDX-License-Identifier: MIT */
/* test_results_tex.c: pdflatex sets the tables of `peat results --format tex`, and the paper. */
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

static void make_grid(struct run_maker *m)
{
    static const char *const scheme[] = {
        "none",      "rotary(base=500)", "a&b_c%d#e$f{g}h~i^j", "back\\\\slash|bar<less>",
        "plugin.so", "learned+alibi"};
    run_maker_open(m, "grid_of_100");
    m->report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                "\"baseline\":{\"position.scheme\":\"none\"}}";
    for (int seed = 0; seed < 3; seed++)
        for (int i = 0; i < 6; i++)
            run_maker_done(m, scheme[i], "concat_split", seed, 2.0 + 0.1 * i + 0.01 * i * seed,
                           3.0 - 0.2 * i);
    run_maker_state(m, "none", "concat_split", 3, "diverged");
    run_maker_finish(m);
}

static void assert_sets(const char *table)
{
    shell_write("paper.tex",
                "\\documentclass{article}\n"
                "\\usepackage[utf8]{inputenc}\n"
                "\\IfFileExists{booktabs.sty}{\\usepackage{booktabs}}{%\n"
                "  \\let\\toprule\\hline\\let\\midrule\\hline\\let\\bottomrule\\hline}\n"
                "\\begin{document}\n"
                "\\input{table.tex}\n"
                "\\end{document}\n");
    shell_expect(0, "peat %s", table);
    shell_says(0, "(1 page", "pdflatex -interaction=nonstopmode -halt-on-error paper.tex");
    shell_expect(0, "! grep -i 'missing character\\|undefined' paper.log");
}

TEST(tables_of_every_shape_are_set_by_pdflatex)
{
    static const char *const options[] = {"", "--cols combine", "--columns metric,diff,p_holm,g_z",
                                          "--only-changed --err sd --injection"};
    struct run_maker m;
    make_grid(&m);
    for (int i = 0; i < 4; i++) {
        char command[256];
        snprintf(command, sizeof(command), "results %s -f tex -o table.tex %s", m.dir, options[i]);
        assert_sets(command);
    }
    run_maker_close(&m);
}

/* The references end on page 4 or 5; an appendix of tables follows. */
TEST(the_paper_is_set_on_four_pages_and_references)
{
    shell_expect(0, "\"$PEAT_SOURCE\"/docs/paper/build.sh . && "
                    "grep '^.newlabel{references}{{[^}]*}{[45]}' paper.aux");
    shell_expect(0, "! grep -i 'missing character\\|undefined\\|overfull' paper.log");
}

int main(void)
{
    return run_tests((struct tests){"results_tex", shell_open, shell_close, .seconds = 120,
                                    .needs = "pdflatex PEAT_SOURCE python3-matplotlib"});
}

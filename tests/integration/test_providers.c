/* SPDX-License-Identifier: MIT */
/*
 * test_providers.c: libraries of matrices are loaded where something is multiplied, and only there;
 * a provider is one file; what is wrong with one is said.
 */
#include "support/shell.h"
#include "support/support.h"

#define PLAIN "PEAT_PLUGIN_PATH=$PWD/plugins "

static const char experiment[] = "version: 1\n"
                                 "name: e\n"
                                 "defaults:\n"
                                 "  task: {plugin: copy, symbols: 4}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                                 "  train: {steps: 4, batch: 4, seq_len: 11}\n"
                                 "matrix:\n"
                                 "  position.scheme: [rotary, learned]\n"
                                 "seeds: 1\n";

/* Trained by whatever is installed: r. */
static void open_run(void)
{
    shell_open();
    shell_write("e.yaml", experiment);
    shell_expect(0, "peat run e.yaml -o r");
}

static void open_empty(void)
{
    shell_open();
    shell_write("e.yaml", experiment);
    shell_expect(0, "mkdir -p plugins/gemm");
}

/* cc's options make the crime, or nothing. */
static void plant(const char *name, const char *options)
{
    shell_expect(0,
                 "${CC:-cc} -std=c11 -shared -fPIC -w -I\"$PEAT_SOURCE/include\" %s "
                 "\"$PEAT_SOURCE/tests/contract/planted/provider.c\" -o plugins/gemm/%s.so",
                 options, name);
}

/* ---- what multiplies nothing ---- */

static const char *const verbs[] = {
    "--version",
    "help",
    "help run",
    "help --complete -- peat st",
    "run --help",
    "status r",
    "status r --json",
    "cell r 0-1",
    "results r",
    "results r --format csv",
    "results r --format json",
    "results r --format md",
    "results r --format tex",
    "compare r position.scheme=rotary position.scheme=learned",
    "plot r --format csv",
    "logs r 0",
    "verify r",
    "bundle r -o r.tar.gz",
    "export r --format csv",
    "plugins list",
    "plugins list --json",
    "plugins list --kind task",
    "plugins info rotary",
    "plugins new scheme mine",
    "validate e.yaml",
    /* Planning multiplies a little, to measure what enters a model, in a process of its own; these
     * do without where they must. */
    "plan e.yaml",
    "plan e.yaml --json",
    "plan e.yaml --write -o planned",
    "run e.yaml -n",
    "run e.yaml -o r",
    "run e.yaml -n --launcher slurm -o other",
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]), PLANNING = 6 };

/* A sanitizer is written in C++ itself. */
#ifdef PEAT_SANITIZED
#define LARGE "blas|dnnl|lapack"
#else
#define LARGE "blas|dnnl|lapack|stdc"
#endif

#ifndef PEAT_SANITIZED
TEST(training_where_no_library_can_be_loaded_ends_with_one_line)
{
    shell_says(1, "MiB of addresses, which a limit (ulimit -v) does not leave",
               "ulimit -v 300000; timeout 60 peat run e.yaml -o limited");
    shell_says(2, "MiB of addresses, which a limit (ulimit -v) does not leave",
               "ulimit -v 300000; timeout 60 peat bench step --steps 1");
    shell_says(1, "MiB of addresses, which a limit (ulimit -d or -v) does not leave",
               "ulimit -d 100000; timeout 60 peat run e.yaml -o limited_data");
}

TEST(planning_where_memory_is_limited_ends)
{
    static const int kib[] = {4000, 20000, 100000, 250000};
    for (size_t i = 0; i < sizeof(kib) / sizeof(*kib); i++) {
        shell_run("(ulimit -d %d; timeout 60 peat plan e.yaml) >out 2>&1; echo $?", kib[i]);
        int code = atoi(shell.printed.text);
        ck_assert_msg(code == 0 || code == 2, "%d KiB: %s", kib[i], shell.printed.text);
    }
}
#endif

/* ---- choosing one ---- */

TEST(a_provider_that_is_not_installed_is_refused_with_place_names_and_the_nearest)
{
    shell_expect(2, "echo 'run: {gemm: openbals}' >> e.yaml; peat run e.yaml -o none");
    ck_assert_msg(strstr(shell.printed.text,
                         "e.yaml:10:13: there is no provider of matrix products "
                         "'openbals'; found: auto, "),
                  "%s", shell.printed.text);
    ck_assert_ptr_nonnull(strstr(shell.printed.text, "did you mean 'openblas'?"));
    ck_assert_ptr_eq(strchr(shell.printed.text, '\n'), strrchr(shell.printed.text, '\n'));
    shell_says(2, "did you mean 'openblas'?", "peat validate e.yaml");
    shell_says(2, "did you mean 'openblas'?", "peat plan e.yaml");
    shell_says(2, "did you mean 'openblas'?",
               "sed -i '$ d' e.yaml; peat plan e.yaml --write -o r; peat cell r 0 --gemm openbals");
    shell_says(2, "did you mean 'openblas'?", "peat bench step --gemm openbals");
    shell_expect(1, "test -e none");
}

/* A copy of the program with all that stands beside it: lone/. */
static void copy_program(void)
{
    shell_expect(0, "mkdir -p lone/bin lone/lib && cp \"$PEAT\" lone/bin/ && "
                    "cp -r \"$PEAT_BUILD\"/lib*/peat lone/lib/");
}

TEST(without_any_provider_only_what_multiplies_is_refused)
{
    copy_program();
    shell_expect(0, "rm -r lone/lib/peat/*/gemm");
    shell_says(0, "matrix products by nothing; not installed: onednn, openblas",
               "lone/bin/peat --version");
    shell_expect(0, "lone/bin/peat validate e.yaml");
    shell_says(2, "no provider of matrix products is installed: there is no gemm/*.so (searched in",
               "lone/bin/peat run e.yaml -o none");
    shell_expect(1, "test -e none/cells");
}

TEST(the_version_names_each_library_and_what_is_no_provider)
{
    shell_expect(0, "echo 'not an object' > plugins/gemm/zinc.so");
    plant("plain", "");
    plant("versed", "-DBUILT_WITH='\" plain\\n\\033loops 1.2 \"'");
    shell_expect(0, PLAIN "peat --version");
    assert_printed(", plain, versed, zinc");
    assert_printed("\n  openblas: built with OpenBLAS 0.");
    assert_printed("\n  plain: names no library\n");
    assert_printed("\n  versed: built with plain\\n\\x1bloops 1.2\n");
    assert_printed("zinc.so' is not a shared object\n");
}

/* ---- writing one ---- */

TEST(a_provider_is_one_file_beside_the_plugins)
{
    plant("plain", "");
    shell_expect(0, "echo 'run: {gemm: plain}' >> e.yaml; " PLAIN "peat run e.yaml -o r");
    shell_expect(0, "cat r/cells/*/meta.json");
    ck_assert_ptr_nonnull(strstr(shell.printed.text, "\"gemm\": \"plain\""));
    ck_assert_ptr_nonnull(strstr(shell.printed.text, "\"blas\": \"plain loops 1\""));
    ck_assert_ptr_nonnull(strstr(shell.printed.text, "\"blas_core\": \"none\""));
    shell_says(0, "2 done", "peat status r");
}

/* Cells that were not begun, too; a word in run.gemm is obeyed. */
TEST(a_run_goes_on_with_the_provider_that_it_began_with)
{
    plant("plain", "");
    shell_expect(0, PLAIN "peat run e.yaml run.gemm=plain --only '*rotary*' -q -o r");
    shell_expect(0, PLAIN "peat run e.yaml -q -o r");
    shell_expect(0, PLAIN "peat run e.yaml run.gemm=openblas seeds=2 -q -o r");
    shell_expect(0, "cat r/cells/*.s0-*/meta.json r/cells/*.s1-*/meta.json | grep -o '\"gemm.*'");
    ck_assert_str_eq(shell.printed.text, "\"gemm\": \"plain\",\n\"gemm\": \"plain\",\n"
                                         "\"gemm\": \"openblas\",\n\"gemm\": \"openblas\",\n");
}

TEST(auto_asks_for_avx512)
{
#if defined(__x86_64__) && defined(__GLIBC__)
    const bool both = shell_run("ls \"$PEAT_BUILD\"/lib*/peat/*/gemm/onednn.so") == 0;
    shell_says(0, "matrix products by openblas (auto)",
               "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F peat --version");
    shell_says(0, "vectors for the baseline",
               "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2 peat --version");
    if (both && shell_run("grep -qw avx512vl /proc/cpuinfo") == 0)
        shell_says(0, "matrix products by onednn (auto), openblas", "peat --version");
#endif
}

TEST(the_first_directory_that_has_a_name_wins)
{
    plant("openblas", "-DNAME='\"openblas\"'");
    shell_expect(0, PLAIN "peat run e.yaml run.gemm=openblas -o r");
    shell_says(0, "plain loops 1", "cat r/cells/*/meta.json");
}

/* The losses that training in bf16 ends with, with a provider that is built with these options. */
static void train_rounded(const char *options, char *losses, size_t n)
{
    plant("plain", options);
    shell_expect(0,
                 PLAIN "peat run e.yaml run.gemm=plain train.precision=bf16 'eval.lengths=[11]' "
                       "eval.tokens=256 -o \"$PWD/r%s\"",
                 options);
    shell_expect(0, "grep -h '\"loss\"' \"$PWD/r%s\"/cells/*/metrics.jsonl", options);
    snprintf(losses, n, "%s", shell.printed.text);
}

/* Biases come after the sums here, in double precision: the same bits by either way. */
TEST(a_provider_is_given_biases_only_where_it_says_that_it_adds_them)
{
    char without[2048], old[2048], adding[2048], wrong[2048];
    train_rounded("-DBF16", without, sizeof(without));
    train_rounded("-DBF16_OLD", old, sizeof(old));
    train_rounded("-DBF16 -DADDS_BIAS", adding, sizeof(adding));
    train_rounded("-DBF16 -DADDS_BIAS -DCRIME_bias", wrong, sizeof(wrong));
    ck_assert_str_eq(without, old);
    ck_assert_str_eq(without, adding);
    ck_assert_str_ne(without, wrong);
}

static const struct {
    const char *options, *said;
} crimes[] = {
    {"-DCRIME_no_entry", "is not a provider of matrix products: it has no peat_gemm_entry"},
    {"-DCRIME_magic", "peat_gemm_entry returned no descriptor"},
    {"-DCRIME_abi", "it was built for another version of peat/gemm.h"},
    {"-DCRIME_size", "has another size than in this peat/gemm.h"},
    {"-DNAME='\"other\"'", "its name is not that of its file"},
    {"-DCRIME_no_identify", "lacks summary, licence, start, identify or multiply"},
    {"-DCRIME_no_start", "gemm 'plain': the moon is not full"},
    {"-DCRIME_rest", "gemm 'plain' leaves some products to 'nobody': there is no provider"},
    {"-Wl,--no-as-needed -L. -lgone", "libgone.so: cannot open shared object"},
#if defined(__SSE__)
    {"-DCRIME_flush_to_zero", "was linked with -ffast-math"},
#endif
};
enum { CRIMES = sizeof(crimes) / sizeof(crimes[0]) };

LOOP_TEST(what_is_wrong_with_a_provider_is_said_before_anything_is_trained, CRIMES)
{
    const char *said = crimes[_i].said;
    shell_expect(0, "echo 'int gone;' > g.c && ${CC:-cc} -shared -fPIC g.c -o libgone.so");
    plant("plain", crimes[_i].options);
    shell_says(2, said, "rm -f libgone.so; " PLAIN "peat bench step --gemm plain --steps 1");
    shell_expect(1, PLAIN "peat run e.yaml run.gemm=plain -o bad");
    shell_says(0, said, "cat bad/cells/*/log.txt");
    shell_expect(2, "ls bad/cells/*/metrics.jsonl");
}

TEST(a_file_that_is_no_object_is_refused)
{
    shell_expect(0, "echo text > plugins/gemm/plain.so");
    shell_says(2, "gemm/plain.so' is not a shared object",
               PLAIN "peat bench step --gemm plain --steps 1");
    shell_expect(0, "rm plugins/gemm/plain.so; mkfifo plugins/gemm/plain.so");
    shell_says(2, "gemm/plain.so' is a named pipe",
               PLAIN "timeout 60 peat bench step --gemm plain --steps 1");
}

GROUP(trained)

/* Loading OpenBLAS under this limit never ends. A verb may refuse its words here, as long as it
 * answers: what they do is tested elsewhere. */
LOOP_TEST(a_verb_that_trains_nothing_answers_where_no_library_can_be_loaded, VERBS)
{
#ifndef PEAT_SANITIZED
    shell_run("(ulimit -v 300000; timeout 60 peat %s) >out 2>&1; echo $?", verbs[_i]);
    int code = atoi(shell.printed.text);
    ck_assert_msg(code == 0 || code == 2, "peat %s: %s", verbs[_i], shell.printed.text);
    shell_run("cat out");
    ck_assert_msg(!strstr(shell.printed.text, "addresses"), "%s", shell.printed.text);
#endif
}

/* Nor does a process that it starts: the dynamic linker writes a file for each. */
LOOP_TEST(a_verb_that_multiplies_nothing_loads_no_large_library, VERBS - PLANNING)
{
    shell_run("mkdir -p seen; LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/seen/to peat %s", verbs[_i]);
    shell_expect(0, "grep -l 'libc.so' seen/* | grep -q .");
    shell_expect(1, "grep -m 3 -hE '" LARGE "' seen/*");
}

TEST(a_verb_that_multiplies_loads_them)
{
    shell_run("mkdir seen; LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/seen/to peat inspect alibi "
              "--d 16 --T 4");
    shell_expect(0, "grep -hE 'libopenblas' seen/* | grep -q .");
}

/* Where it was built with the version that is loaded. */
TEST(a_result_names_the_library_as_the_version_does)
{
    shell_expect(0, "peat --version | sed -n 's/^  [a-z]*: built with //p' | tee said");
    shell_expect(0, "grep -q . said && while read -r library; do cat r/cells/*/meta.json | "
                    "grep -F \"$library\" || exit 1; done <said");
}

int main(void)
{
    const struct tests empty = {"providers", open_empty, shell_close, .seconds = 120,
                                .needs = "PEAT"};
    struct tests trained = empty;
    trained.open = open_run;
    trained.once = true;
    trained.group = "trained";
    return run_tests(empty) | run_tests(trained);
}

/* SPDX-License-Identifier: MIT */
/* test_objects.c: what the built plugins export, link to and own, as binutils print it. */
#include "support/shell.h"
#include "support/support.h"

/* Each rule prints the offences of the file $f. AddressSanitizer marks each exported variable. */
#define EXPORTS_ALONE(entry)                                                                       \
    "all=$(nm -D --defined-only $f | awk '{print $NF}' | grep -v '^__odr_asan[.]'); "              \
    "[ \"$all\" = " entry " ] || echo exports: $all"

#define LINKS_TO "objdump -p $f | awk '$1 == \"NEEDED\" {print $2}' | "

#ifdef PEAT_SANITIZED
#define SANITIZERS "|lib(asan|ubsan|tsan|gcc_s|clang_rt)[.]"
#else
#define SANITIZERS ""
#endif
static const char links_to_libc_and_libm_alone[] =
    LINKS_TO "grep -vE '^lib(c|m)[.]so[.]" SANITIZERS "'";
/* Those are loaded where they are used. */
static const char links_to_no_large_library[] =
    LINKS_TO "grep -E 'blas|lapack|dnnl|mkl|blis|gfortran'";

/* Data that can change at run time, but for the compiler's own. */
static const char owns_no_globals[] =
    "objdump -t $f | awk '/ [.]t?(data|bss)\\t/ && $NF !~ /^[.]/ {print $NF}' | "
    "grep -vE '^(completed[.].*|__dso_handle|__TMC_END__|__cpu_model|__cpu_features2|__data_start|"
    "data_start|_edata|_end|__bss_start)$'";

/* Over all objects that were built in these folders. */
static void hold_for(const char *folders, const char *rule)
{
    shell_expect(0,
                 "for f in $(find \"$PEAT_BUILD\"/lib* -name '*.so' | "
                 "grep -E '/peat/plugins-[^/]*/(%s)/'); do built=1; "
                 "said=$(%s); [ -z \"$said\" ] || { echo $f: $said; bad=1; }; done; "
                 "[ -n \"$built\" ] && [ -z \"$bad\" ]",
                 folders, rule);
}

TEST(plugins_export_peat_entry_alone)
{
    hold_for("scheme|combine|task", EXPORTS_ALONE("peat_entry"));
}

TEST(plugins_link_to_libc_and_libm_alone)
{
    hold_for("scheme|combine|task", links_to_libc_and_libm_alone);
}

TEST(plugins_own_no_globals)
{
#ifndef PEAT_SANITIZED /* sanitizers keep variables of their own */
    hold_for("scheme|combine|task", owns_no_globals);
#endif
}

TEST(providers_export_one_symbol)
{
    hold_for("gemm", EXPORTS_ALONE("peat_gemm_entry"));
}

/* Functions of the object file $f that add or multiply floats one by one, and never 8 at once. */
#define SCALAR_FUNCTIONS                                                                           \
    "objdump -d $f | awk 'function end() { if (single && !vector) print name } "                   \
    "/^[0-9a-f]+ </ { end(); name = $2; single = vector = 0 } "                                    \
    "/\tv(fn?m)?(add|sub|mul|div)[0-9]*ss / { single = 1 } "                                       \
    "/\tv(fn?m)?(add|sub|mul|div)[0-9]*ps .*ymm/ { vector = 1 } END { end() }'"

/* A compiler that finds no vectors for them makes training of small models take twice as long. */
TEST(exp_and_its_relatives_are_compiled_to_vectors)
{
#if defined(NDEBUG) && PEAT_VECTOR_LEVELS
    const char *rows = "tensor_v3_f32.dir/tensor/rows/vecmath_rows.c";
    shell_expect(0,
                 "f=$(find \"$PEAT_BUILD\"/core -path '*%s.o') && [ -e \"$f\" ] && said=$(%s) "
                 "&& [ -z \"$said\" ] || { echo \"$f: $said\"; exit 1; }",
                 rows, SCALAR_FUNCTIONS);
    shell_says(0, "<one>",
               "echo 'float one(float a, float b) { return a * b + b; }' >one.c; "
               "gcc -O3 -mavx2 -mfma -c one.c && f=one.o && %s",
               SCALAR_FUNCTIONS);
#endif
}

/* What links to them breaks the rule, so it notices. */
TEST(the_program_links_to_no_large_library)
{
    shell_expect(1, "f=\"$PEAT\"; %s", links_to_no_large_library);
    shell_expect(0,
                 "for f in $(find \"$PEAT_BUILD\"/lib* -path '*/gemm/*.so'); do %s; done | grep .",
                 links_to_no_large_library);
}

/* This test's own executable breaks all three rules. */
TEST(the_rules_notice_an_offence)
{
    static int variable;
    ck_assert_int_eq(variable++, 0);
    shell_says(0, "exports:", "f=/proc/$PPID/exe; %s", EXPORTS_ALONE("peat_entry"));
    shell_expect(0, "f=/proc/$PPID/exe; %s", links_to_libc_and_libm_alone);
    shell_says(0, "variable", "f=/proc/$PPID/exe; %s", owns_no_globals);
}

int main(void)
{
    return run_tests((struct tests){"objects", shell_open, shell_close, .seconds = 60,
                                    .needs = "PEAT_BUILD PEAT nm objdump gcc"});
}

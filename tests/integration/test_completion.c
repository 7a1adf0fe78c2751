/* SPDX-License-Identifier: MIT */
/* test_completion.c: what bash, zsh and fish make of a line that is begun. */

#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

static struct run_maker m;

/* The run `twice` in runs/, and files to complete. */
static void open_runs(void)
{
    shell_open();
    run_maker_open(&m, "twice");
    run_maker_done(&m, "rotary", "-", 0, 2.5, 2.6);
    run_maker_done(&m, "learned", "sum", 0, 2.7, 2.9);
    run_maker_done(&m, "$(touch crime)", "sum", 0, 2.7, 2.9);
    run_maker_finish(&m);
    shell_expect(0,
                 "mkdir runs man1 && touch man1/peat-run.1 x.yaml corpus.txt && "
                 "cp -r %s runs/twice",
                 m.dir);
}

static void close_runs(void)
{
    run_maker_close(&m);
    shell_close();
}

/* A line, and the words that its last one may become. */
static const struct {
    const char *line, *offered;
} lines[] = {
    {"ru", "run runs"},
    {"plugins li", "list"},
    {"help plugins ch", "check"},
    {"run --launch", "--launcher"},
    {"results --format c", "csv"},
    {"results --format=c", "--format=csv"},
    {"results twice --part=c", "--part=contrasts --part=claims"},
    {"bench s", "step"},
    {"run man1/peat-ru", "man1/peat-run.1"},
    {"results --cols a -o ma", "man1"},
    {"run no-such-file --threads 1", ""},
    {"nonsense x", ""},
    /* runs, their cells, rows and axes */
    {"results tw", "twice"},
    {"results twice tw", "twice"},
    {"compare ma", "man1"},
    {"run x.yaml -o tw", ""},
    {"logs twice ro", "rotary.-.s0"},
    {"inspect runs/twice le", "learned.sum.s0"},
    {"cell twice rotary.-.s0 le", "learned.sum.s0"},
    {"run twice --only le", "learned.sum.s0"},
    {"compare twice ro", "rotary.-"},
    {"compare twice rotary.- le", "learned.sum"},
    {"report twice -b le", "learned.sum"},
    {"results twice --rows s", "scheme"},
    {"results twice --cols scheme,c", "scheme,combine"},
    {"results twice --metric b", "bpb"},
    {"logs nosuch ro", ""},
    {"logs twice ", "rotary.-.s0 learned.sum.s0"},
    /* plugins */
    {"plugins info sinu", "sinusoidal"},
    {"plugins check concat_sp", "concat_split"},
    {"inspect sinu", "sinusoidal"},
    {"bench step --gemm op", "openblas"},
    /* tables of the program */
    {"diagnose twice 0 --only su", "subspaces support"},
    {"diagnose twice 0 --only logits,pr", "logits,probes"},
    {"results twice --columns=bpb,p_h", "--columns=bpb,p_holm"},
    {"plugins check rotary --only caus", "causality"},
    /* settings */
    {"run x.yaml train.wei", "train.weight_decay="},
    {"run x.yaml seeds=1 run.checkpoint.e", "run.checkpoint.every="},
    {"run x.yaml report.base", "report.baseline="},
    {"plan x.yaml train.schedule=w", "train.schedule=wsd"},
    {"plan x.yaml position.scheme=sinu", "position.scheme=sinusoidal"},
    {"run x.yaml task.path=corp", "task.path=corpus.txt"},
    {"verify twice task.path=corp", "task.path=corpus.txt"},
};
enum { LINES = sizeof(lines) / sizeof(*lines) };

/* Fails unless the last command printed the words, each on a line, in any order; a directory may
 * end in '/'. Where `cut`, bash's words begin behind the '='. */
static void assert_words(const char *words, bool cut)
{
    char list[256], printed[4096];
    snprintf(list, sizeof(list), "%s", words);
    snprintf(printed, sizeof(printed), "\n%s", shell.printed.text);
    size_t n = 0;
    for (char *rest = list, *word; (word = strtok_r(rest, " ", &rest)); n++) {
        char line[256];
        const char *equals = cut ? strchr(word, '=') : NULL;
        snprintf(line, sizeof(line), "\n%s", equals && equals[1] ? equals + 1 : word);
        const char *at = strstr(printed, line);
        ck_assert_msg(at && strchr("/\n", at[strlen(line)]), "no '%s' among:%s", word, printed);
    }
    for (const char *at = printed + 1; *at; at++)
        n -= *at == '\n';
    ck_assert_msg(n == 0, "not only '%s':%s", words, printed);
}

LOOP_TEST(bash_offers_what_fits, LINES)
{
    shell_write("try.bash",
                "shopt -s extglob; . \"$PEAT_SOURCE\"/core/cli/completion.bash\n"
                "line=${1//=/ = }; line=${line/% = / =}\n"
                "IFS=' ' read -ra COMP_WORDS <<<\"$line\"; "
                "[ \"${line% }\" = \"$line\" ] || COMP_WORDS+=(''); "
                "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                "_peat; [ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' \"${COMPREPLY[@]}\"");
    shell_expect(0, "bash try.bash 'peat %s'", lines[_i].line);
    assert_words(lines[_i].offered, true);
    ck_assert(!shell_has("crime"));
}

LOOP_TEST(fish_offers_what_fits, LINES)
{
    shell_expect(0,
                 "HOME=$PWD fish --no-config -c '. $PEAT_SOURCE/core/cli/completion.fish; "
                 "complete -C \"peat %s\"' | cut -f 1",
                 lines[_i].line);
    assert_words(lines[_i].offered, false);
}

/* A terminal of its own, in which ^T writes the line as it stands into a file. */
static const char in_terminal[] =
    "zmodload zsh/zpty; zpty -b term zsh -f -i\n"
    "zpty -w term 'PS1=; fpath=($PWD/site $fpath); autoload -Uz compinit; compinit -u -D; "
    "keep() { print -r -- \"$BUFFER\" >>kept; BUFFER= }; zle -N keep; bindkey ^T keep; : >kept'\n"
    "wait_for() { repeat 1200; do zpty -rt term junk; [[ -e kept ]] && "
    "(( $(wc -l <kept) == $1 )) && return; sleep 0.05; done; exit 1 }\n"
    "wait_for 0; n=0\n"
    "while IFS= read -r line; do zpty -wn term \"peat $line\"$'\\t\\C-t'; wait_for $((++n)); done\n"
    "zpty -d term; cat kept";

/* A line that may go on in several ways is left as it is, as far as they agree. */
TEST(zsh_completes_what_fits)
{
    struct strbuf typed, expected;
    strbuf_init(&typed);
    strbuf_init(&expected);
    for (int i = 0; i < LINES; i++) {
        const char *line = lines[i].line, *offered = lines[i].offered;
        if (strchr(offered, ' ') || !*offered)
            continue;
        bool open = offered[strlen(offered) - 1] == '=';
        strbuf_addf(&typed, "%s\n", line);
        strbuf_addf(&expected, "peat %.*s%s%s\n",
                    (int)(strrchr(line, ' ') ? strrchr(line, ' ') - line + 1 : 0), line, offered,
                    !strcmp(offered, "man1") ? "/"
                    : open                   ? ""
                                             : " ");
    }
    shell_write("lines", typed.text);
    shell_write("try.zsh", in_terminal);
    shell_expect(0, "mkdir site && cp \"$PEAT_SOURCE\"/core/cli/completion.zsh site/_peat && "
                    "HOME=$PWD zsh -f try.zsh <lines");
    ck_assert_str_eq(shell.printed.text, expected.text);
    strbuf_release(&typed);
    strbuf_release(&expected);
}

int main(void)
{
    return run_tests((struct tests){.subject = "completion",
                                    .open = open_runs,
                                    .close = close_runs,
                                    .seconds = 120,
                                    .needs = "PEAT bash zsh fish"});
}

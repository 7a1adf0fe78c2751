/* SPDX-License-Identifier: MIT */
/* test_tokenize.c: pieces of words, from texts to a table, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

/* What the ids of a folder say, byte for byte: one piece after another. */
static const char decode[] =
    "import re, sys\n"
    "folder = sys.argv[1]\n"
    "piece = {}\n"
    "for line in open(folder + '/pieces.tsv', 'rb').read().split(b'\\n'):\n"
    "    if line and not line.startswith(b'#'):\n"
    "        number, size, text = line.split(b'\\t')\n"
    "        text = re.sub(rb'\\\\x(..)', lambda m: bytes([int(m[1], 16)]), text)\n"
    "        assert len(text) == int(size) or number == b'0', line\n"
    "        piece[int(number)] = text\n"
    "raw = open(folder + '/ids.npy', 'rb').read()\n"
    "width = int(raw[raw.index(b'<u') + 2:][:1])\n"
    "ids = [int.from_bytes(raw[i:i + width], 'little') for i in range(128, len(raw), width)]\n"
    "assert b'(%d,)' % len(ids) in raw[:128]\n"
    "sys.stdout.buffer.write(b''.join(piece[i] for i in ids))\n";

/* Ends of lines of all kinds, spaces, the sign that denotes a space, names of special pieces,
 * characters of 1 to 4 bytes and of many code points, no newline at the end. */
static const char odd[] =
    "# -*- coding: utf-8 -*-\n"
    "part = 'Hello  world\\r\\n\\ttab two\\r\\n\\n   three   spaces  \\n\\u2581lower\\u2581one "
    "\\u2581\\n'\n"
    "part += '<s> <unk> </s> <0x41> <0x0A> \\\\x41 # \\\\ \\n\\ufeff e\\u0301 \\ufb01 \\uff41 "
    "\\u2047 \\r'\n"
    "part += '\\U0001f600 \\U0001f469\\u200d\\U0001f467 \\u2028 \\xa0 \\x0b \\x0c \\x85 \\x01 "
    "\\x7f'\n"
    "text = '\\ufeff' + part * 50 + 'a' * 70000 + '\\u20ac' * 30000 + '\\n\\n\\nno newline'\n"
    "open('odd.txt', 'wb').write(text.encode())\n"
    "open('crlf.txt', 'wb').write(b'one line\\r\\n' * 40)\n";

static void open_texts(void)
{
    shell_open();
    shell_write("decode.py", decode);
    shell_write("odd.py", odd);
    shell_expect(0, "python3 odd.py && cp $PEAT_SOURCE/experiments/data/genesis.txt g.txt");
}

TEST(ids_say_the_text_byte_for_byte)
{
    static const char *const model[] = {"unigram", "bpe"};
    shell_write("hashlib.py", "raise SystemExit('a module of the current folder')\n");
    for (int i = 0; i < 2; i++) {
        shell_expect(0,
                     "rm -rf d && peat tokenize odd.txt g.txt crlf.txt --vocab 420 --model %s -o d",
                     model[i]);
        shell_expect(0, "cat odd.txt g.txt crlf.txt >all && python3 decode.py d | cmp - all");
        shell_expect(0, "ls d | tr '\\n' ' ' | grep -x 'ids.npy pieces.tsv sentencepiece.model '");
    }
    shell_says(0, "pieces are 400 bytes of text", "peat tokenize crlf.txt --vocab 265 -o e");
    shell_expect(0, "python3 decode.py e | cmp - crlf.txt");
}

TEST(pieces_are_the_same_bits_at_any_number_of_processors)
{
    shell_expect(0, "peat tokenize g.txt --vocab 600 -o two/");
    shell_expect(0, "taskset -c $(taskset -cp $$ | sed 's/.*: *\\([0-9]*\\).*/\\1/') "
                    "peat tokenize g.txt --vocab 600 -o one");
    shell_expect(0, "diff -r one two");
    shell_expect(0, "peat tokenize g.txt --vocab 600 --learn-mib 1 -o three && diff -r one three");
}

TEST(a_mistake_is_one_line_and_leaves_no_folder)
{
    static const struct {
        const char *said, *command;
    } mistake[] = {
        {"'bad.txt' is not UTF-8 at byte 196819", "peat tokenize g.txt bad.txt --vocab 600 -o d"},
        {"'nul.txt' is not text: byte 2 is 0", "peat tokenize nul.txt --vocab 600 -o d"},
        {"'none.txt'", "peat tokenize none.txt --vocab 600 -o d"},
        {"'empty.txt' is empty", "peat tokenize empty.txt --vocab 600 -o d"},
        {"--vocab 90000 is too large: at most ", "peat tokenize g.txt --vocab 90000 -o d"},
        {"--vocab 260 is too small: ", "peat tokenize g.txt --vocab 260 -o d"},
        {"name the folder to write: -o DIR", "peat tokenize g.txt --vocab 600"},
        {"how many pieces? give --vocab N", "peat tokenize g.txt -o d"},
        {"'there' exists already", "peat tokenize g.txt --vocab 600 -o there"},
        {"spm_train is not installed, which pieces of words need (Debian: apt-get install "
         "sentencepiece)",
         "PATH=$PWD/python:$(dirname $(command -v peat)) peat tokenize g.txt --vocab 600 -o d"},
        {"peat tokenize needs python3, which is not installed (Debian: python3; PEAT_PYTHON names "
         "another interpreter)",
         "PEAT_PYTHON= PATH=$(dirname $(command -v peat)) peat tokenize g.txt --vocab 600 -o d"},
        {"peat tokenize needs 'none', which PEAT_PYTHON names and is not there",
         "PEAT_PYTHON=none peat tokenize g.txt --vocab 600 -o d"},
        {"/peat/tokenize.py', which is not there (Debian: apt-get install python3-peat)",
         "lone/bin/peat tokenize g.txt --vocab 600 -o d"},
    };
    shell_expect(0, "mkdir -p there python lone/bin && cp $(command -v peat) lone/bin && "
                    "ln -s $(python3 -c 'import sys; print(sys.executable)') python/python3 && { "
                    "cat g.txt; printf 'a\\377'; } >bad.txt && "
                    "printf 'ab\\0c' >nul.txt && : >empty.txt");
    for (size_t i = 0; i < sizeof(mistake) / sizeof(*mistake); i++) {
        shell_says(2, mistake[i].said, "%s", mistake[i].command);
        shell_expect(0, "[ ! -e d ] && [ -z \"$(ls -d d.tmp* 2>/dev/null)\" ]");
    }
}

TEST(stop_leaves_no_folder_and_no_process)
{
    shell_expect(0, "for i in $(seq 60); do cat g.txt; done >large.txt");
    shell_expect(130, INTERRUPTED("peat tokenize large.txt --vocab 8000 --learn-mib 64 -o d",
                                  ANY("d.tmp*/said")));
    shell_expect(0, "[ ! -e d ] && [ -z \"$(ls -d d.tmp* 2>/dev/null)\" ]");
}

/* Bytes and pieces in one grid; bits per byte of the pieces are those of their bytes. */
static void write_experiment(const char *train)
{
    struct strbuf text = STRBUF_NEW;
    strbuf_addf(&text,
                "version: 2\nname: x\n"
                "defaults:\n"
                "  model: {d_model: 32, n_layer: 2, n_head: 2, tie_embeddings: true}\n"
                "  train: {batch: 4, seq_len: 32, %s}\n"
                "  position: {scheme: rotary}\n"
                "matrix:\n"
                "  task: [{plugin: text, path: g.txt}, {plugin: tokens, path: d}]\n"
                "seeds: 1\n"
                "report: {metric: bpb}\n"
                "run: {checkpoint: {every: 50}}\n",
                train);
    shell_write("x.yaml", text.text);
    strbuf_release(&text);
}

TEST(pieces_and_bytes_are_in_one_table)
{
    write_experiment("steps: 30");
    shell_expect(0, "peat tokenize g.txt --vocab 600 -o d");
    shell_says(0, ".tokens-path=d.s0: 'In the beginning God ", "peat plan x.yaml");
    shell_expect(0, "peat run x.yaml -o run");
    assert_printed("x: bpb on the test part (lower is better)");
    assert_printed("tokens(path=d)");
    shell_says(0, "0 problems", "peat verify run");
    shell_expect(0, "printf 'x' >>d/pieces.tsv");
    shell_says(1, "differs from the file that it was made with", "peat verify run");
}

/* The parameter is younger than cells that were trained without it. */
TEST(test_path_is_of_the_identity_where_it_is_given)
{
    static const char plan[] = "peat plan x.yaml eval.test=0.5 'task=[{plugin: tokens, path: "
                               "g.bin%s}]' --ids >%s";
    write_experiment("steps: 4");
    shell_expect(0, "{ head -c 2 /dev/zero; head -c 20000 g.txt; } >g.bin && "
                    "{ head -c 2 /dev/zero; head -c 4000 g.txt; } >t.bin");
    shell_expect(0, plan, "", "without");
    shell_expect(0, plan, ", test_path: []", "empty");
    shell_expect(0, plan, ", test_path: t.bin", "given");
    shell_expect(0, "[ \"$(sed 's/.*-//' without)\" = \"$(sed 's/.*-//' empty)\" ]");
    shell_expect(0, "[ \"$(sed 's/.*-//' without)\" != \"$(sed 's/.*-//' given)\" ]");
}

/* What a model of 2 million parameters does in minutes, in small: bf16, where this machine has it,
 * killed, resumed. */
TEST(killed_cell_of_pieces_resumes_to_the_same_bits)
{
    write_experiment("steps: 400");
    shell_expect(0, "peat tokenize g.txt --vocab 600 -o d");
    const char *word = shell_run("peat plan x.yaml train.precision=bf16") == 0
                           ? "train.precision=bf16"
                           : "train.precision=fp32";
    shell_expect(0, "peat run x.yaml %s -o whole --only '*tokens*'", word);
    shell_expect(
        137, "peat run x.yaml %s -o cut --only '*tokens*' & pid=$!; %s; kill -KILL $pid; wait $pid",
        word, UNTIL(ANY("cut/cells/*/ckpt/step-*")));
    shell_expect(0, "sleep 0.5; peat run x.yaml %s -o cut --only '*tokens*'", word);
    shell_says(0, "continues from step", "cat cut/cells/*/log.txt");
    shell_expect(0, "cmp whole/cells/*/metrics.jsonl cut/cells/*/metrics.jsonl");
    shell_expect(0, "cmp whole/cells/*/ckpt/*/model.safetensors "
                    "cut/cells/*/ckpt/*/model.safetensors");
    shell_expect(0, "grep -q '\"metric\":\"bpb\"' cut/cells/*/metrics.jsonl || "
                    "grep -q '\"metric\": *\"bpb\"' cut/cells/*/metrics.jsonl");
}

int main(void)
{
    return run_tests((struct tests){"tokenize", open_texts, shell_close, .seconds = 60,
                                    .needs = "PEAT_SOURCE python3 spm_train"});
}

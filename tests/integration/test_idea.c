/* SPDX-License-Identifier: MIT */
/*
 * test_idea.c: a scheme that is Python alone, for run.engine: torch, and formulas that fail.
 * Skipped where PyTorch is not installed.
 */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 2\n"
    "name: idea\n"
    "defaults:\n"
    "  task: {plugin: copy, symbols: 8}\n"
    "  model: {d_model: 16, n_layer: 2, n_head: 2, d_ff: 24}\n"
    "  train: {steps: 10, batch: 8, seq_len: 24, lr: 1e-2}\n"
    "  eval: {lengths: [8], tokens: 200}\n"
    "matrix:\n"
    "  position.scheme: [none, rotary, ./idea.py, {plugin: ./idea.py, kind: log, "
    "where: {heads: [1, 1]}}]\n"
    "seeds: 1\n"
    "report: {metric: loss}\n";

static const char idea[] =
    "parameters = {'start': (0.1, 0, 10, 'first slope of every head'),\n"
    "              'kind': ('root', ['root', 'log'], 'how logits fall with distance')}\n"
    "\n"
    "def tensors(H, start):\n"
    "    return {'slope': ((H, 1), start)}\n"
    "\n"
    "def bias_rel(delta, slope, kind):\n"
    "    far = delta.abs().to(slope.dtype)\n"
    "    return -slope * (far.sqrt() if kind == 'root' else far.log1p())\n";

static void write_idea(void)
{
    shell_write("idea.yaml", experiment);
    shell_write("idea.py", idea);
}

/* The reason of each cell that fails; the grid goes on. */
TEST(a_formula_that_fails_is_named_with_its_line)
{
    static const struct {
        const char *name, *text, *why;
    } wrong[] = {
        {"raises", "def bias_rel(delta, H):\n    return delta.sqrrt()\n",
         "bias_rel, layer 0: AttributeError: 'Tensor' object has no attribute 'sqrrt' (delta ["},
        {"narrow", "def qkv(q, k):\n    return q[..., 1:], k[..., 2:]\n",
         "/narrow.py:1: qkv, layer 0 returned q of width 7 and k of width 6"},
        {"short", "\ndef bias_rel(delta, H):\n    return -delta[1:].abs()[None]\n",
         "/short.py:2: bias_rel, layer 0 returned a tensor [1, 42], not [1|2, 43]"},
        {"number", "def bias_rel(delta):\n    return 0.5\n",
         "/number.py:1: bias_rel, layer 0 returned a float, not a tensor"},
        {"double", "def context(o):\n    return o.double()\n",
         "/double.py:1: context, layer 0 returned float64, not float32, as o has"},
        {"away", "def bias_rel(delta):\n    return delta.abs()[None].to('meta')\n",
         "/away.py:1: bias_rel, layer 0 returned a tensor on meta, and its arguments are on cpu"},
        {"cut",
         "def tensors():\n    return {'slope': ((1,), 1)}\ndef bias_rel(delta, slope):\n"
         "    return -slope.detach() * delta.abs()[None].to(slope.dtype)\n",
         "no gradient reaches 'position.0.cut.slope'"},
    };
    const int n = sizeof(wrong) / sizeof(*wrong);
    char list[200] = "none";
    write_idea();
    for (int i = 0; i < n; i++) {
        char file[40];
        snprintf(file, sizeof(file), "%s.py", wrong[i].name);
        shell_write(file, wrong[i].text);
        snprintf(list + strlen(list), sizeof(list) - strlen(list), ", ./%s", file);
    }
    shell_expect(1, "peat run idea.yaml -o r -j 2 run.engine=torch 'position.scheme=[%s]'", list);
    for (int i = 0; i < n; i++)
        assert_printed(wrong[i].why);
    assert_printed("8 cells: 1 done, 7 failed");
}

TEST(an_idea_in_python_alone_stands_beside_other_schemes)
{
    write_idea();
    shell_says(2,
               "idea.py' is Python alone: run.engine: torch computes it, and peat's own engine "
               "needs a twin in C, which 'peat plugins new --from /",
               "peat run idea.yaml -o r");
    shell_says(0, "\nidea(kind=log,where={heads=[1,1]})",
               "peat run idea.yaml -o r run.engine=torch -j 2");
    assert_printed("4 cells: 4 done");
    shell_says(0, "4 cells, 4 finished, 0 problems", "peat verify r");
    shell_says(2, "idea.py' is Python alone, which PyTorch computes: for numbers of this program ",
               "peat export r idea.-.s0 --batch -o batch.safetensors");
    /* Its content is a part of the cell's identity. */
    shell_expect(0, "ls r/cells | sort > was; echo '# another' >> idea.py; "
                    "peat plan idea.yaml run.engine=torch --ids | sort > is; "
                    "test $(comm -12 was is | wc -l) = 2");
}

/* ---- the twin in C ---- */

/* Cells of every kind with X, a plugin that is Python alone or its twin. */
static const char kinds[] =
    "version: 2\n"
    "name: kinds\n"
    "defaults:\n"
    "  task: {plugin: copy, symbols: 8}\n"
    "  model: {d_model: 16, n_layer: 2, n_head: 2, d_ff: 24}\n"
    "  train: {steps: 6, batch: 8, seq_len: 24, lr: 1e-2}\n"
    "  eval: {lengths: [8, 11], tokens: 200}\n"
    "  position: {scheme: X, combine: sum}\n"
    "matrix:\n"
    "  kind:\n"
    "    plain: {}\n"
    "    heads: {position.scheme: {plugin: X, kind: log, share: layer, where: {heads: [1, 1], "
    "layers: [1]}}}\n"
    "    list: {position.scheme: [learned, X, {plugin: rotary, where: {heads: [0, 0]}}]}\n"
    "    two: {model.arch: seq2seq, position.scheme: {plugin: X, where: {across: true}}}\n"
    "    pair: {task: {plugin: text_pair, path: text.txt}, model: {arch: encoder, head: both, "
    "cls_position: own}, eval.lengths: [15]}\n"
    "    joined: {position: {scheme: [learned, X], combine: Y}}\n"
    "match: {by: params, to: {kind: pair}, adjust: model.d_ff, tolerance: 0.05}\n"
    "seeds: 1\n"
    "report: {metric: loss}\n";

static const char join[] =
    "'''y = [x; p] M + b'''\n"
    "parameters = {'part': (4, 1, 64, 'width of the positions')}\n"
    "def widths(streams, D, part):\n"
    "    return [D, *[part for s in streams[1:]]]\n"
    "def tensors(D, widths):\n"
    "    return {'matrix': ((D, sum(widths)), (0, 1 / math.sqrt(sum(widths)))), 'shift': ((D,), "
    "0)}\n"
    "def merge(x, matrix, shift):\n"
    "    import torch\n"
    "    return torch.cat([s.expand(len(x[0]), -1, -1) for s in x], -1) @ matrix.T + shift\n";

/* What remains to be written in the skeletons. */
static const char write_hooks[] =
    "def put(name, was, now):\n"
    "    text = open(name).read()\n"
    "    assert text.count(was) == 1, text\n"
    "    open(name, 'w').write(text.replace(was, now))\n"
    "put('idea/idea.c', '    return zeros(c, 2, (int64_t[]){1, r->n});', '''\n"
    "    const struct config *k = c->config;\n"
    "    double *far = peat_scratch(c, r->n);\n"
    "    for (int64_t i = 0; far && i < r->n; i++)\n"
    "        far[i] = k->kind == KIND_ROOT ? sqrt(fabs(r->delta[i])) : log1p(fabs(r->delta[i]));\n"
    "    peat_node *f = peat_fill(c, 2, (int64_t[]){1, r->n}, far);\n"
    "    return peat_scale(c->g, peat_mul(c->g, peat_use(c, SLOPE), f), -1);''')\n"
    "put('join/join.c', '    return x[0];', '''\n"
    "    peat_node *s[16];\n"
    "    int64_t B = peat_shape_of(c->g, x[0]).dim[0];\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        peat_shape is = peat_shape_of(c->g, x[i]);\n"
    "        s[i] = peat_expand(c->g, x[i], 3, (int64_t[]){B, is.dim[1], is.dim[2]});\n"
    "    }\n"
    "    peat_node *y = peat_matmul(c->g, peat_concat(c->g, n, s, -1), peat_use(c, MATRIX), "
    "PEAT_TRANS_B);\n"
    "    return peat_add(c->g, y, peat_use(c, SHIFT));''')\n";

/* First weights, sizes and every value of results of two directories. */
static const char compare[] =
    "import glob, json\n"
    "def read(folder):\n"
    "    cells = json.load(open(folder + '/plan.json'))['cells']\n"
    "    result = lambda c: json.load(open(f'{folder}/cells/{c[\"id\"]}/result.json'))\n"
    "    return {c['label'].split('.')[0]: result(c) for c in cells}\n"
    "here, torch = read('here'), read('torch')\n"
    "assert sorted(here) == sorted(torch) and len(here) == 6, (sorted(here), sorted(torch))\n"
    "for kind, a in here.items():\n"
    "    b = torch[kind]\n"
    "    for k in ('init_hash', 'batch_hash', 'params', 'flops_per_token'):\n"
    "        assert a[k] == b[k], (kind, k, a[k], b[k])\n"
    "    for x, y in zip(a['measures'], b['measures'], strict=True):\n"
    "        u, v = x['value'], y['value']\n"
    "        assert u is v or abs(u - v) <= 2e-6 * max(1, abs(u)), (kind, x, y)\n";

TEST(a_twin_in_c_that_the_skeleton_began_agrees)
{
    write_idea();
    shell_write("join.py", join);
    shell_write("hooks.py", write_hooks);
    shell_write("compare.py", compare);
    shell_write("kinds.in", kinds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt; "
                    "sed 's#\\bX\\b#./idea.py#; s#\\bY\\b#./join.py#' kinds.in > torch.yaml; "
                    "sed 's#\\bX\\b#./idea/idea.so#; s#\\bY\\b#./join/join.so#' kinds.in > "
                    "here.yaml");
    shell_expect(0, "for f in idea join; do peat plugins new --from $f.py && "
                    "peat plugins build $f/$f.c && peat plugins check ./$f/$f.so --only abi || "
                    "exit 1; done");
    shell_says(1, "bias_rel at [0, 0] is 0, and the formula gives -",
               "peat plugins check ./idea/idea.so --only reference --reference idea.py");
    shell_expect(0, "/usr/bin/python3 hooks.py && for f in idea join; do peat plugins build "
                    "$f/$f.c && peat plugins check ./$f/$f.so --only reference --reference $f.py "
                    "|| exit 1; done");
    shell_expect(0, "sed 's/(0.1, 0, 10/(0.2, 0, 10/' idea.py > other.py; "
                    "sed 's/(H, 1), start/(H, 1), start + 1/' idea.py > start.py");
    shell_says(1, "parameter 'start': default is 0.1, and other.py has 0.2",
               "peat plugins check ./idea/idea.so --only reference --reference other.py");
    shell_says(1, "tensor 'slope': starts is 0.1, and start.py has 1.1",
               "peat plugins check ./idea/idea.so --only reference --reference start.py");
    shell_expect(0, "peat run here.yaml -o here -q -j 2 && "
                    "peat run torch.yaml -o torch -q -j 2 run.engine=torch && "
                    "/usr/bin/python3 compare.py");
    /* An evaluation and 20 steps in double precision. */
    shell_expect(0,
                 "cell=$(ls -d here/cells/*list*) && "
                 "peat export here ${cell##*/} --batch -o list.safetensors && "
                 "export PYTHONPATH=\"$PEAT_SOURCE/python\" && "
                 "/usr/bin/python3 -m peat.torch check list.safetensors && "
                 "peat plan here.yaml --write -o long match=null 'kind=[joined]' train.steps=20 && "
                 "/usr/bin/python3 -m peat.torch check long/cells/* --steps 20");
}

/* ---- mistakes ---- */

static void assert_idea_refused(const char *from, const char *to, const char *why)
{
    write_idea();
    shell_expect(0, "sed -i \"s/%s/%s/\" idea.py", from, to);
    shell_says(2, why, "peat plan idea.yaml run.engine=torch");
    assert_printed("idea.yaml:");
}

TEST(mistakes_in_an_idea_are_placed)
{
    assert_idea_refused("0.1, 0, 10", "0.1, 1, 10",
                        "/idea.py:1:24: parameter 'start' is (default, least, most, meaning)");
    assert_idea_refused("'kind': (", "'kind': max(", "/idea.py:2:23: parameters is a literal");
    assert_idea_refused("'kind': (", "'where': (", "/idea.py:2:15: a parameter's name is a word, ");
    assert_idea_refused("'kind': (", "'start': (", "/idea.py:2:15: parameter 'start' is declared");
    assert_idea_refused("(H, 1)", "(H, 1.5)", "/idea.py:4:1: tensor 'slope' is (shape, start)");
    assert_idea_refused("(H, 1)", "(H \\/\\/ 0, 1)", "/idea.py:5:1: tensors: ZeroDivisionError: ");
    assert_idea_refused("(H, start)", "(H, begin)",
                        "/idea.py:4:16: tensors asks for 'begin', which is not there; there are ");
    assert_idea_refused("(delta, slope", "(delta, slop",
                        "/idea.py:7:21: bias_rel asks for 'slop', which is not there; did you mean "
                        "'slope'?");
    assert_idea_refused("def bias_rel(", "def bias_rell(",
                        "/idea.py:1:1: there is no function with the name of a hook: positions, ");
    assert_idea_refused("def bias_rel(", "def bias_rel((", "/idea.py:7:14: ");
    assert_idea_refused("def bias_rel(delta", "def carry(x", "carry is set, but prepare is not");
    assert_idea_refused("^def tensors", "from math import pow as qkv\\ndef tensors",
                        "/idea.py:4:1: qkv is written in this file as a function: def qkv(...)");
    write_idea();
    shell_says(2, "idea.py' is its own formula: leave the key `formula` out",
               "peat plan idea.yaml run.engine=torch 'position.scheme=[{plugin: ./idea.py, "
               "formula: ./idea.py}]'");
    shell_says(2, "is a scheme, not a combine",
               "peat plan idea.yaml run.engine=torch position.combine=./idea.py");
    shell_says(2, "--from: 'idea.c' is not a plugin that is Python alone (.py)",
               "peat plugins new --from idea.c");
    shell_says(2, "idea.py' is a scheme", "peat plugins new --from idea.py --kind combine");
    shell_says(2, "cannot open 'none.py'", "peat plugins new --from none.py");
    shell_says(2, "did you mean 'start'?",
               "peat plan idea.yaml run.engine=torch 'position.scheme=[{plugin: ./idea.py, "
               "strat: 1}]'");
}

/* Each file breaks one promise, and `peat plugins check` says it; in one process. */
static const char planted[] =
    "import io, contextlib, sys\n"
    "sys.path.insert(0, sys.argv[1])\n"
    "from peat.torch import formulas, promises\n"
    "BIAS = 'def bias(q, k, pos, pos_k):\\n    return '\n"
    "SLOPE = \"def tensors(H):\\n    return {'slope': ((H, 1), 1)}\\n\"\n"
    "GOOD = 'import torch\\n' + SLOPE + '''\n"
    "def prepare(pos, H):\n"
    "    return [torch.zeros(1, 1, 1, 1, dtype=torch.float64, device=pos.device)]\n"
    "def carry(x, state, W):\n"
    "    return [state[0].to(x.dtype) + x[:, None, :, :1]]\n"
    "def context(o, state, slope):\n"
    "    return o * (1 + slope[:, :, None].tanh() * (1 + state[0].to(o.dtype)))\n"
    "def encode(pos, d):\n"
    "    return (pos[..., None] * torch.arange(d, device=pos.device)).sin()\n"
    "'''\n"
    "CASES = [\n"
    "    ('passed', 'gradients', GOOD, ''),\n"
    "    ('passed', 'padding', GOOD, ''),\n"
    "    ('passed', 'buffers', GOOD, ''),\n"
    "    ('failed', 'purity', BIAS + 'torch.rand_like(q[:, :1, :, :1])\\nimport torch\\n',\n"
    "     'the logits differ in two equal calls'),\n"
    "    ('failed', 'gradients', SLOPE + 'def bias_rel(delta, slope):\\n'\n"
    "     '    return -slope.detach() * delta.abs().to(slope.dtype)\\n', 'no gradient reaches "
    "it'),\n"
    "    ('failed', 'gradients', 'def qkv(q, k):\\n    return q + 0.5 * q.detach(), k\\n',\n"
    "     'token.weight['),\n"
    "    ('failed', 'finite', BIAS + '(pos_k[:, None, None, :] / pos[:, None, :, None])\\n',\n"
    "     'a logit at place'),\n"
    "    ('failed', 'causality', 'def residual(x):\\n    return x + x.flip(1)\\n',\n"
    "     'when the token at place'),\n"
    "    ('failed', 'prefix', 'def encode(pos, d, T):\\n'\n"
    "     '    y = (pos[..., None] / T).expand(-1, -1, d)\\n    return y.cumsum(-1).sin()\\n',\n"
    "     'tokens and their first'),\n"
    "    ('failed', 'batch', 'def residual(x):\\n    return x + x.mean(0, keepdim=True)\\n',\n"
    "     'between a row in a batch and the row alone'),\n"
    "    ('failed', 'padding', 'def residual(x):\\n    return x + x.mean(1, keepdim=True)\\n',\n"
    "     'padding'),\n"
    "    ('failed', 'packing', 'def residual(x):\\n    return x + x.cumsum(1)\\n',\n"
    "     'a document packed with another'),\n"
    "    ('failed', 'buffers', 'def residual(x):\\n    x.detach().mul_(1)\\n    return x\\n',\n"
    "     'residual writes to its argument x'),\n"
    "    ('failed', 'buffers', 'import torch\\ndef encode(pos, d, T):\\n'\n"
    "     '    return torch.zeros(1, T, d, dtype=torch.float64)\\n', ':3: torch.zeros makes'),\n"
    "    ('failed', 'precision', BIAS + '(1e6 + k[:, :, None, :, 0]) - 1e6\\n', 'double "
    "precision'),\n"
    "    ('failed', 'where', 'def qkv(q, k, L):\\n    assert q.shape[1] == L\\n    return q, "
    "k\\n',\n"
    "     'AssertionError'),\n"
    "    ('failed', 'parameters', 'parameters = {\"how\": (\"a\", [\"a\", \"b\"], \"how\")}\\n'\n"
    "     'def qkv(q, k, how):\\n    return (q, k) if how == \"a\" else (q, k, q[:1])\\n', ':2: "
    "qkv'),\n"
    "]\n"
    "bad = 0\n"
    "for end, check, text, why in CASES:\n"
    "    with open('planted.py', 'w') as f:\n"
    "        f.write(text)\n"
    "    formulas.load.cache_clear()\n"
    "    said = io.StringIO()\n"
    "    with contextlib.redirect_stdout(said):\n"
    "        code = promises.verb({'operands': ['planted.py'], 'only': check})\n"
    "    said = said.getvalue()\n"
    "    if not (code == (end == 'failed') and f'  {end}   {check}' in said and why in said):\n"
    "        bad += 1\n"
    "        print('not found:', check, why, '\\n', said)\n"
    "sys.exit(bad)\n";

TEST(a_broken_promise_of_python_is_found)
{
    write_idea();
    shell_write("check.py", planted);
    shell_expect(0, "/usr/bin/python3 check.py \"$PEAT_SOURCE/python\"");
    shell_says(0, "14 passed", "peat plugins check idea.py");
    shell_says(2, "'kind' of idea is one of root, log, not 'line'",
               "peat plugins check idea.py kind=line");
    shell_says(2, "is checked with --only, --json and KEY=VALUE",
               "peat plugins check idea.py --thorough");
    shell_says(1, "  failed   abi                     idea.py:7:14: ",
               "sed -i 's/def bias_rel(/def bias_rel((/' idea.py; peat plugins check idea.py");
    shell_expect(0, "printf '#!/bin/sh\\nexec /usr/bin/python3 -S \"$@\"\\n' > none; "
                    "chmod +x none");
    shell_says(2, "peat plugins check needs torch, which '",
               "PEAT_PYTHON=./none peat plugins check idea.py");
}

int main(void)
{
    setenv("PEAT_PYTHON", "/usr/bin/python3", 1);
    return run_tests((struct tests){"idea", shell_open, shell_close, .seconds = 250,
                                    .needs = "PEAT PEAT_SOURCE python3-torch"});
}

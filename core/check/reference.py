# SPDX-License-Identifier: MIT
"""FILE RECORDS PLUGIN PACKAGE: gives the inputs of recorded calls of hooks to the functions of a formula, and computes the
models beside RECORDS with it.

The last line is the first difference, or the mistake in FILE; when all agree it is the number of calls
that were compared, and the exit code 0. The rules of formulas are in docs/formulas.md.
"""
import glob
import importlib.util
import inspect
import json
import os
import sys
import traceback

LIMIT = 1e-9  # of a difference, relative to the larger of 1 and the two numbers


def give_up(text):
    print(text, flush=True)
    os._exit(1)


try:
    import numpy as np
except ImportError:
    give_up(f"a formula needs NumPy, which {sys.executable} does not have (Debian: python3-numpy; "
            "PEAT_PYTHON names another interpreter)")


def pytorch():
    """PyTorch, unless the formula computes with NumPy or there is none."""
    if any(x is np for x in vars(FORMULA).values()):
        return None
    try:
        module = importlib.import_module("torch")
    except ImportError:
        return None
    module.set_num_threads(1)  # arrays are small, and threads that wait for work take cores from others
    return module


def load(path):
    spec = importlib.util.spec_from_file_location("formula", path)
    if spec is None:
        give_up(f"{path} is not the name of a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def place_of(error):
    """FILE:LINE: of a mistake in the formula."""
    name = os.path.basename(PATH)
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__)
             if os.path.abspath(f.filename) == os.path.abspath(PATH)]
    if isinstance(error, SyntaxError) and error.lineno:
        lines = [error.lineno]
    return f"{name}:{lines[-1]}" if lines else name


def array(x):
    """Reals are bytes of float64, whole numbers a list."""
    flat = np.frombuffer(bytes.fromhex(x["bytes"])).copy() if "bytes" in x else np.array(x["data"])
    return flat.reshape(x["shape"])


def plain(x):
    """Arrays stay arrays, lists of numbers and texts stay lists."""
    return array(x) if isinstance(x, dict) and "shape" in x else x


def tensor(x, wants_gradient):
    """The array as the formula computes with it."""
    if not torch or not isinstance(x, np.ndarray):
        return x
    y = torch.from_numpy(x.copy())
    return y.requires_grad_(wants_gradient and y.is_floating_point())


def as_array(x):
    return x.detach().numpy() if torch and hasattr(x, "detach") else np.asarray(x)


class Draws(dict):
    """Random numbers by name: a list of arrays, in the order of the calls."""

    def __call__(self, name, n):
        """n numbers for each row, [B, n]."""
        if name not in self or len(self[name][0]) != n:
            raise ValueError(f"the plugin draws no {n} numbers '{name}' for each row; it draws "
                             + ", ".join(f"{len(v[0])} '{k}'" for k, v in self.items()))
        return tensor(np.stack(self[name]), False)


class Call:
    """One call of a hook, with the inputs that a function may name."""

    def __init__(self, record, tensors):
        self.hook = record["hook"]
        self.out = [array(x) for x in record["out"]]
        self.w = [array(x) for x in record.get("w", [])]
        self.grads = {k: array(x) for k, x in record.get("grads", {}).items()}
        self.leaves = {k: tensor(plain(x), k in self.grads) for k, x in record["in"].items()
                       if k != "random"}
        if "x_q" in self.leaves and record["in"].get("x_k") == record["in"]["x_q"]:
            self.leaves["x_k"] = self.leaves["x_q"]  # one node
        self.tensors = {k: tensors[full] for k, full in record["tensors"].items()}
        self.names = {k.replace(".", "_"): v for k, v in self.tensors.items()}
        random = Draws((k, [plain(x) for x in v]) for k, v in record["in"]["random"].items())
        several = {n: [self.leaves[f"{n}{i}"] for i in range(9) if f"{n}{i}" in self.leaves]
                   for n in ("x", "state")}
        self.given = {"params": record["settings"], "weights": self.tensors, "random": random}
        self.given.update({n: nodes for n, nodes in several.items() if nodes})
        self.given = {**record["settings"], **self.names, **self.given, **self.leaves}

    def run(self, hook=None):
        function = getattr(FORMULA, hook or self.hook)
        wanted = inspect.signature(function).parameters
        for name, parameter in wanted.items():
            if name not in self.given and parameter.default is parameter.empty:
                raise NameError(f"{function.__name__} asks for '{name}', which is not there; there are "
                                + ", ".join(sorted(self.given)))
        made = function(**{k: self.given[k] for k in wanted if k in self.given})
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if hook:
            return made
        if self.hook == "qkv" and len(made) == 2:
            made.append(self.leaves["v"])
        if len(made) != len(self.out):
            raise ValueError(f"{self.hook} returns {len(made)} arrays, not {len(self.out)}")
        return made


def fit(ours, theirs, stretches):
    """Whether the shapes are equal, or, of what is broadcast, 1 in either."""
    pairs = list(zip(ours.shape, theirs.shape))
    return ours.ndim == theirs.ndim and all(a == b or stretches and 1 in (a, b) for a, b in pairs)


def first_difference(what, ours, theirs, limit=LIMIT, seen=True, stretches=False):
    """None, or a sentence about the first element that differs."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if not fit(ours, theirs, stretches):
        return f"{what} has shape {list(ours.shape)}, and the formula's has {list(theirs.shape)}"
    ours, theirs, seen = np.broadcast_arrays(ours, theirs, seen)
    size = np.maximum(1, np.maximum(np.abs(ours), np.abs(theirs)))
    wrong = ~(np.abs(ours - theirs) <= limit * size) & seen
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f" at [{', '.join(str(i) for i in at)}]" if at else ""
    return (f"{what}{where} is {ours[at]:.10g}, and the formula gives {theirs[at]:.10g}; "
            f"{int(wrong.sum())} of {wrong.size} numbers differ")


STRETCHED = ("encode", "bias_rel", "bias", "score_add")  # an axis of them may be 1
NAMES = {"qkv": ["q", "k", "v"], "hidden": ["xq", "xk", "xv"],
         "carry": [f"state[{i}]" for i in range(8)]}


def used(call, i):
    """Where something uses a result: elsewhere, for hidden keys, its weight in the loss is 0."""
    return call.w[i] != 0 if call.hook in ("bias", "score_add", "logits", "weights") and call.w else True


def compare_call(call):
    """The first difference (None: none) and the formula's results. The first layer has the state of `prepare`."""
    made = call.run()
    if hasattr(FORMULA, "prepare") and call.given["layer"] == 0 and "state" in call.given:
        for ours, theirs in zip(call.given["state"], call.run("prepare")):
            wrong = first_difference("prepare", as_array(ours), as_array(theirs), stretches=True)
            if wrong:
                return wrong, made
    names = NAMES.get(call.hook, [""])
    for i, (name, ours, theirs) in enumerate(zip(names, call.out, made)):
        what = f"{call.hook}: {name}" if name else call.hook
        wrong = first_difference(what, ours, as_array(theirs), seen=used(call, i),
                                 stretches=call.hook in STRETCHED)
        if wrong:
            return wrong, made
    return None, made


def fitted(y, w):
    """y in the shape of its weights; on an axis of 1 all its numbers are equal."""
    more = [i for i in range(w.ndim) if w.shape[i] == 1 < y.shape[i]]
    return torch.broadcast_to(y.mean(more, keepdim=True) if more else y, w.shape)


def compare_gradients(calls, made, grads, tensors):
    """Of the sum of w out over all calls, by the inputs of each and by the trained tensors."""
    loss = sum((torch.from_numpy(w) * fitted(y, w)).sum()
               for call, results in zip(calls, made) for w, y in zip(call.w, results))
    if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
        return None
    loss.backward()
    pairs = [(f"{c.hook}: the gradient of {k}", g, c.leaves[k]) for c in calls
             for k, g in c.grads.items() if k in c.leaves]
    pairs += [(f"the gradient of {k}", g, tensors[k]) for k, g in grads.items()]
    for what, ours, leaf in pairs:
        theirs = leaf.grad.numpy() if leaf.grad is not None else np.zeros(ours.shape)
        wrong = first_difference(what, ours, theirs, 1e-7)
        if wrong:
            return wrong
    return None


def compare_pass(trial):
    tensors = {k: tensor(array(x), k in trial["grads"]) for k, x in trial["tensors"].items()}
    calls = [Call(record, tensors) for record in trial["calls"]]
    calls = [c for c in calls if getattr(FORMULA, c.hook, 0) is not None]
    missing = sorted({c.hook for c in calls if not hasattr(FORMULA, c.hook)})
    if missing:
        return (f"{os.path.basename(PATH)} has no function '{missing[0]}'; "
                f"'{missing[0]} = None' leaves the hook out")
    made = []
    for call in calls:
        wrong, results = compare_call(call)
        if wrong:
            return wrong
        made.append(results)
        COMPARED[call.hook] = COMPARED.get(call.hook, 0) + 1
    grads = {k: array(x) for k, x in trial["grads"].items()}
    return compare_gradients(calls, made, grads, tensors) if torch else None


def compare_models():
    """The number of cells whose logits, loss and gradients peat.torch computes as PEAT does."""
    sys.path.insert(0, PACKAGE)
    from peat.torch import check, files, formulas
    sys.path.remove(PACKAGE)
    find, n = formulas.find, 0
    formulas.find = lambda kind, plugin, *more: PATH if plugin == PLUGIN else find(kind, plugin, *more)
    for path in sorted(glob.glob(os.path.join(os.path.dirname(RECORDS), "*.safetensors"))):
        try:
            found = check.differences(path, "")
        except files.Refused as e:
            if PATH in str(e):
                raise
            continue  # a plugin beside it has no formula
        for what, by in found.items():
            if not by <= (1e-7 if "gradient" in what else LIMIT):
                give_up(f"whole model: {what} differs by {by:.2g} from what peat.torch computes with the formula "
                        f"({os.path.basename(path)[:-len('.safetensors')]})")
        n += 1
    return n


def main():
    for text in open(RECORDS):
        cell, trial = json.loads(text)
        wrong = compare_pass(trial)
        if wrong:
            give_up(f"{wrong} ({cell})")
    if not COMPARED:
        give_up(f"{os.path.basename(PATH)} compares nothing: it leaves out every hook that was called")
    models = compare_models() if torch and os.path.isdir(PACKAGE) else 0
    print(f"{models} models, {sum(COMPARED.values())} calls of hooks compared: {', '.join(sorted(COMPARED))}", flush=True)


COMPARED = {}  # calls, by hook
PATH, RECORDS, PLUGIN, PACKAGE = sys.argv[1:5]
sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(PATH))
sys.path = [FOLDER, *sys.path, os.path.dirname(FOLDER)]  # the folder above hides no module of Python
try:
    FORMULA = load(PATH)
    torch = pytorch()
    main()
except (Exception, SystemExit) as error:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    give_up(f"{place_of(error)}: {text}")

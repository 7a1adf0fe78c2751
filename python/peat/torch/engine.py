# SPDX-License-Identifier: MIT
"""The passes of a cell that `peat run` trains with run.engine: torch.

  engine.py PID                     started by `peat cell` PID, with a socket as standard output
  engine.py --check ENGINE DEVICE   whether PyTorch and the device are there; otherwise one line and status 1

A message is the length of a safetensors file (8 bytes) and the file, whose metadata have the command or the answer:
`build` a model of its weights, `load` weights and moments, a `step` with a batch, which has no answer, the `losses` of the
steps since the last, `forward` for logits, `newest` for those of rows behind the last call's,
and `fetch` for weights and moments. PEAT has all else: batches, the end of the training, the curve, checkpoints and results.
"""
from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import struct
import sys

sys.dont_write_bytecode = True  # the package may be the sources, or belong to another user
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from peat import safetensors  # noqa: E402
from peat.reading import Refused  # noqa: E402


def look_for(engine: str, device: str):
    """PyTorch, or a refusal where it, what it compiles with or the device is missing."""
    try:
        import torch
    except ImportError as e:
        raise Refused(f"PyTorch is not there for {sys.executable} ({e}; Debian: python3-torch; PEAT_PYTHON names another "
                      "interpreter)") from None
    if engine == "torch.compile":
        if not hasattr(torch, "compile"):
            raise Refused(f"run.engine: torch.compile: PyTorch {torch.__version__} has none (PyTorch 2.0 and later); torch does "
                          "the same in more kernels")
        compiler = os.environ.get("CC" if device == "cuda" else "CXX", "gcc" if device == "cuda" else "g++")
        if not shutil.which(compiler):
            raise Refused(f"run.engine: torch.compile: PyTorch compiles with '{compiler}', which is not there (Debian: g++)")
    if device == "cuda" and not torch.cuda.is_available():
        raise Refused(f"run.device: cuda: PyTorch {torch.__version__} of {sys.executable} finds no CUDA device")
    return torch


class Channel:
    """Messages over the socket that is standard output; what this process prints goes to standard error."""

    def __init__(self):
        self.stream = socket.socket(fileno=os.dup(1)).makefile("rwb")
        os.dup2(2, 1)

    def receive(self):
        """Tensors as parse_file gives them, and metadata; None at the end."""
        size = self.stream.read(8)
        if len(size) < 8:
            return None
        return safetensors.parse_file(self.stream.read(struct.unpack("<Q", size)[0]), "PEAT")

    def send(self, arrays=None, **facts):
        parts = safetensors.image(arrays or {}, {**facts, "format": "pt"})
        self.stream.write(struct.pack("<Q", sum(map(len, parts))))
        self.stream.writelines(parts)
        self.stream.flush()


class Engine:
    """Answers commands: each method takes tensors and metadata, and returns arrays and facts."""

    torch = training = kept = None

    def build(self, tensors, meta):
        for place in ("FX_GRAPH", "AUTOGRAD"):  # cells of a shape share what one of them has compiled
            os.environ.setdefault(f"TORCHINDUCTOR_{place}_CACHE", "1")
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no processes beside this one
        torch = self.torch = look_for(meta["engine"], meta["device"])
        from peat.torch.training import Training
        torch.set_num_threads(int(meta["threads"]))
        if meta["device"] == "cuda":
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        if hasattr(torch.utils, "deterministic"):
            torch.utils.deterministic.fill_uninitialized_memory = False  # nothing reads what was not written
        found = tuple(((p["kind"], p["id"]), p["path"]) for p in json.loads(meta["plugins"]))
        self.training = Training(self.read(tensors), meta, meta["device"], program=found,
                                 compiled=meta["engine"] == "torch.compile")
        self.steps = []
        return {}, {"by": self.training.by(), "formulas": json.dumps(self.training.formulas())}

    def room(self):
        """What a cell had where memory ran out, and what takes less."""
        had, cuda = "", self.torch.cuda
        if self.training and self.training.device.type == "cuda":
            free, all_of_it = cuda.mem_get_info()
            had = (f"; the cell had {cuda.max_memory_allocated() / 2 ** 30:.1f} GiB, and {free / 2 ** 30:.1f} of the device's "
                   f"{all_of_it / 2 ** 30:.1f} GiB were free")
        return had + "; less is taken by a smaller train.batch or train.seq_len, precision: bf16, and fewer cells at once (run.jobs)"

    @staticmethod
    def read(tensors):
        from peat.torch.files import tensors_of
        return tensors_of((tensors, {}), "PEAT")[0]

    def state(self):
        """{name: tensor} of weights and moments: `opt.m.` and `opt.v.` with the names of trained weights."""
        x = self.training
        found = dict(x.model.named_parameters())
        for name, w in x.named.items():
            one = x.adamw.state.get(w) or {}
            for kind, key in (("m", "exp_avg"), ("v", "exp_avg_sq")):
                found[f"opt.{kind}.{name}"] = one[key] if key in one else self.torch.zeros_like(w)
        return found

    def load(self, tensors, meta):
        x, torch, given = self.training, self.torch, self.read(tensors)
        with torch.no_grad():
            for name, w in x.model.named_parameters():
                w.copy_(given[name])
        updates = int(meta["updates"])
        for w in x.named.values() if updates else ():
            x.adamw.state[w] = {"step": torch.tensor(float(updates), device=x.device if x.fused else "cpu"),
                                "exp_avg": torch.zeros_like(w), "exp_avg_sq": torch.zeros_like(w)}
        for name, t in self.state().items():
            if name.startswith("opt.") and updates:
                t.copy_(given[name])
        return {}, {}

    def step(self, tensors, meta):
        x = self.training
        x.done = int(meta["step"]) - 1
        self.steps.append(x.model.train() and x.step(self.read(tensors)))
        if x.done == 1 and x.unreached:
            raise Refused(f"no gradient reaches '{x.unreached[0]}': no formula that acts uses it, or it is cut off by detach "
                          "or a step")
        return {}, {}

    def losses(self, tensors, meta):
        loss, norm = self.torch.stack([x for step in self.steps for x in step]).view(-1, 2).T
        self.steps = []
        return self.arrays({"loss": loss, "norm": norm}), {}

    def evaluated(self, tensors, meta, *kept):
        """The logits of tokens, and of classes or None."""
        x, batch = self.training, self.read(tensors)
        model = x.model.eval()
        model.step, model.first_row = int(meta["step"]), 0
        model.total = int(meta["total"]) + model.class_first
        with self.torch.no_grad(), self.torch.autocast(x.device.type, self.torch.bfloat16, enabled=x.rounds):
            out = (model.newest if kept else model)(batch, *kept)
        model.total = None
        return out if isinstance(out, tuple) else (out, None)

    def forward(self, tensors, meta):
        logits, classes = self.evaluated(tensors, meta)
        if meta["last_only"] == "1":
            logits = logits[:, -1]
        found = {"logits": logits.reshape(-1, logits.shape[-1])}
        if classes is not None:
            found["classes"] = classes
        return self.arrays(found), {}

    def newest(self, tensors, meta):
        from peat.torch.batches import Kept
        self.kept = Kept() if meta["first"] == "1" else self.kept
        return self.arrays({"logits": self.evaluated(tensors, meta, self.kept)[0][:, -1]}), {}

    def fetch(self, tensors, meta):
        self.kept = None
        return self.arrays(self.state()), {}

    @staticmethod
    def arrays(tensors):
        from peat.torch.files import arrays_of
        return arrays_of(tensors)


def lacks_memory(e) -> bool:
    return isinstance(e, MemoryError) or any(text in str(e) for text in ("out of memory", "not enough memory")) or (
        e.__cause__ is not None and lacks_memory(e.__cause__))


def answer(engine, tensors, meta):
    """Arrays and facts; an error is a fact in one line."""
    try:
        return getattr(engine, meta["command"])(tensors, meta)
    except Exception as e:  # noqa: BLE001
        line = f"{type(e).__name__}: {e}".replace("raised:\n", "raised ").split("\n")[0]
        line = str(e) if isinstance(e, Refused) else f"PyTorch: {line}"
        return {}, {"error": line + engine.room(), "memory": "1"} if lacks_memory(e) else {"error": line}


def end_with(parent: int):
    """This process is killed when its parent ends, and stops are the parent's."""
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)
    set_death_signal = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def main():
    if sys.argv[1] == "--check":
        try:
            look_for(*sys.argv[2:])
        except Refused as e:
            print(e, end="")
            sys.exit(1)
        return
    channel, engine, failed = Channel(), Engine(), None
    end_with(int(sys.argv[1]))
    while True:
        message = channel.receive()
        if message is None:
            return
        arrays, facts = failed or answer(engine, *message)
        if message[1]["command"] != "step":
            channel.send(arrays, **facts)
        elif "error" in facts:
            failed = arrays, facts


if __name__ == "__main__":
    main()

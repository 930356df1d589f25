"""A base model and weights of few numbers, in the formats of the real ones."""

import struct

import numpy as np

from tenonos.plan.reader import base, encoder, heads, labels, weights

WIDTH, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 2, 64, 128
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,/-▁轴核"
PIECES = ["<s>", "<pad>", "</s>", "<unk>", *LETTERS, "▁Linux", "▁loop", "Linux", "▁kHz", "核心"]


def quantised(values):
    """The blocks of 32 weights, each with its scale."""
    rows = np.asarray(values, np.float32).reshape(-1, 32)
    scale = np.maximum(np.abs(rows).max(1) / 7, 1e-6).astype("<f2")
    whole = np.clip(np.rint(rows / scale[:, None].astype(np.float32)), -8, 7).astype(int) + 8
    blocks = np.zeros(len(rows), base.BLOCK)
    blocks["scale"], blocks["halves"] = scale, whole[:, :16] | whole[:, 16:] << 4
    return blocks.tobytes()


def write_base(file, seed=0):
    """Write a base model of random weights."""
    random = np.random.default_rng(seed)
    tensors = {
        "emb.word": (1, random.standard_normal((len(PIECES), WIDTH))),
        "emb.pos": (0, random.standard_normal((POSITIONS, WIDTH)) * 0.1),
        "emb.type": (0, np.zeros((2, WIDTH))),
        "emb.ln.w": (0, np.ones(WIDTH)),
        "emb.ln.b": (0, np.zeros(WIDTH)),
    }
    for number in range(LAYERS):
        for name in encoder.MATRICES:
            out, into = {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}.get(name, (WIDTH, WIDTH))
            tensors[f"l{number}.{name}.w"] = (1, random.standard_normal((out, into)) * 0.2)
            tensors[f"l{number}.{name}.b"] = (0, random.standard_normal(out) * 0.1)
        for name in ("aln", "oln"):
            tensors[f"l{number}.{name}.w"] = (0, np.ones(WIDTH))
            tensors[f"l{number}.{name}.b"] = (0, np.zeros(WIDTH))
    encoded = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    scores = np.array([0, 0, 0, 0, *(-9.0 + len(p) for p in PIECES[4:])], "<f4")
    normal = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new))
        for old, new in (("\n", " "), ("ﬁ", "fi"), ("Ａ", "A"))
    )
    head = base.MAGIC + struct.pack("<I", 1)
    head += struct.pack("<7ifi", WIDTH, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(offsets[-1]))
    head += offsets.tobytes() + scores.tobytes() + b"".join(encoded)
    head += struct.pack("<iI", 3, len(normal)) + normal
    data = {
        n: quantised(v) if q else np.asarray(v, "<f4").tobytes() for n, (q, v) in tensors.items()
    }
    at = len(head) + 4 + sum(2 + len(name) + 1 + 4 + 16 for name in tensors)
    directory = struct.pack("<i", len(tensors))
    for name, (is_quantised, values) in tensors.items():
        directory += struct.pack(f"<H{len(name)}s", len(name), name.encode())
        directory += struct.pack(
            "<BIQQ", is_quantised, np.asarray(values).size, at, len(data[name])
        )
        at += len(data[name])
    file.write_bytes(head + directory + b"".join(data.values()))
    return {name: values for name, (_, values) in tensors.items()}


def write_weights(file, texts, seed=0, **more):
    """Write heads of random weights for the capabilities of `texts`, and an adapter."""
    random = np.random.default_rng(seed)
    arrays = {
        name: random.standard_normal(shape) * 0.3
        for name, shape in heads.shapes(WIDTH, len(texts)).items()
    }
    arrays["l1.q.down"] = random.standard_normal((WIDTH, 2))
    arrays["l1.q.up"] = random.standard_normal((2, WIDTH))
    arrays["texts"] = random.standard_normal((len(texts), WIDTH))
    arrays["texts.mean"], arrays["texts.scale"] = np.zeros(WIDTH), np.ones(WIDTH)
    record = {
        "layers": LAYERS,
        "temperature": 1.0,
        "names": {name: at for at, name in enumerate(texts)},
        "texts": {labels.digest(text): at for at, text in enumerate(texts.values())},
        "lacking": {},
    }
    weights.write(file, arrays, record | more)
    return arrays

"""MiniLM-L6: a BERT encoder with the published weights, written as an ONNX graph with pooled, normalised embeddings."""

import json
import struct

import numpy as np

from models.graph import GraphBuilder

WIDTH, LAYERS, HEADS, EPSILON = 384, 6, 12, 1e-12


def read_safetensors(path):
    """The tensors of a safetensors file: an 8-byte length, a JSON header of that length, raw little-endian data."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    return {name.removeprefix("bert."): np.frombuffer(data[slice(*entry["data_offsets"])], types[entry["dtype"]])
            .reshape(entry["shape"]) for name, entry in header.items()}


class Encoder(GraphBuilder):
    def __init__(self, weights):
        super().__init__("minilm_l6")
        self.weights = weights

    def weight(self, name):
        return self.constant(name, self.weights[name].astype(np.float32))

    def linear(self, x, name):
        transposed = self.constant(name + ".weight", self.weights[name + ".weight"].astype(np.float32).T)
        return self.node("Add", self.node("MatMul", x, transposed), self.weight(name + ".bias"))

    def norm(self, x, name):
        return self.node("LayerNormalization", x, self.weight(name + ".weight"), self.weight(name + ".bias"),
                         axis=-1, epsilon=EPSILON)

    def embeddings(self):
        table = "embeddings.{}_embeddings.weight"
        length = self.node("Slice", self.node("Shape", "input_ids"), self.ints(1), self.ints(2), self.ints(0))
        words = self.node("Gather", self.weight(table.format("word")), "input_ids")
        types = self.node("Gather", self.weight(table.format("token_type")), "token_type_ids")
        places = self.node("Slice", self.weight(table.format("position")), self.ints(0), length, self.ints(0))
        return self.norm(self.node("Add", self.node("Add", words, types), places), "embeddings.LayerNorm")

    def attention_bias(self):
        """0 where a token may be attended to, the lowest float where it may not: [batch, 1, 1, seq]."""
        mask = self.node("Cast", self.node("Unsqueeze", "attention_mask", self.ints(1, 2)), to=1)
        hidden = self.node("Sub", self.scalar("one", 1), mask)
        return self.node("Mul", hidden, self.scalar("lowest", np.finfo(np.float32).min))

    def attention(self, x, name, bias):
        def heads(which, order):
            split = self.node("Reshape", self.linear(x, f"{name}.self.{which}"), self.ints(0, 0, HEADS, WIDTH // HEADS))
            return self.node("Transpose", split, perm=order)

        query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        scores = self.node("Div", self.node("MatMul", query, key), self.scalar("root", np.sqrt(WIDTH // HEADS)))
        weights = self.node("Softmax", self.node("Add", scores, bias), axis=-1)
        context = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", context, self.ints(0, 0, WIDTH)), f"{name}.output.dense")

    def gelu(self, x):
        erf = self.node("Erf", self.node("Div", x, self.scalar("root2", np.sqrt(2))))
        product = self.node("Mul", x, self.node("Add", erf, self.scalar("one", 1)))
        return self.node("Mul", product, self.scalar("half", 0.5))

    def layer(self, x, number, bias):
        name = f"encoder.layer.{number}"
        x = self.norm(self.node("Add", self.attention(x, name + ".attention", bias), x), name + ".attention.output.LayerNorm")
        wide = self.gelu(self.linear(x, name + ".intermediate.dense"))
        return self.norm(self.node("Add", self.linear(wide, name + ".output.dense"), x), name + ".output.LayerNorm")

    def pooled(self, x):
        """The mean over the tokens that count, scaled to length one."""
        mask = self.node("Cast", self.node("Unsqueeze", "attention_mask", self.ints(2)), to=1)
        total = self.node("ReduceSum", self.node("Mul", x, mask), self.ints(1), keepdims=0)
        count = self.node("Clip", self.node("ReduceSum", mask, self.ints(1), keepdims=0), self.scalar("tiny", 1e-9))
        mean = self.node("Div", total, count)
        length = self.node("Clip", self.node("ReduceL2", mean, axes=[1], keepdims=1), self.scalar("tinier", 1e-12))
        self.node("Div", mean, length, output="sentence_embedding")


def build(safetensors):
    """The encoder with the weights of that file; batch and length are free."""
    graph = Encoder(read_safetensors(safetensors))
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph.input(name, np.int64, ["batch", "seq"])
    x, bias = graph.embeddings(), graph.attention_bias()
    for number in range(LAYERS):
        x = graph.layer(x, number, bias)
    graph.node("Identity", x, output="last_hidden_state")
    graph.pooled(x)
    graph.output("last_hidden_state", np.float32, ["batch", "seq", WIDTH])
    graph.output("sentence_embedding", np.float32, ["batch", WIDTH])
    return graph.model()

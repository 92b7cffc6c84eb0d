"""A small Llama-style decoder with a KV cache: the graph that exporters write, with seeded random weights.

RMSNorm, rotary positions, grouped-query attention and a gated feed-forward layer. Inputs and outputs are named as in the
exports of Hugging Face models: input_ids, attention_mask, position_ids, past_key_values.N.key/value, present.N.key/value.
"""

import numpy as np

from models.graph import GraphBuilder

LAYERS, WIDTH, HEADS, KV_HEADS, INNER, VOCABULARY = 4, 512, 8, 4, 1408, 8192
HEAD = WIDTH // HEADS
END = np.iinfo(np.int64).max


class Decoder(GraphBuilder):
    def __init__(self, seed):
        super().__init__("llama_tiny")
        self.random = np.random.default_rng(seed)

    def matrix(self, name, rows, columns):
        return self.constant(name, self.random.normal(0, 1 / np.sqrt(rows), (rows, columns)), np.float32)

    def slice(self, x, begin, end, axis):
        return self.node("Slice", x, self.ints(begin), self.ints(end), self.ints(axis))

    def length(self, name):
        return self.node("Gather", self.node("Shape", name), self.scalar("one_int", 1, np.int64))

    def rms_norm(self, x, name):
        scale = self.constant(name, self.random.uniform(0.8, 1.2, WIDTH), np.float32)
        square = self.node("ReduceMean", self.node("Pow", x, self.scalar("two", 2)), axes=[-1], keepdims=1)
        root = self.node("Sqrt", self.node("Add", square, self.scalar("epsilon", 1e-5)))
        return self.node("Mul", scale, self.node("Mul", x, self.node("Reciprocal", root)))

    def rotations(self):
        """Cosines and sines of the rotary angles, [batch, 1, seq, HEAD]."""
        frequencies = (10000.0 ** -(np.arange(0, HEAD, 2) / HEAD)).reshape(1, 1, -1)
        places = self.node("Unsqueeze", self.node("Cast", "position_ids", to=1), self.ints(2))
        half = self.node("MatMul", places, self.constant("frequencies", frequencies, np.float32))
        angles = self.node("Concat", half, half, axis=-1)
        return [self.node("Unsqueeze", self.node(op, angles), self.ints(1)) for op in ("Cos", "Sin")]

    def attention_bias(self):
        """0 where a query may see a key, the lowest float elsewhere: causal, and as the mask says."""
        queries, keys = self.length("input_ids"), self.length("attention_mask")
        zero, one = self.scalar("zero_int", 0, np.int64), self.scalar("one_int", 1, np.int64)
        rows = self.node("Add", self.node("Range", zero, queries, one), self.node("Sub", keys, queries))
        columns = self.node("Range", zero, keys, one)
        causal = self.node("LessOrEqual", self.node("Unsqueeze", columns, self.ints(0)), self.node("Unsqueeze", rows, self.ints(1)))
        mask = self.node("Cast", self.node("Unsqueeze", "attention_mask", self.ints(1, 2)), to=9)
        return self.node("Where", self.node("And", mask, causal), self.scalar("zero", 0),
                         self.scalar("lowest", np.finfo(np.float32).min))

    def rotate(self, x, cosine, sine):
        low, high = self.slice(x, 0, HEAD // 2, 3), self.slice(x, HEAD // 2, END, 3)
        turned = self.node("Concat", self.node("Neg", high), low, axis=-1)
        return self.node("Add", self.node("Mul", x, cosine), self.node("Mul", turned, sine))

    def repeat(self, x):
        """Each key/value head for its group of query heads, in the way of exporters: Unsqueeze, Expand, Reshape."""
        shape = self.node("Shape", x)
        target = self.node("Concat", self.slice(shape, 0, 2, 0), self.ints(HEADS // KV_HEADS), self.slice(shape, 2, 4, 0), axis=0)
        expanded = self.node("Expand", self.node("Unsqueeze", x, self.ints(2)), target)
        return self.node("Reshape", expanded, self.ints(0, HEADS, -1, HEAD))

    def attention(self, x, number, rotations, bias):
        def heads(which, count):
            product = self.node("MatMul", x, self.matrix(f"layers.{number}.{which}", WIDTH, count * HEAD))
            return self.node("Transpose", self.node("Reshape", product, self.ints(0, 0, count, HEAD)), perm=[0, 2, 1, 3])

        query, key, value = heads("query", HEADS), heads("key", KV_HEADS), heads("value", KV_HEADS)
        query, key = self.rotate(query, *rotations), self.rotate(key, *rotations)
        key, value = [self.node("Concat", f"past_key_values.{number}.{part}", new, output=f"present.{number}.{part}", axis=2)
                      for part, new in (("key", key), ("value", value))]
        scores = self.node("MatMul", query, self.node("Transpose", self.repeat(key), perm=[0, 1, 3, 2]))
        scores = self.node("Add", self.node("Mul", scores, self.scalar("scale", 1 / np.sqrt(HEAD))), bias)
        context = self.node("MatMul", self.node("Softmax", scores, axis=-1), self.repeat(value))
        merged = self.node("Reshape", self.node("Transpose", context, perm=[0, 2, 1, 3]), self.ints(0, 0, WIDTH))
        return self.node("MatMul", merged, self.matrix(f"layers.{number}.out", WIDTH, WIDTH))

    def feed_forward(self, x, number):
        gate = self.node("MatMul", x, self.matrix(f"layers.{number}.gate", WIDTH, INNER))
        up = self.node("MatMul", x, self.matrix(f"layers.{number}.up", WIDTH, INNER))
        gated = self.node("Mul", self.node("Mul", gate, self.node("Sigmoid", gate)), up)
        return self.node("MatMul", gated, self.matrix(f"layers.{number}.down", INNER, WIDTH))


def build(seed=0):
    """The decoder; batch, sequence and length of the cache are free."""
    graph = Decoder(seed)
    graph.input("input_ids", np.int64, ["batch_size", "sequence_length"])
    graph.input("attention_mask", np.int64, ["batch_size", "total_sequence_length"])
    graph.input("position_ids", np.int64, ["batch_size", "sequence_length"])
    graph.output("logits", np.float32, ["batch_size", "sequence_length", VOCABULARY])
    for number in range(LAYERS):
        for part in ("key", "value"):
            graph.input(f"past_key_values.{number}.{part}", np.float32, ["batch_size", KV_HEADS, "past_sequence_length", HEAD])
            graph.output(f"present.{number}.{part}", np.float32, ["batch_size", KV_HEADS, "total_sequence_length", HEAD])
    table = graph.constant("embedding", graph.random.normal(0, 1, (VOCABULARY, WIDTH)), np.float32)
    x = graph.node("Gather", table, "input_ids")
    rotations, bias = graph.rotations(), graph.attention_bias()
    for number in range(LAYERS):
        x = graph.node("Add", x, graph.attention(graph.rms_norm(x, f"layers.{number}.norm1"), number, rotations, bias))
        x = graph.node("Add", x, graph.feed_forward(graph.rms_norm(x, f"layers.{number}.norm2"), number))
    graph.node("MatMul", graph.rms_norm(x, "norm"), graph.matrix("head", WIDTH, VOCABULARY), output="logits")
    return graph.model()

"""Products of matrices, attention and copies for a bundle."""

import os
import tempfile

import onnx
from onnx import TensorProto, helper

SQUARE = [512, 1024, 2048, 4096]
LARGE = [8192]
SKINNY = [(1, 4096, 4096), (16, 4096, 4096), (64, 4096, 4096), (4096, 64, 4096), (128, 128, 16384)]
ONNX_TYPES = {"f32": TensorProto.FLOAT, "tf32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
# Products that ONNX's operators do not say: element type, sum, widening, multiplication; and the oldest GPU that has them.
EIGHT_BITS = {"s8": ("i8", "i32", "arith.extsi", "arith.muli", None),
              "e4m3": ("f8E4M3FN", "f32", "arith.extf", "arith.mulf", "sm_89")}
GIGABYTE = 1 << 30


def save(path, name, nodes, inputs, output, opset):
    values = [helper.make_tensor_value_info(key, *described) for key, described in inputs.items()]
    result = [helper.make_tensor_value_info("y", *output)]
    graph = helper.make_graph(nodes, name, values, result)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), path)


def write_product(path, kind, m, n, k, layout):
    dtype = ONNX_TYPES[kind]
    nodes = [helper.make_node("MatMul", ["a", "b" if layout == "nn" else "t"], ["y"], name="product")]
    if layout == "nt":
        nodes.insert(0, helper.make_node("Transpose", ["b"], ["t"], perm=[1, 0]))
    save(path, "product", nodes, {"a": (dtype, [m, k]), "b": (dtype, [k, n] if layout == "nn" else [n, k])}, (dtype, [m, n]), 18)


def write_eight_bits(path, kind, m, n, k):
    element, total, widen, multiply, _ = EIGHT_BITS[kind]
    a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{n}x{k}x{element}>", f"tensor<{m}x{n}x{total}>"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""func.func @main(%a: {a} {{tw.name = "a"}}, %b: {b} {{tw.name = "b"}}) -> ({c} {{tw.name = "y"}}) {{
  %y = tw.reduce add (%i, %j) over (%k) in <[{k}]> attributes {{root = "matmul"}} {{
    %p = tw.load %a[%i, %k] : {a} -> {element}
    %q = tw.load %b[%j, %k] : {b} -> {element}
    %r = {widen} %p : {element} to {total}
    %s = {widen} %q : {element} to {total}
    %t = {multiply} %r, %s : {total}
    tw.yield %t : {total}
  }} : {c}
  return %y : {c}
}}
""")


def add_product(bundle, scratch, kind, m, n, k, layout):
    name = f"{kind}_{layout}_{m}x{n}x{k}"
    entry = {"name": name, "type": kind, "m": m, "n": n, "k": k, "layout": layout}
    target, options = None, []
    if kind in ONNX_TYPES:
        path = os.path.join(scratch, name + ".onnx")
        write_product(path, kind, m, n, k, layout)
        options = ["--precision", "tf32"] if kind == "tf32" else []
    else:
        path = os.path.join(scratch, name + ".mlir")
        write_eight_bits(path, kind, m, n, k)
        options = ["--start-from", "layout"]
        oldest = EIGHT_BITS[kind][-1]
        if oldest:  # compiled for that GPU: newer ones compile its PTX
            entry["needs"] = oldest
            target = f"cuda:{oldest}"
    # Beside the library: kernels alone.
    entry["module"], problem = bundle.compile(path, name, "--cublaslt", "never", *options, target=target)
    return entry, problem


def write_fused(path, kind, m, n, k, epilogue):
    dtype = ONNX_TYPES[kind]
    nodes = [helper.make_node("MatMul", ["a", "b"], ["p"], name="product"),
             helper.make_node("Add", ["p", "c"], ["y" if epilogue == "residual" else "s"], name="sum")]
    if epilogue == "bias_relu":
        nodes.append(helper.make_node("Relu", ["s"], ["y"], name="relu"))
    elif epilogue == "bias_gelu":
        nodes.append(helper.make_node("Gelu", ["s"], ["y"], name="gelu", approximate="tanh"))
    added = [m, n] if epilogue == "residual" else [n]
    save(path, "fused", nodes, {"a": (dtype, [m, k]), "b": (dtype, [k, n]), "c": (dtype, added)}, (dtype, [m, n]), 20)


def add_fused(bundle, scratch, kind, m, n, k, epilogue):
    name = f"{kind}_{epilogue}_{m}x{n}x{k}"
    entry = {"name": name, "type": kind, "m": m, "n": n, "k": k, "layout": "nn", "epilogue": epilogue}
    path = os.path.join(scratch, name + ".onnx")
    write_fused(path, kind, m, n, k, epilogue)
    options = ["--precision", "tf32"] if kind == "tf32" else []
    for key, use in (("module", "never"), ("library_module", "always")):
        entry[key], problem = bundle.compile(path, f"{name}_{use}", "--cublaslt", use, *options)
        if problem:
            return entry, problem
    return entry, None


def fused(bundle, small, left_out):
    """Products with epilogues, each as a kernel and left to cuBLASLt: type, m, n, k, epilogue."""
    sizes = [(40, 48, 64)] if small else [(256, 4096, 1024), (2048, 4096, 4096)]
    wanted = [(kind, *size, epilogue) for kind in ("f32", "tf32", "f16", "bf16") for size in sizes
              for epilogue in ("bias_relu", "bias_gelu", "residual")]
    with tempfile.TemporaryDirectory() as scratch:
        return made("fused", list(bundle.pool.map(lambda product: add_fused(bundle, scratch, *product), wanted)), left_out)


def made(section, results, left_out):
    """The entries of a table; what did not compile is left out."""
    left_out.extend({"section": section, "name": entry["name"], "why": problem} for entry, problem in results if problem)
    return [entry for entry, problem in results if not problem]


def products(bundle, small, left_out):
    wanted = []
    for kind in ("f32", "tf32", "f16", "bf16", "s8", "e4m3"):
        layout = "nn" if kind in ONNX_TYPES else "nt"
        if small:
            wanted.append((kind, 40, 48, 64, layout))
            continue
        sizes = SQUARE + (LARGE if kind not in ("f32", "tf32") else [])
        wanted += [(kind, size, size, size, layout) for size in sizes]
        wanted += [(kind, *shape, layout) for shape in SKINNY]
    wanted.append(("f16", 40, 48, 64, "nt") if small else ("f16", 4096, 4096, 4096, "nt"))
    with tempfile.TemporaryDirectory() as scratch:
        return made("gemm", list(bundle.pool.map(lambda product: add_product(bundle, scratch, *product), wanted)), left_out)


def write_attention(path, shape):
    """A query that sees all keys by MatMul and Softmax, as exporters write it; else ONNX's Attention."""
    dtype = ONNX_TYPES[shape["type"]]
    q = [shape["batch"], shape["heads"], shape["queries"], shape["dim"]]
    kv = [shape["batch"], shape["kv_heads"], shape["keys"], shape["dim"]]
    if shape["causal"] or shape["kv_heads"] != shape["heads"]:
        nodes = [helper.make_node("Attention", ["q", "k", "v"], ["y"], name="attention", is_causal=int(shape["causal"]))]
    else:
        scale = helper.make_tensor("scale", TensorProto.FLOAT, [], [shape["dim"] ** -0.5])
        nodes = [helper.make_node("Constant", [], ["scale32"], value=scale),
                 helper.make_node("Cast", ["scale32"], ["scale"], to=dtype),
                 helper.make_node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
                 helper.make_node("MatMul", ["q", "t"], ["scores"], name="scores"),
                 helper.make_node("Mul", ["scores", "scale"], ["scaled"], name="scaled"),
                 helper.make_node("Softmax", ["scaled"], ["weights"], name="softmax", axis=-1),
                 helper.make_node("MatMul", ["weights", "v"], ["y"], name="values")]
    save(path, "attention", nodes, {"q": (dtype, q), "k": (dtype, kv), "v": (dtype, kv)}, (dtype, q), 23)


def add_attention(bundle, scratch, kind, batch, heads, kv_heads, queries, keys, dim, causal):
    shape = {"type": kind, "batch": batch, "heads": heads, "kv_heads": kv_heads, "queries": queries, "keys": keys, "dim": dim,
             "causal": causal}
    name = f"attention_{kind}_{batch}x{heads}x{kv_heads}_{queries}x{keys}x{dim}{'_causal' if causal else ''}"
    path = os.path.join(scratch, name + ".onnx")
    write_attention(path, shape)
    module, problem = bundle.compile(path, name)
    return {"name": name, **shape, "module": module}, problem


def attention(bundle, small, left_out):
    """Type, batch, heads, heads of keys, queries, keys, dim, causal."""
    if small:
        wanted = [("f16", 1, 2, 2, 24, 40, 16, False), ("f32", 1, 4, 2, 24, 24, 16, True)]
    else:
        wanted = [("f32", 1, 12, 12, 128, 128, 32, False), ("f32", 4, 16, 16, 512, 512, 64, False)]
        for kind in ("f16", "bf16"):
            wanted += [(kind, 4, 16, 16, 512, 512, 64, False), (kind, 2, 16, 16, 2048, 2048, 64, False),
                       (kind, 1, 16, 16, 4096, 4096, 128, False)]
        wanted += [("f16", 2, 16, 16, 2048, 2048, 64, True), ("f16", 1, 32, 8, 2048, 2048, 128, True),
                   ("f16", 8, 32, 32, 1, 4096, 128, False)]
    with tempfile.TemporaryDirectory() as scratch:
        return made("attention", list(bundle.pool.map(lambda shape: add_attention(bundle, scratch, *shape), wanted)), left_out)


def copies(small):
    size = GIGABYTE >> 10 if small else GIGABYTE
    return [{"name": copy, "copy": copy, "bytes": size} for copy in ("device to device", "host to device", "device to host")]

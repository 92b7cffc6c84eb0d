// RUN: tilewright-opt %s --split-input-file --tw-layout --tw-fuse --tw-tile=level=sm_90a | FileCheck %s

// What cuBLASLt does with sums is recognised by its arithmetic: GELU in an order of its own, with a bias.

// CHECK-LABEL: func.func @main
// CHECK:       tw.fused @{{.*}}attributes {{.*}}tw.library = "cublaslt"
// CHECK:       math.tanh
func.func @main(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>, %bias: tensor<4096xf16>) -> tensor<4096x4096xf16> {
  %0 = tw.matmul %x, %w : tensor<4096x4096xf16>, tensor<4096x4096xf16> -> tensor<4096x4096xf16>
  %1 = tw.map(%i, %j) {
    %half = arith.constant 0.5 : f32
    %scale = arith.constant 0.7978846 : f32
    %cubic = arith.constant 0.035677408 : f32
    %s = tw.load %0[%i, %j] : tensor<4096x4096xf16> -> f16
    %b = tw.load %bias[%j] : tensor<4096xf16> -> f16
    %sw = arith.extf %s : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %v = arith.addf %bw, %sw : f32
    %vv = arith.mulf %v, %v : f32
    %p = math.fma %vv, %cubic, %scale : f32
    %q = arith.mulf %v, %p : f32
    %t = math.tanh %q : f32
    %h = arith.mulf %half, %v : f32
    %y = math.fma %h, %t, %h : f32
    %r = arith.truncf %y : f32 to f16
    tw.yield %r : f16
  } : tensor<4096x4096xf16>
  return %1 : tensor<4096x4096xf16>
}

// -----

// Another constant is another function.

// CHECK-LABEL: func.func @main
// CHECK-NOT:   tw.library
// CHECK:       math.tanh
func.func @main(%x: tensor<4096x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = tw.matmul %x, %w : tensor<4096x4096xf16>, tensor<4096x4096xf16> -> tensor<4096x4096xf16>
  %1 = tw.map(%i, %j) {
    %half = arith.constant 0.5 : f32
    %scale = arith.constant 0.8978846 : f32
    %cubic = arith.constant 0.035677408 : f32
    %s = tw.load %0[%i, %j] : tensor<4096x4096xf16> -> f16
    %v = arith.extf %s : f16 to f32
    %vv = arith.mulf %v, %v : f32
    %p = math.fma %vv, %cubic, %scale : f32
    %q = arith.mulf %v, %p : f32
    %t = math.tanh %q : f32
    %h = arith.mulf %half, %v : f32
    %y = math.fma %h, %t, %h : f32
    %r = arith.truncf %y : f32 to f16
    tw.yield %r : f16
  } : tensor<4096x4096xf16>
  return %1 : tensor<4096x4096xf16>
}

// -----

// A residual that lies like the result, a factor of the sums, and ReLU behind them.

// CHECK-LABEL: func.func @main
// CHECK:       tw.fused @{{.*}}attributes {{.*}}tw.library = "cublaslt"
func.func @main(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>, %c: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tw.matmul %x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xbf16>
  %1 = tw.map(%i, %j) {
    %zero = arith.constant 0.0 : f32
    %alpha = arith.constant 0.125 : f32
    %s = tw.load %0[%i, %j] : tensor<4096x4096xbf16> -> bf16
    %a = tw.load %c[%i, %j] : tensor<4096x4096xbf16> -> bf16
    %sw = arith.extf %s : bf16 to f32
    %aw = arith.extf %a : bf16 to f32
    %scaled = arith.mulf %sw, %alpha : f32
    %v = arith.addf %scaled, %aw : f32
    %y = arith.maximumf %v, %zero : f32
    %r = arith.truncf %y : f32 to bf16
    tw.yield %r : bf16
  } : tensor<4096x4096xbf16>
  return %1 : tensor<4096x4096xbf16>
}

// -----

// A residual that is transposed, and a bias that is scaled with the sums, are none of the library's.

// CHECK-LABEL: func.func @main
// CHECK-NOT:   tw.library
// CHECK:       return
func.func @main(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>, %c: tensor<4096x4096xbf16>, %bias: tensor<4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
  %0 = tw.matmul %x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xbf16>
  %1 = tw.map(%i, %j) {
    %s = tw.load %0[%i, %j] : tensor<4096x4096xbf16> -> bf16
    %a = tw.load %c[%j, %i] : tensor<4096x4096xbf16> -> bf16
    %sw = arith.extf %s : bf16 to f32
    %aw = arith.extf %a : bf16 to f32
    %v = arith.addf %sw, %aw : f32
    %r = arith.truncf %v : f32 to bf16
    tw.yield %r : bf16
  } : tensor<4096x4096xbf16>
  %2 = tw.matmul %w, %x : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xbf16>
  %3 = tw.map(%i, %j) {
    %alpha = arith.constant 0.125 : f32
    %s = tw.load %2[%i, %j] : tensor<4096x4096xbf16> -> bf16
    %b = tw.load %bias[%j] : tensor<4096xbf16> -> bf16
    %sw = arith.extf %s : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %v = arith.addf %sw, %bw : f32
    %y = arith.mulf %v, %alpha : f32
    %r = arith.truncf %y : f32 to bf16
    tw.yield %r : bf16
  } : tensor<4096x4096xbf16>
  return %1, %3 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}

// -----

// Where mma.sync feeds the units, the kernel is as fast, and small products gain nothing anywhere.

// CHECK-LABEL: func.func @main
// CHECK-NOT:   tw.library
// CHECK:       return
func.func @main(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %0 = tw.matmul %x, %w : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}

// RUN: tilewright-opt %s --tw-form-attention=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Queries are computed where they are read, and the mask, which is cheap, too.

// CHECK-LABEL: func.func @attention
// CHECK-NOT: tw.map
// CHECK: tw.fused @region(
// CHECK-SAME: attributes {attention}
// CHECK: tw.reduce add (%i, %j, %k) over (%r) in <[8]>
// CHECK: arith.addf
// CHECK: tw.map(%i, %j, %k)
// CHECK: arith.cmpi sle
// CHECK: tw.reduce max
// CHECK: tw.reduce add (%i, %j) over (%r) in <[7]>
// CHECK: tw.reduce add (%i, %j, %k) over (%r) in <[7]>
// CHECK: return
// REMARK: TWF010 queries: a producer is computed where it is read
// REMARK: TWF010 mask: a producer is computed where it is read
// REMARK: TWF050 region: scores, softmax and values become one kernel
func.func @attention(%x: tensor<2x5x8xf32>, %b: tensor<8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x4xf32>) -> tensor<5x2x4xf32> {
  %q = tw.map(%h, %i, %d) {
    %l = tw.load %x[%h, %i, %d] : tensor<2x5x8xf32> -> f32
    %m = tw.load %b[%d] : tensor<8xf32> -> f32
    %n = arith.addf %l, %m : f32
    tw.yield %n : f32
  } : tensor<2x5x8xf32>
  %see = tw.map(%i, %j) {
    %c = arith.cmpi sle, %j, %i : index
    tw.yield %c : i1
  } : tensor<5x7xi1>
  %s = tw.reduce add(%h, %i, %j) over (%d) in <[8]> {
    %l = tw.load %q[%h, %i, %d] : tensor<2x5x8xf32> -> f32
    %m = tw.load %k[%h, %j, %d] : tensor<2x7x8xf32> -> f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<2x5x7xf32>
  %t = tw.map(%h, %i, %j) {
    %none = arith.constant -1.0e+30 : f32
    %l = tw.load %s[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %c = tw.load %see[%i, %j] : tensor<5x7xi1> -> i1
    %m = arith.select %c, %l, %none : f32
    tw.yield %m : f32
  } : tensor<2x5x7xf32>
  %max = tw.reduce max(%h, %i) over (%j) in <[7]> {
    %l = tw.load %t[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    tw.yield %l : f32
  } : tensor<2x5xf32>
  %sum = tw.reduce add(%h, %i) over (%j) in <[7]> {
    %l = tw.load %t[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %max[%h, %i] : tensor<2x5xf32> -> f32
    %d = arith.subf %l, %m : f32
    %e = math.exp %d : f32
    tw.yield %e : f32
  } : tensor<2x5xf32>
  %w = tw.map(%h, %i, %j) {
    %l = tw.load %t[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %max[%h, %i] : tensor<2x5xf32> -> f32
    %d = arith.subf %l, %m : f32
    %e = math.exp %d : f32
    %n = tw.load %sum[%h, %i] : tensor<2x5xf32> -> f32
    %p = arith.divf %e, %n : f32
    tw.yield %p : f32
  } : tensor<2x5x7xf32>
  %o = tw.reduce add(%i, %h, %d) over (%j) in <[7]> {
    %l = tw.load %w[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %v[%h, %j, %d] : tensor<2x7x4xf32> -> f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<5x2x4xf32>
  return %o : tensor<5x2x4xf32>
}

// -----

// Weights that are a result of the model are computed as such.

// CHECK-LABEL: func.func @weights
// CHECK-NOT: tw.fused
// REMARK: TWF055 refused: attention: scores or weights are read elsewhere, too
func.func @weights(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x4xf32>) -> (tensor<5x4xf32>, tensor<5x7xf32>) {
  %s = tw.reduce add(%i, %j) over (%d) in <[8]> {
    %l = tw.load %q[%i, %d] : tensor<5x8xf32> -> f32
    %m = tw.load %k[%j, %d] : tensor<7x8xf32> -> f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<5x7xf32>
  %max = tw.reduce max(%i) over (%j) in <[7]> {
    %l = tw.load %s[%i, %j] : tensor<5x7xf32> -> f32
    tw.yield %l : f32
  } : tensor<5xf32>
  %sum = tw.reduce add(%i) over (%j) in <[7]> {
    %l = tw.load %s[%i, %j] : tensor<5x7xf32> -> f32
    %m = tw.load %max[%i] : tensor<5xf32> -> f32
    %d = arith.subf %l, %m : f32
    %e = math.exp %d : f32
    tw.yield %e : f32
  } : tensor<5xf32>
  %w = tw.map(%i, %j) {
    %l = tw.load %s[%i, %j] : tensor<5x7xf32> -> f32
    %m = tw.load %max[%i] : tensor<5xf32> -> f32
    %d = arith.subf %l, %m : f32
    %e = math.exp %d : f32
    %n = tw.load %sum[%i] : tensor<5xf32> -> f32
    %p = arith.divf %e, %n : f32
    tw.yield %p : f32
  } : tensor<5x7xf32>
  %o = tw.reduce add(%i, %d) over (%j) in <[7]> {
    %l = tw.load %w[%i, %j] : tensor<5x7xf32> -> f32
    %m = tw.load %v[%j, %d] : tensor<7x4xf32> -> f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<5x4xf32>
  return %o, %w : tensor<5x4xf32>, tensor<5x7xf32>
}

// -----

// A model of 16-bit floats rounds scores and weights, and clears rows that see
// no key. Factors keep their rounding: they are what matrix units multiply.

// CHECK-LABEL: func.func @short
// CHECK-NOT: tw.map
// CHECK: tw.fused @region(
// CHECK-SAME: attributes {attention}
// CHECK: tw.reduce add
// CHECK: arith.truncf {{.*}} : f32 to f16
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: tw.reduce add (%i, %j) over (%r) in <[7]>
// CHECK: tw.map(%i, %j, %k)
// CHECK: arith.select
// CHECK: tw.reduce add (%i, %j, %k) over (%r) in <[7]>
// CHECK: return
// REMARK: TWF010 queries: a producer is computed where it is read
// REMARK: TWF050 region: scores, softmax and values become one kernel
func.func @short(%x: tensor<2x5x8xf16>, %k: tensor<2x7x8xf16>, %v: tensor<2x7x4xf16>, %empty: tensor<5xi1>) -> tensor<2x5x4xf32> {
  %q = tw.map(%h, %i, %d) {
    %half = arith.constant 0.5 : f32
    %o = tw.load %x[%h, %i, %d] : tensor<2x5x8xf16> -> f16
    %l = arith.extf %o : f16 to f32
    %m = arith.mulf %l, %half : f32
    %n = arith.truncf %m : f32 to f16
    tw.yield %n : f16
  } : tensor<2x5x8xf16>
  %s = tw.reduce add(%h, %i, %j) over (%d) in <[8]> {
    %o = tw.load %q[%h, %i, %d] : tensor<2x5x8xf16> -> f16
    %p = tw.load %k[%h, %j, %d] : tensor<2x7x8xf16> -> f16
    %l = arith.extf %o : f16 to f32
    %m = arith.extf %p : f16 to f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<2x5x7xf32>
  %t = tw.map(%h, %i, %j) {
    %l = tw.load %s[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = arith.truncf %l : f32 to f16
    tw.yield %m : f16
  } : tensor<2x5x7xf16>
  %max = tw.reduce max(%h, %i) over (%j) in <[7]> {
    %l = tw.load %t[%h, %i, %j] : tensor<2x5x7xf16> -> f16
    %m = arith.extf %l : f16 to f32
    tw.yield %m : f32
  } : tensor<2x5xf32>
  %exp = tw.map(%h, %i, %j) {
    %o = tw.load %t[%h, %i, %j] : tensor<2x5x7xf16> -> f16
    %l = arith.extf %o : f16 to f32
    %m = tw.load %max[%h, %i] : tensor<2x5xf32> -> f32
    %d = arith.subf %l, %m : f32
    %e = math.exp %d : f32
    tw.yield %e : f32
  } : tensor<2x5x7xf32>
  %sum = tw.reduce add(%h, %i) over (%j) in <[7]> {
    %e = tw.load %exp[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    tw.yield %e : f32
  } : tensor<2x5xf32>
  %soft = tw.map(%h, %i, %j) {
    %e = tw.load %exp[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %sum[%h, %i] : tensor<2x5xf32> -> f32
    %d = arith.divf %e, %m : f32
    %n = arith.truncf %d : f32 to f16
    tw.yield %n : f16
  } : tensor<2x5x7xf16>
  %w = tw.map(%h, %i, %j) {
    %zero = arith.constant 0.0 : f16
    %c = tw.load %empty[%i] : tensor<5xi1> -> i1
    %l = tw.load %soft[%h, %i, %j] : tensor<2x5x7xf16> -> f16
    %m = arith.select %c, %zero, %l : f16
    tw.yield %m : f16
  } : tensor<2x5x7xf16>
  %o = tw.reduce add(%h, %i, %d) over (%j) in <[7]> {
    %p = tw.load %w[%h, %i, %j] : tensor<2x5x7xf16> -> f16
    %l = arith.extf %p : f16 to f32
    %q2 = tw.load %v[%h, %j, %d] : tensor<2x7x4xf16> -> f16
    %m = arith.extf %q2 : f16 to f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<2x5x4xf32>
  return %o : tensor<2x5x4xf32>
}

// -----

// ONNX scales queries and keys. Keys are read as they are; their scale goes to
// the scores, unless every rounding counts.

// CHECK-LABEL: func.func @scaled_keys
// CHECK: tw.reduce add (%i, %j, %k) over (%r) in <[8]>
// CHECK: [[KEY:%.*]] = tw.load %{{.*}}[%i, %k, %r] : tensor<2x7x8xf16>
// CHECK: [[WIDE:%.*]] = arith.extf [[KEY]]
// CHECK: arith.mulf %{{.*}}, [[WIDE]]
// CHECK-NOT: arith.mulf
// CHECK: tw.map(%i, %j, %k)
// CHECK: [[SCORE:%.*]] = tw.load
// CHECK: arith.mulf [[SCORE]], %{{.*}}
func.func @scaled_keys(%q: tensor<2x5x8xf16>, %keys: tensor<2x7x8xf16>, %v: tensor<2x7x4xf32>) -> tensor<5x2x4xf32> {
  %k = tw.map(%h, %j, %d) {
    %scale = arith.constant 0.5 : f32
    %l = tw.load %keys[%h, %j, %d] : tensor<2x7x8xf16> -> f16
    %m = arith.extf %l : f16 to f32
    %n = arith.mulf %m, %scale : f32
    %o = arith.truncf %n : f32 to f16
    tw.yield %o : f16
  } : tensor<2x7x8xf16>
  %s = tw.reduce add(%h, %i, %j) over (%d) in <[8]> {
    %l = tw.load %q[%h, %i, %d] : tensor<2x5x8xf16> -> f16
    %m = tw.load %k[%h, %j, %d] : tensor<2x7x8xf16> -> f16
    %lw = arith.extf %l : f16 to f32
    %mw = arith.extf %m : f16 to f32
    %n = arith.mulf %lw, %mw : f32
    tw.yield %n : f32
  } : tensor<2x5x7xf32>
  %t = tw.map(%h, %i, %j) {
    %one = arith.constant 1.0 : f32
    %l = tw.load %s[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = arith.addf %l, %one : f32
    tw.yield %m : f32
  } : tensor<2x5x7xf32>
  %max = tw.reduce max(%h, %i) over (%j) in <[7]> {
    %l = tw.load %t[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    tw.yield %l : f32
  } : tensor<2x5xf32>
  %e = tw.map(%h, %i, %j) {
    %l = tw.load %t[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %max[%h, %i] : tensor<2x5xf32> -> f32
    %d = arith.subf %l, %m : f32
    %x = math.exp %d : f32
    tw.yield %x : f32
  } : tensor<2x5x7xf32>
  %sum = tw.reduce add(%h, %i) over (%j) in <[7]> {
    %l = tw.load %e[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    tw.yield %l : f32
  } : tensor<2x5xf32>
  %w = tw.map(%h, %i, %j) {
    %l = tw.load %e[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %sum[%h, %i] : tensor<2x5xf32> -> f32
    %d = arith.divf %l, %m : f32
    tw.yield %d : f32
  } : tensor<2x5x7xf32>
  %y = tw.reduce add(%i, %h, %d) over (%j) in <[7]> {
    %l = tw.load %w[%h, %i, %j] : tensor<2x5x7xf32> -> f32
    %m = tw.load %v[%h, %j, %d] : tensor<2x7x4xf32> -> f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<5x2x4xf32>
  return %y : tensor<5x2x4xf32>
}

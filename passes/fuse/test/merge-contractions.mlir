// RUN: tilewright-opt %s --tw-merge-contractions=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Two projections with biases of their own, read through other coordinates: one
// contraction, one map, and a reader at an offset.

// CHECK-LABEL: func.func @projections
// CHECK-SAME: (%[[X:.*]]: tensor<5x7xf32>)
// CHECK: %[[W:.*]] = tw.map(%i, %j) attributes {root = "concat"}
// CHECK: } : tensor<7x10xf32>
// CHECK: %[[ALL:.*]] = tw.reduce add (%i, %j) over (%r) in <[7]>
// CHECK: tw.load %[[X]][%i, %r]
// CHECK: tw.load %[[W]][%r, %j]
// CHECK: } : tensor<5x10xf32>
// CHECK: %[[B:.*]] = tw.map(%i) attributes {root = "concat"}
// CHECK: } : tensor<10xf32>
// CHECK: %[[Y:.*]] = tw.map(%i, %j)
// CHECK: tw.load %[[ALL]][%i, %j]
// CHECK: tw.load %[[B]][%j]
// CHECK: } : tensor<5x10xf32>
// CHECK: tw.reduce add (%i, %j) over (%r) in <[2]>
// CHECK: tw.load %[[Y]][%i, %r]
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[C4]]
// CHECK: tw.load %[[Y]][%j, %[[AT]]]
// REMARK: TWF040 contraction: contractions of one operand become one
func.func @projections(%x: tensor<5x7xf32>) -> tensor<5x5xf32> {
  %u = tw.constant tensor<7x4xf32> = #tw.blob<"00000000000000000000000000000001">
  %v = tw.constant tensor<7x6xf32> = #tw.blob<"00000000000000000000000000000002">
  %b = tw.constant tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  %q = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%i, %r] : tensor<5x7xf32> -> f32
    %w = tw.load %u[%r, %j] : tensor<7x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x4xf32>
  %qb = tw.map(%i, %j) {
    %a = tw.load %q[%i, %j] : tensor<5x4xf32> -> f32
    %w = tw.load %b[%j] : tensor<4xf32> -> f32
    %p = arith.addf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x4xf32>
  %k = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%i, %r] : tensor<5x7xf32> -> f32
    %w = tw.load %v[%r, %j] : tensor<7x6xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x6xf32>
  %d = tw.constant tensor<6xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>
  %kb = tw.map(%i, %j) {
    %a = tw.load %k[%i, %j] : tensor<5x6xf32> -> f32
    %w = tw.load %d[%j] : tensor<6xf32> -> f32
    %p = arith.addf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x6xf32>
  %s = tw.reduce add(%i, %j) over (%r) in <[2]> {
    %a = tw.load %qb[%i, %r] : tensor<5x4xf32> -> f32
    %w = tw.load %kb[%j, %r] : tensor<5x6xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x5xf32>
  return %s : tensor<5x5xf32>
}

// -----

// A map that multiplies two projections is the epilogue of one of them.

// CHECK-LABEL: func.func @gate
// CHECK-COUNT-2: tw.reduce
// REMARK: TWF041 refused: merging contractions: an epilogue would become a kernel of its own
func.func @gate(%x: tensor<5x7xf32>) -> tensor<5x4xf32> {
  %u = tw.constant tensor<7x4xf32> = #tw.blob<"00000000000000000000000000000001">
  %v = tw.constant tensor<7x4xf32> = #tw.blob<"00000000000000000000000000000002">
  %q = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%i, %r] : tensor<5x7xf32> -> f32
    %w = tw.load %u[%r, %j] : tensor<7x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x4xf32>
  %k = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%i, %r] : tensor<5x7xf32> -> f32
    %w = tw.load %v[%r, %j] : tensor<7x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x4xf32>
  %y = tw.map(%i, %j) {
    %a = tw.load %q[%i, %j] : tensor<5x4xf32> -> f32
    %w = tw.load %k[%i, %j] : tensor<5x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

// Results of the model stay on their own, other coordinates of the activation
// are another operand.

// CHECK-LABEL: func.func @whole
// CHECK-COUNT-3: tw.reduce
// REMARK: TWF042 refused: merging contractions: something needs the result on its own
func.func @whole(%x: tensor<7x7xf32>) -> (tensor<7x4xf32>, tensor<7x4xf32>, tensor<7x4xf32>) {
  %u = tw.constant tensor<7x4xf32> = #tw.blob<"00000000000000000000000000000001">
  %v = tw.constant tensor<7x4xf32> = #tw.blob<"00000000000000000000000000000002">
  %q = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%i, %r] : tensor<7x7xf32> -> f32
    %w = tw.load %u[%r, %j] : tensor<7x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<7x4xf32>
  %k = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%r, %i] : tensor<7x7xf32> -> f32
    %w = tw.load %v[%r, %j] : tensor<7x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<7x4xf32>
  %l = tw.reduce add(%i, %j) over (%r) in <[7]> {
    %a = tw.load %x[%i, %r] : tensor<7x7xf32> -> f32
    %w = tw.load %v[%r, %j] : tensor<7x4xf32> -> f32
    %p = arith.mulf %a, %w : f32
    tw.yield %p : f32
  } : tensor<7x4xf32>
  return %q, %k, %l : tensor<7x4xf32>, tensor<7x4xf32>, tensor<7x4xf32>
}

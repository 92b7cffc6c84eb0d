// RUN: tilewright-opt %s --tw-drop-unit-axes | FileCheck %s

// CHECK-LABEL: func.func @pointwise_conv
// CHECK: tw.reduce add (%i, %j) over (%r) in <[8]>
// CHECK: tw.load %arg0[%{{.*}}, %r, %j]
// CHECK: tw.load %arg1[%i, %r, %{{.*}}]
// CHECK: tw.reshape %{{.*}} : tensor<4x5xf32> -> tensor<1x4x5xf32>
func.func @pointwise_conv(%x: tensor<1x8x5xf32>, %w: tensor<4x8x1xf32>) -> tensor<1x4x5xf32> {
  %y = tw.reduce add(%n, %m, %l) over (%c, %s) in <[8, 1]> {
    %at = arith.addi %l, %s : index
    %a = tw.load %x[%n, %c, %at] : tensor<1x8x5xf32> -> f32
    %b = tw.load %w[%m, %c, %s] : tensor<4x8x1xf32> -> f32
    %p = arith.mulf %a, %b : f32
    tw.yield %p : f32
  } : tensor<1x4x5xf32>
  return %y : tensor<1x4x5xf32>
}

// One axis stays: a reduction reduces.

// CHECK-LABEL: func.func @all
// CHECK: over (%r) in <[1]>
func.func @all(%x: tensor<4x1x1xf32>) -> tensor<4xf32> {
  %y = tw.reduce max(%i) over (%r, %s) in <[1, 1]> {
    %a = tw.load %x[%i, %r, %s] : tensor<4x1x1xf32> -> f32
    tw.yield %a : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A reduction that keeps its axes, and what follows, is over rows.

// CHECK-LABEL: func.func @kept_axes
// CHECK: tw.reduce add (%i) over (%r)
// CHECK: tw.map(%i)
// CHECK: } : tensor<4xf32>
func.func @kept_axes(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %s = tw.reduce add(%i, %j) over (%r) in <[8]> {
    %a = tw.load %x[%i, %r] : tensor<4x8xf32> -> f32
    tw.yield %a : f32
  } : tensor<4x1xf32>
  %y = tw.map(%i, %j) {
    %a = tw.load %s[%i, %j] : tensor<4x1xf32> -> f32
    %b = math.sqrt %a : f32
    tw.yield %b : f32
  } : tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

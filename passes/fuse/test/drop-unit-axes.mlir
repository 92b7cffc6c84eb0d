// RUN: tilewright-opt %s --tw-drop-unit-axes | FileCheck %s

// CHECK-LABEL: func.func @pointwise_conv
// CHECK: tw.reduce add (%i, %j, %k) over (%r) in <[8]>
// CHECK: tw.load %arg0[%i, %r, %k]
// CHECK: tw.load %arg1[%j, %r, %{{.*}}]
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

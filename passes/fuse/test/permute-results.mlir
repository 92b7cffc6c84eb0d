// RUN: tilewright-opt %s --tw-permute-results=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// CHECK-LABEL: func.func @heads
// CHECK: tw.reduce add (%i, %j, %k) over (%r)
// CHECK: tw.load %arg0[%j, %i, %r]
// CHECK: tw.load %arg1[%j, %r, %k]
// CHECK: } : tensor<5x3x4xf32>
// CHECK-NOT: tw.map
// REMARK: TWF025
func.func @heads(%p: tensor<3x5x7xf32>, %v: tensor<3x7x4xf32>) -> tensor<5x3x4xf32> {
  %o = tw.reduce add(%h, %s, %d) over (%t) in <[7]> {
    %a = tw.load %p[%h, %s, %t] : tensor<3x5x7xf32> -> f32
    %b = tw.load %v[%h, %t, %d] : tensor<3x7x4xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<3x5x4xf32>
  %y = tw.map(%s, %h, %d) {
    %a = tw.load %o[%h, %s, %d] : tensor<3x5x4xf32> -> f32
    tw.yield %a : f32
  } : tensor<5x3x4xf32>
  return %y : tensor<5x3x4xf32>
}

// -----

// The innermost axis stays innermost.

// CHECK-LABEL: func.func @innermost
// CHECK: tw.map
func.func @innermost(%p: tensor<5x7xf32>, %v: tensor<7x4xf32>) -> tensor<4x5xf32> {
  %o = tw.reduce add(%s, %d) over (%t) in <[7]> {
    %a = tw.load %p[%s, %t] : tensor<5x7xf32> -> f32
    %b = tw.load %v[%t, %d] : tensor<7x4xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<5x4xf32>
  %y = tw.map(%d, %s) {
    %a = tw.load %o[%s, %d] : tensor<5x4xf32> -> f32
    tw.yield %a : f32
  } : tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

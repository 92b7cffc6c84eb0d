// RUN: tilewright-opt %s --tw-unit-reductions=remarks=1 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// CHECK-LABEL: func.func @outer
// CHECK-NOT: tw.reduce
// CHECK: tw.map(%i, %j) attributes {root = "matmul"}
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: tw.load %arg0[%i, %[[C0]]]
// CHECK: tw.load %arg1[%[[C0]], %j]
// REMARK: TWF003 reduction: a reduction over one element is a map
func.func @outer(%x: tensor<5x1xf32>, %y: tensor<1x7xf32>) -> tensor<5x7xf32> {
  %o = tw.reduce add(%i, %j) over (%r) in <[1]> attributes {root = "matmul"} {
    %a = tw.load %x[%i, %r] : tensor<5x1xf32> -> f32
    %b = tw.load %y[%r, %j] : tensor<1x7xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<5x7xf32>
  return %o : tensor<5x7xf32>
}

// The position of the greatest is not the greatest.

// CHECK-LABEL: func.func @position
// CHECK: tw.reduce argmax
func.func @position(%x: tensor<5x1xf32>) -> tensor<5xi64> {
  %o = tw.reduce argmax(%i) over (%r) in <[1]> {
    %a = tw.load %x[%i, %r] : tensor<5x1xf32> -> f32
    tw.yield %a : f32
  } : tensor<5xi64>
  return %o : tensor<5xi64>
}

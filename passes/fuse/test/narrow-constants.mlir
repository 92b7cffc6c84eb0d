// RUN: tilewright-opt %s --tw-narrow-constants=remarks=1 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Elements that fit 8 bits are stored in bytes; others are not.

// CHECK-LABEL: func.func @small
// CHECK: tw.constant tensor<2x3xi8> = dense<{{\[\[}}1, -128, 127], [0, 5, -6]]>
// CHECK: tw.reduce add
// CHECK: %[[B:.*]] = tw.load %{{.*}}[%r, %j] : tensor<2x3xi8> -> i8
// CHECK: %[[W:.*]] = arith.extsi %[[B]] : i8 to i32
// CHECK: arith.muli %{{.*}}, %[[W]]
// CHECK-LABEL: func.func @large
// CHECK: tw.constant tensor<2x3xi32>
// CHECK-NOT: i8
// REMARK-COUNT-1: TWF023
// REMARK-NOT: TWF023
func.func @small(%x: tensor<4x2xi32>) -> tensor<4x3xi32> {
  %w = tw.constant tensor<2x3xi32> = dense<[[1, -128, 127], [0, 5, -6]]>
  %y = tw.reduce add(%i, %j) over (%k) in <[2]> {
    %a = tw.load %x[%i, %k] : tensor<4x2xi32> -> i32
    %b = tw.load %w[%k, %j] : tensor<2x3xi32> -> i32
    %c = arith.muli %a, %b : i32
    tw.yield %c : i32
  } : tensor<4x3xi32>
  return %y : tensor<4x3xi32>
}
func.func @large(%x: tensor<4x2xi32>) -> tensor<4x3xi32> {
  %w = tw.constant tensor<2x3xi32> = dense<[[1, -128, 128], [0, 5, -6]]>
  %y = tw.reduce add(%i, %j) over (%k) in <[2]> {
    %a = tw.load %x[%i, %k] : tensor<4x2xi32> -> i32
    %b = tw.load %w[%k, %j] : tensor<2x3xi32> -> i32
    %c = arith.muli %a, %b : i32
    tw.yield %c : i32
  } : tensor<4x3xi32>
  return %y : tensor<4x3xi32>
}

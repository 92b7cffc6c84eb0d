// RUN: tilewright-opt %s --tw-fold-batch-norm=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: TWN010
// CHECK-LABEL: func.func @conv
// CHECK: %[[FACTOR:.*]] = tw.map
// CHECK: math.sqrt
// CHECK: %[[WEIGHTS:.*]] = tw.map(%i, %j, %k, %l)
// CHECK: tw.load %[[FACTOR]][%i]
// CHECK: %[[BIAS:.*]] = tw.map
// CHECK: tw.conv %arg0, %[[WEIGHTS]] bias %[[BIAS]]
// CHECK-NOT: tw.batch_norm
func.func @conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = tw.constant tensor<2x1x1x1xf32> = dense<[[[[1.0]]], [[[2.0]]]]>
  %s = tw.constant tensor<2xf32> = dense<[1.0, 3.0]>
  %v = tw.constant tensor<2xf32> = dense<[0.0, 1.0]>
  %y = tw.conv %x, %w strides [1, 1] pads <[0, 0, 0, 0]> dilations [1, 1] group 1
    : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %z = tw.batch_norm %y, %s, %s, %s, %v epsilon 1.0e-5
    : tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4x4xf32>
  return %z : tensor<1x2x4x4xf32>
}

// -----

// A convolution with another user keeps its weights; the normalisation is one
// multiply-add.

// REMARK: TWN013 refused
// REMARK: TWN011
// CHECK-LABEL: func.func @shared
// CHECK: tw.conv %arg0, %{{.*}} strides
// CHECK: tw.map(%i, %j, %k, %l)
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NEXT: tw.yield
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = tw.constant tensor<2x1x1x1xf32> = dense<[[[[1.0]]], [[[2.0]]]]>
  %s = tw.constant tensor<2xf32> = dense<[1.0, 3.0]>
  %y = tw.conv %x, %w strides [1, 1] pads <[0, 0, 0, 0]> dilations [1, 1] group 1
    : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32> -> tensor<1x2x4x4xf32>
  %z = tw.batch_norm %y, %s, %s, %s, %s epsilon 1.0e-5
    : tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2x4x4xf32>
  return %y, %z : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// A variance of zero with no epsilon would make infinite weights.

// REMARK: TWN014 refused
// CHECK-LABEL: func.func @infinite
// CHECK: tw.batch_norm
func.func @infinite(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %s = tw.constant tensor<2xf32> = dense<[1.0, 3.0]>
  %v = tw.constant tensor<2xf32> = dense<[0.0, 1.0]>
  %z = tw.batch_norm %x, %s, %s, %s, %v epsilon 0.0
    : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2xf32>
  return %z : tensor<1x2xf32>
}

// -----

// REMARK: TWN012 refused
// CHECK-LABEL: func.func @runtime
// CHECK: tw.batch_norm
func.func @runtime(%x: tensor<1x2xf32>, %s: tensor<2xf32>) -> tensor<1x2xf32> {
  %z = tw.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-5
    : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32> -> tensor<1x2xf32>
  return %z : tensor<1x2xf32>
}

// RUN: tilewright-opt %s --tw-sink-reshapes=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// The bias behind a grouped convolution moves to the convolution's own axes,
// and a residual of the same form follows.

// CHECK-LABEL: func.func @grouped
// CHECK: %[[SUM:.*]] = tw.reduce add
// CHECK: %[[MAP:.*]] = tw.map(%i, %j, %k, %l)
// CHECK: %[[G:.*]] = arith.muli %j
// CHECK: %[[M:.*]] = arith.addi %[[G]], %k
// CHECK: tw.load %[[SUM]][%i, %j, %k, %l]
// CHECK: tw.load %arg1[%[[M]]]
// CHECK: tw.load %arg2[%i, %[[M]], %l]
// CHECK: } : tensor<1x2x3x8xf32>
// CHECK: tw.reshape %[[MAP]] : tensor<1x2x3x8xf32> -> tensor<1x6x8xf32>
// REMARK: TWF020
func.func @grouped(%x: tensor<1x2x8x4xf32>, %bias: tensor<6xf32>, %residual: tensor<1x6x8xf32>,
                   %w: tensor<6x4xf32>) -> tensor<1x6x8xf32> {
  %sum = tw.reduce add(%n, %g, %m, %l) over (%c) in <[4]> {
    %three = arith.constant 3 : index
    %gm = arith.muli %g, %three : index
    %oc = arith.addi %gm, %m : index
    %a = tw.load %x[%n, %g, %l, %c] : tensor<1x2x8x4xf32> -> f32
    %b = tw.load %w[%oc, %c] : tensor<6x4xf32> -> f32
    %p = arith.mulf %a, %b : f32
    tw.yield %p : f32
  } : tensor<1x2x3x8xf32>
  %merged = tw.reshape %sum : tensor<1x2x3x8xf32> -> tensor<1x6x8xf32>
  %y = tw.map(%n, %m, %l) {
    %a = tw.load %merged[%n, %m, %l] : tensor<1x6x8xf32> -> f32
    %b = tw.load %bias[%m] : tensor<6xf32> -> f32
    %c = tw.load %residual[%n, %m, %l] : tensor<1x6x8xf32> -> f32
    %d = arith.addf %a, %b : f32
    %e = arith.addf %d, %c : f32
    tw.yield %e : f32
  } : tensor<1x6x8xf32>
  return %y : tensor<1x6x8xf32>
}

// -----

// The axis that a reduction with kept axes has is dropped.

// CHECK-LABEL: func.func @kept_axis
// CHECK: tw.map(%i)
// CHECK: } : tensor<?xf32
// CHECK: tw.reshape
func.func @kept_axis(%x: tensor<?x8xf32, #tw.dims<[N, 8]>>) -> tensor<?x1xf32, #tw.dims<[N, 1]>> {
  %sum = tw.reduce add(%i) over (%r) in <[8]> {
    %a = tw.load %x[%i, %r] : tensor<?x8xf32, #tw.dims<[N, 8]>> -> f32
    tw.yield %a : f32
  } : tensor<?xf32, #tw.dims<[N]>>
  %kept = tw.reshape %sum : tensor<?xf32, #tw.dims<[N]>> -> tensor<?x1xf32, #tw.dims<[N, 1]>>
  %y = tw.map(%i, %j) {
    %a = tw.load %kept[%i, %j] : tensor<?x1xf32, #tw.dims<[N, 1]>> -> f32
    %b = math.sqrt %a : f32
    tw.yield %b : f32
  } : tensor<?x1xf32, #tw.dims<[N, 1]>>
  return %y : tensor<?x1xf32, #tw.dims<[N, 1]>>
}

// -----

// A split would need divisions: the reshape stays.

// CHECK-LABEL: func.func @split
// CHECK: tw.reshape
// CHECK: tw.map
// REMARK: TWF021 refused
func.func @split(%x: tensor<6x8xf32>) -> tensor<2x3xf32> {
  %sum = tw.reduce add(%i) over (%r) in <[8]> {
    %a = tw.load %x[%i, %r] : tensor<6x8xf32> -> f32
    tw.yield %a : f32
  } : tensor<6xf32>
  %parts = tw.reshape %sum : tensor<6xf32> -> tensor<2x3xf32>
  %y = tw.map(%i, %j) {
    %a = tw.load %parts[%i, %j] : tensor<2x3xf32> -> f32
    %b = math.sqrt %a : f32
    tw.yield %b : f32
  } : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

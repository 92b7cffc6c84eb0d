// RUN: tilewright-opt %s --tw-select-layouts=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// A reduction yields the order of the transpose that reads it, and the copy is
// gone.

// CHECK-LABEL: func.func @heads
// CHECK: tw.reduce add (%i, %j, %k) over (%r)
// CHECK: tw.load %arg0[%j, %i, %r]
// CHECK: tw.load %arg1[%j, %r, %k]
// CHECK: } : tensor<5x3x4xf32>
// CHECK-NOT: tw.map
// REMARK: TWL001 reduction stored in axis order 1, 0, 2
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

// Lanes along the innermost axis store whole vectors: a transpose of it stays.

// REMARK: TWL004 refused: reduction stored row-major
// CHECK-LABEL: func.func @innermost
// CHECK: tw.reduce add
// CHECK: tw.load %arg0[%i, %r]
// CHECK: } : tensor<128x128xf32>
// CHECK: tw.map
// CHECK: tw.load %{{.*}}[%j, %i]
// CHECK: } : tensor<128x128xf32>
func.func @innermost(%p: tensor<128x64xf32>) -> tensor<128x128xf32> {
  %v = tw.constant tensor<64x128xf32> = dense<1.0>
  %o = tw.reduce add(%s, %d) over (%t) in <[64]> {
    %a = tw.load %p[%s, %t] : tensor<128x64xf32> -> f32
    %b = tw.load %v[%t, %d] : tensor<64x128xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<128x128xf32>
  %y = tw.map(%d, %s) {
    %a = tw.load %o[%s, %d] : tensor<128x128xf32> -> f32
    tw.yield %a : f32
  } : tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}

// -----

// A convolution over a graph input comes out channels-last, with its bias and
// Relu; the pool follows. A reader of other axes takes permuted coordinates.

// CHECK-LABEL: func.func @conv
// CHECK: tw.reduce add (%i, %j, %k, %l) over (%r, %s, %t) in <[32, 3, 3]>
// CHECK: %[[Y:.*]] = arith.addi %j, %s
// CHECK: %[[X:.*]] = arith.addi %k, %t
// CHECK: tw.load %arg0[%i, %r, %[[Y]], %[[X]]]
// CHECK: tw.load %{{.*}}[%l, %r, %s, %t] : tensor<64x32x3x3xf32>
// CHECK: } : tensor<?x28x28x64xf32, #tw.dims<[N, 28, 28, 64]>>
// CHECK: tw.map(%i, %j, %k, %l)
// CHECK: tw.load %{{.*}}[%i, %j, %k, %l]
// CHECK: tw.load %arg1[%l]
// CHECK: } : tensor<?x28x28x64xf32, #tw.dims<[N, 28, 28, 64]>>
// CHECK: tw.reduce max (%i, %j, %k, %l) over (%r, %s) in <[2, 2]>
// CHECK: tw.load %{{.*}}[%i, %{{.*}}, %{{.*}}, %l]
// CHECK: } : tensor<?x14x14x64xf32, #tw.dims<[N, 14, 14, 64]>>
// CHECK: tw.map(%i, %j)
// CHECK: } : tensor<?x64xf32
// REMARK: TWL001 conv stored channels-last
// REMARK: TWL001 map stored channels-last
// REMARK: TWL001 pool stored channels-last
func.func @conv(%x: tensor<?x32x30x30xf32, #tw.dims<[N, 32, 30, 30]>>, %b: tensor<64xf32>)
    -> tensor<?x64xf32, #tw.dims<[N, 64]>> {
  %w = tw.constant tensor<64x32x3x3xf32> = dense<1.0>
  %c = tw.reduce add(%n, %m, %h, %i) over (%r, %s, %t) in <[32, 3, 3]> attributes {root = "conv"} {
    %y = arith.addi %h, %s : index
    %z = arith.addi %i, %t : index
    %a = tw.load %x[%n, %r, %y, %z] : tensor<?x32x30x30xf32, #tw.dims<[N, 32, 30, 30]>> -> f32
    %e = tw.load %w[%m, %r, %s, %t] : tensor<64x32x3x3xf32> -> f32
    %p = arith.mulf %a, %e : f32
    tw.yield %p : f32
  } : tensor<?x64x28x28xf32, #tw.dims<[N, 64, 28, 28]>>
  %u = tw.map(%n, %m, %h, %i) {
    %zero = arith.constant 0.0 : f32
    %a = tw.load %c[%n, %m, %h, %i] : tensor<?x64x28x28xf32, #tw.dims<[N, 64, 28, 28]>> -> f32
    %e = tw.load %b[%m] : tensor<64xf32> -> f32
    %p = arith.addf %a, %e : f32
    %q = arith.maximumf %p, %zero : f32
    tw.yield %q : f32
  } : tensor<?x64x28x28xf32, #tw.dims<[N, 64, 28, 28]>>
  %v = tw.reduce max(%n, %m, %h, %i) over (%s, %t) in <[2, 2]> attributes {root = "pool"} {
    %two = arith.constant 2 : index
    %h2 = arith.muli %h, %two : index
    %i2 = arith.muli %i, %two : index
    %y = arith.addi %h2, %s : index
    %z = arith.addi %i2, %t : index
    %a = tw.load %u[%n, %m, %y, %z] : tensor<?x64x28x28xf32, #tw.dims<[N, 64, 28, 28]>> -> f32
    tw.yield %a : f32
  } : tensor<?x64x14x14xf32, #tw.dims<[N, 64, 14, 14]>>
  %g = tw.map(%n, %m) {
    %seven = arith.constant 7 : index
    %a = tw.load %v[%n, %m, %seven, %seven] : tensor<?x64x14x14xf32, #tw.dims<[N, 64, 14, 14]>> -> f32
    tw.yield %a : f32
  } : tensor<?x64xf32, #tw.dims<[N, 64]>>
  return %g : tensor<?x64xf32, #tw.dims<[N, 64]>>
}

// -----

// The sum of two convolutions ties them: all of it is channels-last. Sizes are
// symbols.

// CHECK-LABEL: func.func @residual
// CHECK: tw.reduce add
// CHECK: } : tensor<?x?x?x64xf32, #tw.dims<[N, H, W, 64]>>
// CHECK: tw.reduce add
// CHECK: } : tensor<?x?x?x64xf32, #tw.dims<[N, H, W, 64]>>
// CHECK: tw.map(%i, %j, %k, %l)
// CHECK: tw.load %{{.*}}[%i, %j, %k, %l]
// CHECK: tw.load %{{.*}}[%i, %j, %k, %l]
// CHECK: } : tensor<?x?x?x64xf32, #tw.dims<[N, H, W, 64]>>
// CHECK: tw.reduce add (%i, %j) over (%r, %s)
// CHECK: tw.load %{{.*}}[%i, %r, %s, %j]
func.func @residual(%x: tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>>) -> tensor<?x64xf32, #tw.dims<[N, 64]>> {
  %w = tw.constant tensor<64x64xf32> = dense<1.0>
  %c = tw.reduce add(%n, %m, %h, %i) over (%r) in <[64]> attributes {root = "conv"} {
    %a = tw.load %x[%n, %r, %h, %i] : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>> -> f32
    %e = tw.load %w[%m, %r] : tensor<64x64xf32> -> f32
    %p = arith.mulf %a, %e : f32
    tw.yield %p : f32
  } : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>>
  %d = tw.reduce add(%n, %m, %h, %i) over (%r) in <[64]> attributes {root = "conv"} {
    %a = tw.load %c[%n, %r, %h, %i] : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>> -> f32
    %e = tw.load %w[%m, %r] : tensor<64x64xf32> -> f32
    %p = arith.mulf %a, %e : f32
    tw.yield %p : f32
  } : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>>
  %u = tw.map(%n, %m, %h, %i) {
    %zero = arith.constant 0.0 : f32
    %a = tw.load %c[%n, %m, %h, %i] : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>> -> f32
    %e = tw.load %d[%n, %m, %h, %i] : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>> -> f32
    %p = arith.addf %a, %e : f32
    %q = arith.maximumf %p, %zero : f32
    tw.yield %q : f32
  } : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>>
  %g = tw.reduce add(%n, %m) over (%h, %i) in <[H, W]> {
    %a = tw.load %u[%n, %m, %h, %i] : tensor<?x64x?x?xf32, #tw.dims<[N, 64, H, W]>> -> f32
    tw.yield %a : f32
  } : tensor<?x64xf32, #tw.dims<[N, 64]>>
  return %g : tensor<?x64xf32, #tw.dims<[N, 64]>>
}

// -----

// With groups the channel is two axes until a reshape merges them: both move to
// the end, and the reshape hands the order on.

// CHECK-LABEL: func.func @grouped
// CHECK: tw.reduce add (%i, %j, %k, %l, %m) over (%r)
// CHECK: tw.load %arg0[%i, %{{.*}}, %j, %k]
// CHECK: } : tensor<2x28x28x4x32xf32>
// CHECK: tw.reshape %{{.*}} : tensor<2x28x28x4x32xf32> -> tensor<2x28x28x128xf32>
// CHECK: tw.reduce max (%i, %j, %k, %l) over (%r)
// CHECK: tw.load %{{.*}}[%i, %j, %{{.*}}, %l]
// CHECK: } : tensor<2x28x14x128xf32>
// CHECK: tw.map
// CHECK: } : tensor<2x128xf32>
func.func @grouped(%x: tensor<2x128x28x28xf32>) -> tensor<2x128xf32> {
  %w = tw.constant tensor<128x32xf32> = dense<1.0>
  %c = tw.reduce add(%n, %g, %m, %h, %i) over (%r) in <[32]> attributes {root = "conv"} {
    %c32 = arith.constant 32 : index
    %g32 = arith.muli %g, %c32 : index
    %from = arith.addi %g32, %r : index
    %to = arith.addi %g32, %m : index
    %a = tw.load %x[%n, %from, %h, %i] : tensor<2x128x28x28xf32> -> f32
    %e = tw.load %w[%to, %r] : tensor<128x32xf32> -> f32
    %p = arith.mulf %a, %e : f32
    tw.yield %p : f32
  } : tensor<2x4x32x28x28xf32>
  %d = tw.reshape %c : tensor<2x4x32x28x28xf32> -> tensor<2x128x28x28xf32>
  %v = tw.reduce max(%n, %m, %h, %i) over (%s) in <[2]> attributes {root = "pool"} {
    %two = arith.constant 2 : index
    %i2 = arith.muli %i, %two : index
    %z = arith.addi %i2, %s : index
    %a = tw.load %d[%n, %m, %h, %z] : tensor<2x128x28x28xf32> -> f32
    tw.yield %a : f32
  } : tensor<2x128x28x14xf32>
  %y = tw.map(%n, %m) {
    %zero = arith.constant 0 : index
    %a = tw.load %v[%n, %m, %zero, %zero] : tensor<2x128x28x14xf32> -> f32
    tw.yield %a : f32
  } : tensor<2x128xf32>
  return %y : tensor<2x128xf32>
}

// -----

// A result of the graph is row-major. Behind a large convolution a copy is worth
// its cost; so it is in front of a reshape that mixes channels and pixels.

// CHECK-LABEL: func.func @result
// CHECK: tw.reduce add
// CHECK: } : tensor<14x14x256xf32>
// CHECK: %[[COPY:.*]] = tw.map(%i, %j, %k) attributes {root = "layout"}
// CHECK: tw.load %{{.*}}[%j, %k, %i] : tensor<14x14x256xf32>
// CHECK: } : tensor<256x14x14xf32>
// CHECK: %[[FLAT:.*]] = tw.reshape %[[COPY]] : tensor<256x14x14xf32> -> tensor<50176xf32>
// CHECK: return %[[COPY]], %[[FLAT]]
// REMARK-DAG: TWL003 refused: stored in axis order 1, 2, 0: a reshape
// REMARK-DAG: TWL002 stored in axis order 1, 2, 0: a copy
func.func @result(%x: tensor<256x16x16xf32>) -> (tensor<256x14x14xf32>, tensor<50176xf32>) {
  %w = tw.constant tensor<256x256x3x3xf32> = dense<1.0>
  %c = tw.reduce add(%m, %h, %i) over (%r, %s, %t) in <[256, 3, 3]> attributes {root = "conv"} {
    %y = arith.addi %h, %s : index
    %z = arith.addi %i, %t : index
    %a = tw.load %x[%r, %y, %z] : tensor<256x16x16xf32> -> f32
    %e = tw.load %w[%m, %r, %s, %t] : tensor<256x256x3x3xf32> -> f32
    %p = arith.mulf %a, %e : f32
    tw.yield %p : f32
  } : tensor<256x14x14xf32>
  %f = tw.reshape %c : tensor<256x14x14xf32> -> tensor<50176xf32>
  return %c, %f : tensor<256x14x14xf32>, tensor<50176xf32>
}

// -----

// Values of control flow keep their order; a map inside reads through permuted
// coordinates.

// CHECK-LABEL: func.func @branch
// CHECK: tw.reduce add
// CHECK: } : tensor<32x32x64xf32>
// CHECK: tw.if
// CHECK: tw.map(%i, %j)
// CHECK: tw.load %{{.*}}[%i, %c0, %j] : tensor<32x32x64xf32>
// CHECK: } : tensor<32x64xf32>
func.func @branch(%x: tensor<64x32x32xf32>, %y: tensor<32x64xf32>, %p: tensor<i1>)
    -> tensor<32x64xf32> {
  %w = tw.constant tensor<64x64xf32> = dense<1.0>
  %c = tw.reduce add(%m, %h, %i) over (%r) in <[64]> attributes {root = "conv"} {
    %a = tw.load %x[%r, %h, %i] : tensor<64x32x32xf32> -> f32
    %e = tw.load %w[%m, %r] : tensor<64x64xf32> -> f32
    %q = arith.mulf %a, %e : f32
    tw.yield %q : f32
  } : tensor<64x32x32xf32>
  %z = tw.if %p : (tensor<i1>) -> tensor<32x64xf32> {
    %k = tw.map(%h, %m) {
      %zero = arith.constant 0 : index
      %a = tw.load %c[%m, %h, %zero] : tensor<64x32x32xf32> -> f32
      tw.yield %a : f32
    } : tensor<32x64xf32>
    tw.yield %k : tensor<32x64xf32>
  } else {
    tw.yield %y : tensor<32x64xf32>
  }
  return %z : tensor<32x64xf32>
}

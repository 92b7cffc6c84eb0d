// RUN: tilewright-opt %s --tw-form-regions=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Gate and up of an MLP: the product reads both at its own coordinates. The
// reductions come first, whatever the order was.

// CHECK-LABEL: func.func @gate_and_up
// CHECK: tw.fused
// CHECK: tw.reduce add
// CHECK-NEXT: tw.load
// CHECK: tw.reduce add
// CHECK: tw.map
// CHECK: math.exp
// CHECK: tw.map
// CHECK-NOT: tw.fused
// CHECK: return
// REMARK: TWF030 {{.*}}: operations become one kernel
// REMARK: TWF036 {{.*}}: contractions of one domain become one kernel
func.func @gate_and_up(%x: tensor<4x8xf32>, %g: tensor<8x6xf32>, %u: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %a = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %g[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %s = tw.map(%i, %j) {
    %p = tw.load %a[%i, %j] : tensor<4x6xf32> -> f32
    %q = math.exp %p : f32
    tw.yield %q : f32
  } : tensor<4x6xf32>
  %b = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %u[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %c = tw.map(%i, %j) {
    %p = tw.load %s[%i, %j] : tensor<4x6xf32> -> f32
    %q = tw.load %b[%i, %j] : tensor<4x6xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// -----

// Different operands and lengths; a third contraction joins as well.

// CHECK-LABEL: func.func @three
// CHECK: tw.fused
// CHECK-COUNT-3: tw.reduce add
// CHECK-NOT: tw.fused
// CHECK: return
// REMARK: TWF036
func.func @three(%x: tensor<4x8xf32>, %g: tensor<8x6xf32>, %y: tensor<4x5xf32>, %u: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %a = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %g[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %b = tw.reduce add(%i, %j) over (%k) in <[5]> {
    %p = tw.load %y[%i, %k] : tensor<4x5xf32> -> f32
    %q = tw.load %u[%k, %j] : tensor<5x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %c = tw.map(%i, %j) {
    %p = tw.load %a[%i, %j] : tensor<4x6xf32> -> f32
    %q = tw.load %b[%i, %j] : tensor<4x6xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %d = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %g[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %e = tw.map(%i, %j) {
    %p = tw.load %c[%i, %j] : tensor<4x6xf32> -> f32
    %q = tw.load %d[%i, %j] : tensor<4x6xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}

// -----

// Five are too many for one kernel: the first stays alone.

// CHECK-LABEL: func.func @five
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF039 refused
func.func @five(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %a = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %b = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %d = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %e = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %s = tw.map(%i, %j) {
    %a0 = tw.load %a[%i, %j] : tensor<4x6xf32> -> f32
    %b0 = tw.load %b[%i, %j] : tensor<4x6xf32> -> f32
    %c0 = tw.load %c[%i, %j] : tensor<4x6xf32> -> f32
    %d0 = tw.load %d[%i, %j] : tensor<4x6xf32> -> f32
    %e0 = tw.load %e[%i, %j] : tensor<4x6xf32> -> f32
    %s0 = arith.addf %a0, %b0 : f32
    %s1 = arith.addf %s0, %c0 : f32
    %s2 = arith.addf %s1, %d0 : f32
    %s3 = arith.addf %s2, %e0 : f32
    tw.yield %s3 : f32
  } : tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// -----

// The first result is an output anyway: nothing is saved.

// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF037 refused
func.func @kept(%x: tensor<4x8xf32>, %g: tensor<8x6xf32>, %u: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %a = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %g[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %b = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %u[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %c = tw.map(%i, %j) {
    %p = tw.load %a[%i, %j] : tensor<4x6xf32> -> f32
    %q = tw.load %b[%i, %j] : tensor<4x6xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  return %a, %c : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Rows of one are columns of the other: lanes suit one of them only.

// CHECK-LABEL: func.func @tiles
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF038 refused
func.func @tiles(%x: tensor<4x8xf32>, %g: tensor<8x6xf32>, %d: tensor<4x6x8xf32>) -> tensor<4x6xf32> {
  %a = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %q = tw.load %g[%k, %j] : tensor<8x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %b = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %d[%i, %j, %k] : tensor<4x6x8xf32> -> f32
    %q = tw.load %x[%i, %k] : tensor<4x8xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %c = tw.map(%i, %j) {
    %p = tw.load %a[%i, %j] : tensor<4x6xf32> -> f32
    %q = tw.load %b[%i, %j] : tensor<4x6xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

// -----

// The second contraction needs the first one's result: a residual block.

// CHECK-LABEL: func.func @residual
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF033 refused
func.func @residual(%x: tensor<4x6xf32>, %g: tensor<6x6xf32>, %u: tensor<6x6xf32>) -> tensor<4x6xf32> {
  %a = tw.reduce add(%i, %j) over (%k) in <[6]> {
    %p = tw.load %x[%i, %k] : tensor<4x6xf32> -> f32
    %q = tw.load %g[%k, %j] : tensor<6x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %b = tw.reduce add(%i, %j) over (%k) in <[6]> {
    %p = tw.load %a[%i, %k] : tensor<4x6xf32> -> f32
    %q = tw.load %u[%k, %j] : tensor<6x6xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  %c = tw.map(%i, %j) {
    %p = tw.load %a[%i, %j] : tensor<4x6xf32> -> f32
    %q = tw.load %b[%i, %j] : tensor<4x6xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<4x6xf32>
  return %c : tensor<4x6xf32>
}

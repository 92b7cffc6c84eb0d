// RUN: tilewright-opt %s --tw-inline-producers=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: tilewright-opt %s --tw-inline-producers=strict=1 --split-input-file | FileCheck %s --check-prefix=STRICT

// A pad in front of arithmetic becomes a guard; nothing outside is read.

// CHECK-LABEL: func.func @pad
// CHECK-COUNT-1: tw.map
// CHECK: %[[FROM:.*]] = arith.subi %i
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[FROM]]
// CHECK: tw.load %arg0[%[[FROM]]] guard %[[INSIDE]] else
// CHECK: math.exp
func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
  %padded = tw.map(%i) attributes {root = "pad"} {
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %from = arith.subi %i, %one : index
    %inside = arith.cmpi ult, %from, %four : index
    %a = tw.load %x[%from] guard %inside else %zero : f32 : tensor<4xf32> -> f32
    tw.yield %a : f32
  } : tensor<6xf32>
  %y = tw.map(%i) {
    %a = tw.load %padded[%i] : tensor<6xf32> -> f32
    %b = math.exp %a : f32
    tw.yield %b : f32
  } : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// Arithmetic behind a pad: the loads are guarded, the guard chooses.

// CHECK-LABEL: func.func @guarded_arithmetic
// CHECK-COUNT-1: tw.map
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: %[[A:.*]] = tw.load %arg0[%{{.*}}] guard %[[INSIDE]] else
// CHECK: %[[B:.*]] = math.exp %[[A]]
// CHECK: arith.select %[[INSIDE]], %[[B]]
func.func @guarded_arithmetic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<4xf32> -> f32
    %b = math.exp %a : f32
    tw.yield %b : f32
  } : tensor<4xf32>
  %y = tw.map(%i) attributes {root = "pad"} {
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %from = arith.subi %i, %one : index
    %inside = arith.cmpi ult, %from, %four : index
    %a = tw.load %e[%from] guard %inside else %zero : f32 : tensor<4xf32> -> f32
    tw.yield %a : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The head split of attention: reshape and transpose become addressing in the
// contraction; a pad does not.

// CHECK-LABEL: func.func @contraction
// CHECK-NOT: tw.reshape
// CHECK: tw.map
// CHECK: root = "pad"
// CHECK: tw.reduce
// CHECK: %[[H:.*]] = arith.muli %i
// CHECK: %[[HD:.*]] = arith.addi %[[H]], %r
// CHECK: tw.load %arg0[%j, %[[HD]]]
// REMARK: TWF011 refused: pad
func.func @contraction(%x: tensor<5x12xf32>, %w: tensor<3x4xf32>) -> tensor<3x5x4xf32> {
  %split = tw.reshape %x : tensor<5x12xf32> -> tensor<5x3x4xf32>
  %heads = tw.map(%h, %s, %d) {
    %a = tw.load %split[%s, %h, %d] : tensor<5x3x4xf32> -> f32
    tw.yield %a : f32
  } : tensor<3x5x4xf32>
  %padded = tw.map(%i, %j) attributes {root = "pad"} {
    %three = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %inside = arith.cmpi ult, %i, %three : index
    %a = tw.load %w[%i, %j] guard %inside else %zero : f32 : tensor<3x4xf32> -> f32
    tw.yield %a : f32
  } : tensor<4x4xf32>
  %y = tw.reduce add(%h, %s, %n) over (%d) in <[4]> {
    %a = tw.load %heads[%h, %s, %d] : tensor<3x5x4xf32> -> f32
    %b = tw.load %padded[%d, %n] : tensor<4x4xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// -----

// An exponential is not repeated for every column; twice is cheap.

// CHECK-LABEL: func.func @broadcast
// CHECK: tw.map(%i)
// CHECK: math.exp
// CHECK: tw.map(%i, %j)
// CHECK-NOT: tw.map
// REMARK: TWF013 refused
func.func @broadcast(%x: tensor<4xf32>) -> tensor<4x8xf32> {
  %e = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<4xf32> -> f32
    %b = math.exp %a : f32
    tw.yield %b : f32
  } : tensor<4xf32>
  %d = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<4xf32> -> f32
    %b = arith.addf %a, %a : f32
    tw.yield %b : f32
  } : tensor<4xf32>
  %y = tw.map(%i, %j) {
    %a = tw.load %e[%i] : tensor<4xf32> -> f32
    %b = tw.load %d[%i] : tensor<4xf32> -> f32
    %c = arith.addf %a, %b : f32
    tw.yield %c : f32
  } : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// An activation stays the epilogue of its contraction.

// CHECK-LABEL: func.func @epilogue
// CHECK: tw.reduce add
// CHECK: tw.map
// CHECK: arith.maximumf
// CHECK: tw.reduce max
// REMARK: TWF015 refused
func.func @epilogue(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4xf32> {
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %x = tw.load %a[%i, %k] : tensor<4x8xf32> -> f32
    %y = tw.load %b[%k, %j] : tensor<8x6xf32> -> f32
    %p = arith.mulf %x, %y : f32
    tw.yield %p : f32
  } : tensor<4x6xf32>
  %relu = tw.map(%i, %j) {
    %zero = arith.constant 0.0 : f32
    %x = tw.load %c[%i, %j] : tensor<4x6xf32> -> f32
    %y = arith.maximumf %x, %zero : f32
    tw.yield %y : f32
  } : tensor<4x6xf32>
  %m = tw.reduce max(%i) over (%j) in <[6]> {
    %x = tw.load %relu[%i, %j] : tensor<4x6xf32> -> f32
    tw.yield %x : f32
  } : tensor<4xf32>
  return %m : tensor<4xf32>
}

// -----

// A merge of axes is divided away in front of a map, not of a contraction.

// CHECK-LABEL: func.func @merge
// CHECK-NOT: tw.reshape
// CHECK: arith.floordivsi
func.func @merge(%x: tensor<3x2xf32>) -> tensor<6xf32> {
  %t = tw.map(%i, %j) {
    %a = tw.load %x[%j, %i] : tensor<3x2xf32> -> f32
    tw.yield %a : f32
  } : tensor<2x3xf32>
  %flat = tw.reshape %t : tensor<2x3xf32> -> tensor<6xf32>
  %y = tw.map(%i) {
    %a = tw.load %flat[%i] : tensor<6xf32> -> f32
    %b = math.exp %a : f32
    tw.yield %b : f32
  } : tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// Half floats round at the region's boundary only, but for strict compiles.
// The cast of the model rounds always.

// CHECK-LABEL: func.func @half
// CHECK-COUNT-2: arith.truncf
// CHECK-NOT: arith.truncf
// STRICT-LABEL: func.func @half
// STRICT-COUNT-3: arith.truncf
func.func @half(%x: tensor<4xf32>) -> tensor<4xf16> {
  %cast = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<4xf32> -> f32
    %b = arith.truncf %a : f32 to f16
    tw.yield %b : f16
  } : tensor<4xf16>
  %e = tw.map(%i) {
    %a = tw.load %cast[%i] : tensor<4xf16> -> f16
    %b = arith.extf %a : f16 to f32
    %c = math.exp %b : f32
    %d = arith.truncf %c : f32 to f16
    tw.yield %d : f16
  } : tensor<4xf16>
  %y = tw.map(%i) {
    %a = tw.load %e[%i] : tensor<4xf16> -> f16
    %b = arith.extf %a : f16 to f32
    %c = math.exp %b : f32
    %d = arith.truncf %c : f32 to f16
    tw.yield %d : f16
  } : tensor<4xf16>
  return %y : tensor<4xf16>
}

// -----

// One-element constants become scalars of the body.

// CHECK-LABEL: func.func @scalar
// CHECK-NOT: tw.constant
// CHECK: arith.constant 5.0
func.func @scalar(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = tw.constant tensor<1xf32> = dense<[5.0]>
  %y = tw.map(%i) {
    %zero = arith.constant 0 : index
    %a = tw.load %x[%i] : tensor<4xf32> -> f32
    %b = tw.load %c[%zero] : tensor<1xf32> -> f32
    %d = arith.addf %a, %b : f32
    tw.yield %d : f32
  } : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Grouped queries: heads that share keys read them where they are. The head is
// a batch of the product, so dividing it costs nothing.

// CHECK-LABEL: func.func @shared_keys
// CHECK-NOT: tw.map
// CHECK: tw.reduce
// CHECK: %[[GROUP:.*]] = arith.floordivsi %i
// CHECK: tw.load %arg1[%[[GROUP]], %k, %r]
func.func @shared_keys(%q: tensor<8x5x4xf32>, %keys: tensor<2x7x4xf32>) -> tensor<8x5x7xf32> {
  %repeated = tw.map(%g, %n, %t, %d) {
    %a = tw.load %keys[%g, %t, %d] : tensor<2x7x4xf32> -> f32
    tw.yield %a : f32
  } : tensor<2x4x7x4xf32>
  %heads = tw.reshape %repeated : tensor<2x4x7x4xf32> -> tensor<8x7x4xf32>
  %y = tw.reduce add(%h, %s, %t) over (%d) in <[4]> {
    %a = tw.load %q[%h, %s, %d] : tensor<8x5x4xf32> -> f32
    %b = tw.load %heads[%h, %t, %d] : tensor<8x7x4xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<8x5x7xf32>
  return %y : tensor<8x5x7xf32>
}

// -----

// The same behind two reshapes, as a batch of one leaves them.

// CHECK-LABEL: func.func @shared_keys_of_one
// CHECK-NOT: tw.map
// CHECK: tw.reduce
// CHECK: %[[GROUP:.*]] = arith.floordivsi %i
// CHECK: tw.load %arg1[%[[GROUP]], %k, %r]
func.func @shared_keys_of_one(%q: tensor<8x5x4xf32>, %keys: tensor<2x7x4xf32>) -> tensor<8x5x7xf32> {
  %repeated = tw.map(%g, %n, %t, %d) {
    %a = tw.load %keys[%g, %t, %d] : tensor<2x7x4xf32> -> f32
    tw.yield %a : f32
  } : tensor<2x4x7x4xf32>
  %one = tw.reshape %repeated : tensor<2x4x7x4xf32> -> tensor<1x2x4x7x4xf32>
  %heads = tw.reshape %one : tensor<1x2x4x7x4xf32> -> tensor<1x8x7x4xf32>
  %y = tw.reduce add(%h, %s, %t) over (%d) in <[4]> {
    %zero = arith.constant 0 : index
    %a = tw.load %q[%h, %s, %d] : tensor<8x5x4xf32> -> f32
    %b = tw.load %heads[%zero, %h, %t, %d] : tensor<1x8x7x4xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<8x5x7xf32>
  return %y : tensor<8x5x7xf32>
}

// -----

// What is in memory anyway is read, not repeated.

// CHECK-LABEL: func.func @cache
// CHECK-COUNT-2: tw.map
func.func @cache(%past: tensor<4xf32>, %new: tensor<2xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %all = tw.map(%i) attributes {root = "concat"} {
    %four = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %first = arith.cmpi ult, %i, %four : index
    %rest = arith.subi %i, %four : index
    %true = arith.constant true
    %second = arith.xori %first, %true : i1
    %a = tw.load %past[%i] guard %first else %zero : f32 : tensor<4xf32> -> f32
    %b = tw.load %new[%rest] guard %second else %zero : f32 : tensor<2xf32> -> f32
    %c = arith.select %first, %a, %b : f32
    tw.yield %c : f32
  } : tensor<6xf32>
  %y = tw.map(%i) {
    %five = arith.constant 5 : index
    %r = arith.subi %five, %i : index
    %a = tw.load %all[%r] : tensor<6xf32> -> f32
    tw.yield %a : f32
  } : tensor<6xf32>
  return %all, %y : tensor<6xf32>, tensor<6xf32>
}

// -----

// A gather at a constant is a slice, and moves into the contraction.

// CHECK-LABEL: func.func @constant_gather
// CHECK-NOT: tw.map
// CHECK-NOT: tw.clamp_index
func.func @constant_gather(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %one = tw.constant tensor<i64> = dense<1>
  %slice = tw.map(%i, %j) {
    %two = arith.constant 2 : index
    %a = tw.load %one[] : tensor<i64> -> i64
    %b = arith.index_cast %a : i64 to index
    %c = tw.clamp_index %b, %two
    %d = tw.load %x[%c, %i, %j] : tensor<2x3x4xf32> -> f32
    tw.yield %d : f32
  } : tensor<3x4xf32>
  %y = tw.reduce add(%m, %n) over (%k) in <[4]> {
    %a = tw.load %slice[%m, %k] : tensor<3x4xf32> -> f32
    %b = tw.load %w[%k, %n] : tensor<4x5xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// A concatenation computes a part instead of reading it.

// CHECK-LABEL: func.func @part
// CHECK-COUNT-1: tw.map
// CHECK: arith.divf
// CHECK-NOT: tw.map
// CHECK: return
func.func @part(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %p = tw.map(%i) {
    %a = tw.load %y[%i] : tensor<4xf32> -> f32
    %b = arith.divf %a, %a : f32
    %c = arith.addf %b, %a : f32
    tw.yield %c : f32
  } : tensor<4xf32>
  %z = tw.map(%i) {
    %zero = arith.constant 0.0 : f32
    %four = arith.constant 4 : index
    %first = arith.cmpi ult, %i, %four : index
    %a = tw.load %x[%i] guard %first else %zero : f32 : tensor<4xf32> -> f32
    %j = arith.subi %i, %four : index
    %second = arith.cmpi ult, %j, %four : index
    %b = tw.load %p[%j] guard %second else %a : f32 : tensor<4xf32> -> f32
    tw.yield %b : f32
  } : tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// A sum of squares squares what is in memory in any case.

// CHECK-LABEL: func.func @squares
// CHECK: %[[Y:.*]] = tw.map
// CHECK: tw.reduce add
// CHECK: tw.load %[[Y]]
// CHECK: arith.mulf
func.func @squares(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %r: tensor<4x6xf32>) -> (tensor<4xf32>, tensor<4x6xf32>) {
  %x = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %l = tw.load %a[%i, %k] : tensor<4x8xf32> -> f32
    %m = tw.load %b[%k, %j] : tensor<8x6xf32> -> f32
    %n = arith.mulf %l, %m : f32
    tw.yield %n : f32
  } : tensor<4x6xf32>
  %y = tw.map(%i, %j) {
    %l = tw.load %x[%i, %j] : tensor<4x6xf32> -> f32
    %m = tw.load %r[%i, %j] : tensor<4x6xf32> -> f32
    %n = arith.addf %l, %m : f32
    tw.yield %n : f32
  } : tensor<4x6xf32>
  %q = tw.map(%i, %j) {
    %l = tw.load %y[%i, %j] : tensor<4x6xf32> -> f32
    %n = arith.mulf %l, %l : f32
    tw.yield %n : f32
  } : tensor<4x6xf32>
  %s = tw.reduce add(%i) over (%j) in <[6]> {
    %l = tw.load %q[%i, %j] : tensor<4x6xf32> -> f32
    tw.yield %l : f32
  } : tensor<4xf32>
  return %s, %y : tensor<4xf32>, tensor<4x6xf32>
}

// -----

// Weights of bytes times one row of activations: each is read once, so the
// contraction dequantises them. What many rows read is computed before.

// CHECK-LABEL: func.func @dequantised
// CHECK: tw.reduce add
// CHECK: %[[W:.*]] = tw.load %arg1[%r, %{{.*}}] : tensor<512x256xui8>
// CHECK: arith.uitofp %[[W]]
// CHECK: tw.load %arg2[%{{.*}}] : tensor<256xf32>
// CHECK-LABEL: func.func @many_rows
// CHECK: tw.map
// CHECK: arith.uitofp
// CHECK: tw.reduce add
// CHECK-NOT: arith.uitofp
// REMARK: TWF010 map
// REMARK: TWF012 refused: map
func.func @dequantised(%x: tensor<512xf32>, %w: tensor<512x256xui8>, %s: tensor<256xf32>) -> tensor<256xf32> {
  %d = tw.map(%k, %j) {
    %a = tw.load %w[%k, %j] : tensor<512x256xui8> -> i8
    %b = arith.uitofp %a : i8 to f32
    %c = tw.load %s[%j] : tensor<256xf32> -> f32
    %e = arith.mulf %b, %c : f32
    tw.yield %e : f32
  } : tensor<512x256xf32>
  %y = tw.reduce add(%j) over (%k) in <[512]> {
    %a = tw.load %x[%k] : tensor<512xf32> -> f32
    %b = tw.load %d[%k, %j] : tensor<512x256xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<256xf32>
  return %y : tensor<256xf32>
}
func.func @many_rows(%x: tensor<4096x512xf32>, %w: tensor<512x256xui8>) -> tensor<4096x256xf32> {
  %d = tw.map(%k, %j) {
    %a = tw.load %w[%k, %j] : tensor<512x256xui8> -> i8
    %b = arith.uitofp %a : i8 to f32
    tw.yield %b : f32
  } : tensor<512x256xf32>
  %y = tw.reduce add(%i, %j) over (%k) in <[512]> {
    %a = tw.load %x[%i, %k] : tensor<4096x512xf32> -> f32
    %b = tw.load %d[%k, %j] : tensor<512x256xf32> -> f32
    %c = arith.mulf %a, %b : f32
    tw.yield %c : f32
  } : tensor<4096x256xf32>
  return %y : tensor<4096x256xf32>
}

// -----

// Padding behind a zero point is the zero point: the load takes the guard, and
// nothing is selected. What the quantisation gives stays in bytes.

// CHECK-LABEL: func.func @zero_point
// CHECK: tw.map
// CHECK: arith.trunci
// CHECK: : tensor<4096xi8>
// CHECK: tw.reduce add
// CHECK: %[[ZP:.*]] = arith.constant 7 : i8
// CHECK: %[[X:.*]] = tw.load %{{.*}} guard %{{.*}} else %[[ZP]] : i8 : tensor<4096xi8>
// CHECK: %[[WIDE:.*]] = arith.extsi %[[X]]
// CHECK: arith.subi %[[WIDE]], %{{.*}} : i32
// CHECK-NOT: arith.select
// REMARK: TWF022 refused: map
func.func @zero_point(%x: tensor<4096xi32>, %w: tensor<2xi32>) -> tensor<4096xi32> {
  %q = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<4096xi32> -> i32
    %five = arith.constant 5 : i32
    %b = arith.muli %a, %five : i32
    %c = arith.trunci %b : i32 to i8
    tw.yield %c : i8
  } : tensor<4096xi8>
  %centered = tw.map(%i) {
    %a = tw.load %q[%i] : tensor<4096xi8> -> i8
    %b = arith.extsi %a : i8 to i32
    %zp = arith.constant 7 : i32
    %c = arith.subi %b, %zp : i32
    tw.yield %c : i32
  } : tensor<4096xi32>
  %y = tw.reduce add(%i) over (%k) in <[2]> {
    %one = arith.constant 1 : index
    %n = arith.constant 4096 : index
    %zero = arith.constant 0 : i32
    %s = arith.addi %i, %k : index
    %from = arith.subi %s, %one : index
    %inside = arith.cmpi ult, %from, %n : index
    %a = tw.load %centered[%from] guard %inside else %zero : i32 : tensor<4096xi32> -> i32
    %b = tw.load %w[%k] : tensor<2xi32> -> i32
    %c = arith.muli %a, %b : i32
    tw.yield %c : i32
  } : tensor<4096xi32>
  return %y : tensor<4096xi32>
}

// -----

// Nothing stands for the padding of a sum with a tensor's element, and what
// may be attention reads its operands as they are.

// CHECK-LABEL: func.func @no_padding
// CHECK-COUNT-2: tw.map
// CHECK: tw.reduce add
// REMARK: TWF018 refused: map
// REMARK: TWF019 refused: map
func.func @no_padding(%x: tensor<64xf16>, %b: tensor<1xf32>, %w: tensor<3xf32>,
                      %q: tensor<2x1x64xf32>, %v: tensor<2x64x32xf16>) -> (tensor<64xf32>, tensor<2x1x32xf32>) {
  %shifted = tw.map(%i) {
    %z = arith.constant 0 : index
    %a = tw.load %x[%i] : tensor<64xf16> -> f16
    %c = arith.extf %a : f16 to f32
    %d = tw.load %b[%z] : tensor<1xf32> -> f32
    %e = arith.addf %c, %d : f32
    tw.yield %e : f32
  } : tensor<64xf32>
  %wide = tw.map(%h, %k, %j) {
    %a = tw.load %v[%h, %k, %j] : tensor<2x64x32xf16> -> f16
    %c = arith.extf %a : f16 to f32
    tw.yield %c : f32
  } : tensor<2x64x32xf32>
  %y = tw.reduce add(%i) over (%k) in <[3]> {
    %one = arith.constant 1 : index
    %n = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %s = arith.addi %i, %k : index
    %from = arith.subi %s, %one : index
    %inside = arith.cmpi ult, %from, %n : index
    %a = tw.load %shifted[%from] guard %inside else %zero : f32 : tensor<64xf32> -> f32
    %c = tw.load %w[%k] : tensor<3xf32> -> f32
    %d = arith.mulf %a, %c : f32
    tw.yield %d : f32
  } : tensor<64xf32>
  %z = tw.reduce add(%h, %i, %j) over (%k) in <[64]> {
    %a = tw.load %q[%h, %i, %k] : tensor<2x1x64xf32> -> f32
    %c = tw.load %wide[%h, %k, %j] : tensor<2x64x32xf32> -> f32
    %d = arith.mulf %a, %c : f32
    tw.yield %d : f32
  } : tensor<2x1x32xf32>
  return %y, %z : tensor<64xf32>, tensor<2x1x32xf32>
}

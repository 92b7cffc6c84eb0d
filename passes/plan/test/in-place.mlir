// RUN: tilewright-opt %s --split-input-file --pass-pipeline='builtin.module(tw-print-plan{in-place=true remarks=true})' -o /dev/null 2>&1 | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tw-print-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART

// The second region writes over the first one's result; the first does not
// write over the input. What is returned makes the memory the caller's.

// CHECK:      TWP003
// CHECK-NOT:  TWP003
// CHECK:      main(%0: f32[8] parameter) -> (%[[OUT:[0-9]+]]: f32[8] alias of %[[A:[0-9]+]])
// CHECK-NEXT:   0: launch first (%0: f32[8] parameter, %[[A]]: f32[8] owned)
// CHECK-NEXT:   1: launch second (%[[A]]: f32[8] owned, %[[OUT]]: f32[8] alias of %[[A]])
// APART:        1: launch second (%[[A:[0-9]+]]: f32[8] arena 0, %{{[0-9]+}}: f32[8] owned)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tw.fused @first(%a = %x : tensor<8xf32>) {
    %1 = tw.map(%i) {
      %v = tw.load %a[%i] : tensor<8xf32> -> f32
      tw.yield %v : f32
    } : tensor<8xf32>
    tw.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  %2 = tw.fused @second(%a = %0 : tensor<8xf32>) {
    %1 = tw.map(%i) {
      %v = tw.load %a[%i] : tensor<8xf32> -> f32
      tw.yield %v : f32
    } : tensor<8xf32>
    tw.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Not over an operand that is needed later, nor over one that is read at other
// coordinates, nor over one of another element size.

// CHECK-NOT: TWP003
// CHECK:     launch late
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xi64>) {
  %0 = tw.fused @first(%a = %x : tensor<8xf32>) {
    %1 = tw.map(%i) {
      %v = tw.load %a[%i] : tensor<8xf32> -> f32
      tw.yield %v : f32
    } : tensor<8xf32>
    tw.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  %2 = tw.fused @early(%a = %0 : tensor<8xf32>) {
    %1 = tw.map(%i) {
      %v = tw.load %a[%i] : tensor<8xf32> -> f32
      tw.yield %v : f32
    } : tensor<8xf32>
    tw.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  %3 = tw.fused @reversed(%a = %0 : tensor<8xf32>) {
    %1 = tw.map(%i) {
      %c7 = arith.constant 7 : index
      %j = arith.subi %c7, %i : index
      %v = tw.load %a[%j] : tensor<8xf32> -> f32
      tw.yield %v : f32
    } : tensor<8xf32>
    tw.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  %4 = tw.fused @late(%a = %0 : tensor<8xf32>) {
    %1 = tw.map(%i) {
      %v = tw.load %a[%i] : tensor<8xf32> -> f32
      %w = arith.fptosi %v : f32 to i64
      tw.yield %w : i64
    } : tensor<8xi64>
    tw.yield %1 : tensor<8xi64>
  } : tensor<8xi64>
  return %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xi64>
}

// -----

// A residual is added in the epilogue of a contraction: its sum may lie over
// the residual, not over a factor.

// CHECK:      TWP003
// CHECK-NOT:  TWP003
// CHECK:      launch add (%[[F:[0-9]+]]: f32[4, 4] arena 0, %[[R:[0-9]+]]: f32[4, 4] owned, %{{[0-9]+}}: f32[4, 4] alias of %[[R]])
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %f, %r = tw.fused @both(%a = %x : tensor<4x4xf32>) {
    %1, %2 = tw.map(%i, %j) {
      %v = tw.load %a[%i, %j] : tensor<4x4xf32> -> f32
      %w = arith.negf %v : f32
      tw.yield %v, %w : f32, f32
    } : tensor<4x4xf32>, tensor<4x4xf32>
    tw.yield %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
  } : tensor<4x4xf32>, tensor<4x4xf32>
  %y = tw.fused @add(%a = %f : tensor<4x4xf32>, %b = %r : tensor<4x4xf32>) {
    %1 = tw.reduce add (%i, %j) over (%k) in <[4]> {
      %v = tw.load %a[%i, %k] : tensor<4x4xf32> -> f32
      %w = tw.load %a[%k, %j] : tensor<4x4xf32> -> f32
      %p = arith.mulf %v, %w : f32
      tw.yield %p : f32
    } : tensor<4x4xf32>
    %2 = tw.map(%i, %j) {
      %v = tw.load %1[%i, %j] : tensor<4x4xf32> -> f32
      %w = tw.load %b[%i, %j] : tensor<4x4xf32> -> f32
      %s = arith.addf %v, %w : f32
      tw.yield %s : f32
    } : tensor<4x4xf32>
    tw.yield %2 : tensor<4x4xf32>
  } : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A row is read by all of a softmax's primitives before the last one writes.

// CHECK: TWP003
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tw.fused @scores(%a = %x : tensor<4x8xf32>) {
    %1 = tw.map(%i, %j) {
      %v = tw.load %a[%i, %j] : tensor<4x8xf32> -> f32
      tw.yield %v : f32
    } : tensor<4x8xf32>
    tw.yield %1 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  %2 = tw.fused @softmax(%a = %0 : tensor<4x8xf32>) attributes {rows = 1 : i64} {
    %1 = tw.reduce max (%i) over (%k) in <[8]> {
      %v = tw.load %a[%i, %k] : tensor<4x8xf32> -> f32
      tw.yield %v : f32
    } : tensor<4xf32>
    %3 = tw.map(%i, %j) {
      %v = tw.load %a[%i, %j] : tensor<4x8xf32> -> f32
      %m = tw.load %1[%i] : tensor<4xf32> -> f32
      %s = arith.subf %v, %m : f32
      tw.yield %s : f32
    } : tensor<4x8xf32>
    tw.yield %3 : tensor<4x8xf32>
  } : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

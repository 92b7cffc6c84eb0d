// RUN: tilewright-opt %s --tw-fold-constants=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// What needs no arithmetic folds without an evaluator.

// CHECK-LABEL: func.func @trivial
// CHECK: tw.constant tensor<2x2xf32> = dense<{{\[\[}}1.0{{.*}}, 2.0
// CHECK: tw.constant tensor<2xi64> = dense<[3, 5]>
// CHECK-NOT: tw.reshape
// CHECK-NOT: tw.sizes
func.func @trivial() -> (tensor<2x2xf32>, tensor<2xi64>) {
  %c = tw.constant tensor<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  %r = tw.reshape %c : tensor<4xf32> -> tensor<2x2xf32>
  %s = tw.sizes <[3, 5]> : tensor<2xi64>
  return %r, %s : tensor<2x2xf32>, tensor<2xi64>
}

// -----

// A branch whose condition is known takes the place of the tw.if, and its sizes
// the place of the symbols.

// REMARK: TWN023
// CHECK-LABEL: func.func @branch
// CHECK-SAME: -> tensor<3xf32>
// CHECK-NOT: tw.if
// CHECK: return %arg1 : tensor<3xf32>
func.func @branch(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<?xf32, #tw.dims<[u0]>> {
  %c = tw.constant tensor<i1> = dense<false>
  %r = tw.if %c {defines = ["u0"]} : (tensor<i1>) -> tensor<?xf32, #tw.dims<[u0]>> {
    tw.yield %x : tensor<2xf32>
  } else {
    tw.yield %y : tensor<3xf32>
  }
  return %r : tensor<?xf32, #tw.dims<[u0]>>
}

// -----

// Arithmetic needs somebody to run it; here is nobody.

// REMARK: TWN022 refused
// CHECK-LABEL: func.func @arithmetic
// CHECK: tw.map
func.func @arithmetic() -> tensor<2xf32> {
  %c = tw.constant tensor<2xf32> = dense<[1.0, 2.0]>
  %r = tw.map(%i) {
    %a = tw.load %c[%i] : tensor<2xf32> -> f32
    %b = arith.addf %a, %a : f32
    tw.yield %b : f32
  } : tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// Four megabytes out of four bytes do not fold.

// REMARK: TWN021 refused
// CHECK-LABEL: func.func @large
// CHECK: tw.map
func.func @large() -> tensor<1048576xf32> {
  %c = tw.constant tensor<1xf32> = dense<[1.0]>
  %r = tw.map(%i) {
    %zero = arith.constant 0 : index
    %a = tw.load %c[%zero] : tensor<1xf32> -> f32
    tw.yield %a : f32
  } : tensor<1048576xf32>
  return %r : tensor<1048576xf32>
}

// -----

// Random numbers never fold, and what depends on them does not either.

// REMARK-NOT: TWN0
// CHECK-LABEL: func.func @random
// CHECK: tw.call "random_uniform"
func.func @random() -> tensor<2xf32> {
  %r = tw.call "random_uniform"() {operands_present = array<i1>} : () -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// RUN: tilewright-opt %s --tw-canonicalize-graph=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// A size that is read but mentioned nowhere is dropped, and with it what
// computed it; one that a type mentions stays.

// REMARK: TWN001
// CHECK-LABEL: func.func @sizes
// CHECK-NOT: defines ["unused"]
// CHECK: tw.read_sizes %{{.*}} [0] defines ["used"]
func.func @sizes(%shape: tensor<1xi64>, %x: tensor<4xf32>) -> tensor<?xf32, #tw.dims<[used]>> {
  tw.read_sizes %shape [0] defines ["unused"] : tensor<1xi64>
  tw.read_sizes %shape [0] defines ["used"] : tensor<1xi64>
  %y = tw.map(%i) {
    %zero = arith.constant 0 : index
    %a = tw.load %x[%zero] : tensor<4xf32> -> f32
    tw.yield %a : f32
  } : tensor<?xf32, #tw.dims<[used]>>
  return %y : tensor<?xf32, #tw.dims<[used]>>
}

// -----

// Equal primitives merge; constants of a body stay in it.

// CHECK-LABEL: func.func @merge
// CHECK-COUNT-1: tw.map
// CHECK: arith.constant 2.0
// CHECK-NOT: tw.map
// CHECK: return
func.func @merge(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = tw.map(%i) {
    %two = arith.constant 2.0 : f32
    %v = tw.load %x[%i] : tensor<4xf32> -> f32
    %w = arith.mulf %v, %two : f32
    tw.yield %w : f32
  } : tensor<4xf32>
  %b = tw.map(%i) {
    %two = arith.constant 2.0 : f32
    %v = tw.load %x[%i] : tensor<4xf32> -> f32
    %w = arith.mulf %v, %two : f32
    tw.yield %w : f32
  } : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Unused results of a branch go, and what only they needed.

// CHECK-LABEL: func.func @branch
// CHECK: tw.if %{{.*}} : (tensor<i1>) -> tensor<4xf32>
// CHECK-NEXT: tw.yield %{{.*}} : tensor<4xf32>
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = tw.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %unused = tw.map(%i) {
      %v = tw.load %x[%i] : tensor<4xf32> -> f32
      %w = math.exp %v : f32
      tw.yield %w : f32
    } : tensor<4xf32>
    tw.yield %x, %unused : tensor<4xf32>, tensor<4xf32>
  } else {
    tw.yield %y, %y : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// A builtin that nobody uses goes, random numbers stay.

// CHECK-LABEL: func.func @calls
// CHECK-NOT: tw.call "nonzero"
// CHECK: tw.call "random_normal"
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = tw.call "nonzero"(%x) {operands_present = array<i1: true>, defines = ["u0"]}
    : (tensor<4xf32>) -> tensor<1x?xi64, #tw.dims<[1, u0]>>
  %r = tw.call "random_normal"() {operands_present = array<i1>} : () -> tensor<2xf32>
  return %x : tensor<4xf32>
}

// -----

// A stack that nobody reads is not stacked; what a loop carries stays.

// CHECK-LABEL: func.func @loop
// CHECK: tw.loop trips %arg0 : tensor<i64> carrying(%arg1 : tensor<4xf32>)
// CHECK-SAME: : tensor<4xf32> {
// CHECK: tw.yield %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
func.func @loop(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = tw.loop trips %n : tensor<i64> carrying(%x : tensor<4xf32>) {defines = ["n"]}
    : tensor<4xf32>, tensor<?x4xf32, #tw.dims<[n, 4]>> {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<4xf32>):
    %b = tw.map(%j) {
      %v = tw.load %a[%j] : tensor<4xf32> -> f32
      %w = math.exp %v : f32
      tw.yield %w : f32
    } : tensor<4xf32>
    tw.yield %c, %b, %b : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// A condition that is always true says nothing beside a trip count.

// CHECK-LABEL: func.func @always
// CHECK: tw.loop trips %arg0 : tensor<i64> carrying(
// CHECK: tw.loop trips %arg0 : tensor<i64> carrying(
// CHECK: tw.loop trips %arg0 : tensor<i64> while %arg1 : tensor<i1> carrying(
// CHECK: tw.loop while {{.*}} carrying(
func.func @always(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = tw.constant tensor<i1> = dense<true>
  %0 = tw.loop trips %n : tensor<i64> while %true : tensor<i1> carrying(%x : tensor<4xf32>) : tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<4xf32>):
    %t = tw.map(%k) {
      %v = tw.load %s[%k] : tensor<4xf32> -> f32
      %w = arith.addf %v, %v : f32
      tw.yield %w : f32
    } : tensor<4xf32>
    tw.yield %go, %t : tensor<i1>, tensor<4xf32>
  }
  %1 = tw.loop trips %n : tensor<i64> while %true : tensor<i1> carrying(%x : tensor<4xf32>) : tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<4xf32>):
    %t = tw.map(%k) {
      %v = tw.load %s[%k] : tensor<4xf32> -> f32
      %w = arith.mulf %v, %v : f32
      tw.yield %w : f32
    } : tensor<4xf32>
    tw.yield %true, %t : tensor<i1>, tensor<4xf32>
  }
  %2 = tw.loop trips %n : tensor<i64> while %c : tensor<i1> carrying(%x : tensor<4xf32>) : tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<4xf32>):
    tw.yield %go, %s : tensor<i1>, tensor<4xf32>
  }
  %3 = tw.loop while %true : tensor<i1> carrying(%x : tensor<4xf32>) : tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %s: tensor<4xf32>):
    tw.yield %go, %s : tensor<i1>, tensor<4xf32>
  }
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

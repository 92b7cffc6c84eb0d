// RUN: tilewright-opt %s --tw-form-regions=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// A contraction, its epilogue, and a residual of the same domain: one kernel.

// CHECK-LABEL: func.func @epilogue
// CHECK: tw.fused @fc_relu(
// CHECK: tw.reduce add
// CHECK: tw.map
// CHECK: arith.maximumf
// CHECK: } : tensor<4x6xf32>
// CHECK-NOT: tw.fused
func.func @epilogue(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %r: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %x = tw.load %a[%i, %k] : tensor<4x8xf32> -> f32
    %y = tw.load %b[%k, %j] : tensor<8x6xf32> -> f32
    %p = arith.mulf %x, %y : f32
    tw.yield %p : f32
  } : tensor<4x6xf32> loc("fc")
  %y = tw.map(%i, %j) {
    %zero = arith.constant 0.0 : f32
    %x = tw.load %c[%i, %j] : tensor<4x6xf32> -> f32
    %z = tw.load %r[%i, %j] : tensor<4x6xf32> -> f32
    %s = arith.addf %x, %z : f32
    %m = arith.maximumf %s, %zero : f32
    tw.yield %m : f32
  } : tensor<4x6xf32> loc("relu")
  return %y : tensor<4x6xf32>
}

// -----

// Softmax: two reductions over the same rows and a map.

// CHECK-LABEL: func.func @softmax
// CHECK: tw.fused @{{.*}} attributes {rows = 1 : i64}
// CHECK: tw.reduce max
// CHECK: tw.reduce add
// CHECK: tw.map(%i, %j)
// CHECK-NOT: tw.fused
func.func @softmax(%x: tensor<?x16xf32, #tw.dims<[N, 16]>>) -> tensor<?x16xf32, #tw.dims<[N, 16]>> {
  %max = tw.reduce max(%i) over (%j) in <[16]> {
    %a = tw.load %x[%i, %j] : tensor<?x16xf32, #tw.dims<[N, 16]>> -> f32
    tw.yield %a : f32
  } : tensor<?xf32, #tw.dims<[N]>>
  %sum = tw.reduce add(%i) over (%j) in <[16]> {
    %a = tw.load %x[%i, %j] : tensor<?x16xf32, #tw.dims<[N, 16]>> -> f32
    %b = tw.load %max[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    tw.yield %d : f32
  } : tensor<?xf32, #tw.dims<[N]>>
  %y = tw.map(%i, %j) {
    %a = tw.load %x[%i, %j] : tensor<?x16xf32, #tw.dims<[N, 16]>> -> f32
    %b = tw.load %max[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    %e = tw.load %sum[%i] : tensor<?xf32, #tw.dims<[N]>> -> f32
    %f = arith.divf %d, %e : f32
    tw.yield %f : f32
  } : tensor<?x16xf32, #tw.dims<[N, 16]>>
  return %y : tensor<?x16xf32, #tw.dims<[N, 16]>>
}

// -----

// A value with a user outside is an output of the region as well.

// CHECK-LABEL: func.func @outputs
// CHECK: %[[R:.*]]:2 = tw.fused
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @outputs(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = tw.map(%i) {
    %v = tw.load %x[%i] : tensor<4xf32> -> f32
    %w = math.exp %v : f32
    tw.yield %w : f32
  } : tensor<4xf32>
  %b = tw.map(%i) {
    %v = tw.load %a[%i] : tensor<4xf32> -> f32
    %w = math.exp %v : f32
    tw.yield %w : f32
  } : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// The second map needs a call that needs the first: no region holds both.

// CHECK-LABEL: func.func @cycle
// CHECK: tw.fused
// CHECK: tw.call "sort"
// CHECK: tw.fused
// REMARK: TWF031 refused
func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tw.map(%i) {
    %v = tw.load %x[%i] : tensor<4xf32> -> f32
    %w = math.exp %v : f32
    tw.yield %w : f32
  } : tensor<4xf32>
  %s = tw.call "sort"(%a) {operands_present = array<i1: true>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = tw.map(%i) {
    %v = tw.load %a[%i] : tensor<4xf32> -> f32
    %u = tw.load %s[%i] : tensor<4xf32> -> f32
    %w = arith.addf %v, %u : f32
    tw.yield %w : f32
  } : tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// Nor where the dependence goes through a size.

// CHECK-LABEL: func.func @size_cycle
// CHECK: tw.fused
// CHECK: tw.read_sizes
// CHECK: tw.fused
// REMARK: TWF031 refused
func.func @size_cycle(%x: tensor<1xi64>) -> tensor<1xi64> {
  %a = tw.map(%i) {
    %v = tw.load %x[%i] : tensor<1xi64> -> i64
    %w = arith.addi %v, %v : i64
    tw.yield %w : i64
  } : tensor<1xi64>
  tw.read_sizes %a [0] defines ["u0"] : tensor<1xi64>
  %b = tw.map(%i) {
    %v = tw.load %a[%i] : tensor<1xi64> -> i64
    %n = tw.size <u0>
    %m = arith.index_cast %n : index to i64
    %w = arith.addi %v, %m : i64
    tw.yield %w : i64
  } : tensor<1xi64>
  return %b : tensor<1xi64>
}

// -----

// Two contractions stay two kernels; a transposing map stays alone.

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: tw.fused
// REMARK: TWF033 refused
// REMARK: TWF032 refused
func.func @apart(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = tw.reduce add(%i, %j) over (%k) in <[4]> {
    %x = tw.load %a[%i, %k] : tensor<4x4xf32> -> f32
    %y = tw.load %a[%k, %j] : tensor<4x4xf32> -> f32
    %p = arith.mulf %x, %y : f32
    tw.yield %p : f32
  } : tensor<4x4xf32>
  %d = tw.reduce add(%i, %j) over (%k) in <[4]> {
    %x = tw.load %c[%i, %k] : tensor<4x4xf32> -> f32
    %y = tw.load %a[%k, %j] : tensor<4x4xf32> -> f32
    %p = arith.mulf %x, %y : f32
    tw.yield %p : f32
  } : tensor<4x4xf32>
  %e = tw.map(%i, %j) {
    %x = tw.load %d[%j, %i] : tensor<4x4xf32> -> f32
    tw.yield %x : f32
  } : tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// -----

// Few long rows would leave threads idle.

// CHECK-LABEL: func.func @few_rows
// CHECK-COUNT-2: tw.fused
// REMARK: TWF034 refused
func.func @few_rows(%x: tensor<2x100000xf32>) -> tensor<2x100000xf32> {
  %max = tw.reduce max(%i) over (%j) in <[100000]> {
    %a = tw.load %x[%i, %j] : tensor<2x100000xf32> -> f32
    tw.yield %a : f32
  } : tensor<2xf32>
  %y = tw.map(%i, %j) {
    %a = tw.load %x[%i, %j] : tensor<2x100000xf32> -> f32
    %b = tw.load %max[%i] : tensor<2xf32> -> f32
    %c = arith.subf %a, %b : f32
    tw.yield %c : f32
  } : tensor<2x100000xf32>
  return %y : tensor<2x100000xf32>
}

// -----

// Branches have regions of their own.

// CHECK-LABEL: func.func @branch
// CHECK: tw.if
// CHECK: tw.fused
// CHECK: else
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = tw.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = tw.map(%i) {
      %v = tw.load %x[%i] : tensor<4xf32> -> f32
      %w = math.exp %v : f32
      tw.yield %w : f32
    } : tensor<4xf32>
    tw.yield %a : tensor<4xf32>
  } else {
    tw.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Maps over one domain that read one tensor are one kernel.

// CHECK-LABEL: func.func @siblings
// CHECK: %{{.*}}:2 = tw.fused
// CHECK-NOT: tw.fused
// CHECK: return
// REMARK: TWF035 tw.map: maps that read one tensor become one kernel
func.func @siblings(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<8xf32> -> f32
    tw.yield %a : f32
  } : tensor<4xf32>
  %z = tw.map(%i) {
    %four = arith.constant 4 : index
    %j = arith.addi %i, %four : index
    %a = tw.load %x[%j] : tensor<8xf32> -> f32
    tw.yield %a : f32
  } : tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

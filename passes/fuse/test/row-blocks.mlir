// RUN: tilewright-opt %s --tw-form-regions=remarks=1 --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// A projection, its residual and a softmax over what it gives: blocks of rows.

// CHECK-LABEL: func.func @projection
// CHECK: tw.fused @{{.*}} attributes {rows = 1 : i64}
// CHECK: tw.reduce add
// CHECK: tw.map
// CHECK: tw.reduce max
// CHECK: tw.reduce add
// CHECK: tw.map
// CHECK-NOT: tw.fused
// CHECK: return
// REMARK: TWF043 {{.*}}: rows are finished where a contraction has put them
func.func @projection(%x: tensor<512x8xf32>, %r: tensor<512x16xf32>) -> tensor<512x16xf32> {
  %w = tw.constant tensor<8x16xf32> = #tw.blob<"00">
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<512x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x16xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<512x16xf32>
  %a = tw.map(%i, %j) {
    %p = tw.load %c[%i, %j] : tensor<512x16xf32> -> f32
    %q = tw.load %r[%i, %j] : tensor<512x16xf32> -> f32
    %t = arith.addf %p, %q : f32
    tw.yield %t : f32
  } : tensor<512x16xf32>
  %max = tw.reduce max(%i) over (%j) in <[16]> {
    %p = tw.load %a[%i, %j] : tensor<512x16xf32> -> f32
    tw.yield %p : f32
  } : tensor<512xf32>
  %e = tw.map(%i, %j) {
    %p = tw.load %a[%i, %j] : tensor<512x16xf32> -> f32
    %q = tw.load %max[%i] : tensor<512xf32> -> f32
    %s = arith.subf %p, %q : f32
    %t = math.exp %s : f32
    tw.yield %t : f32
  } : tensor<512x16xf32>
  %sum = tw.reduce add(%i) over (%j) in <[16]> {
    %p = tw.load %e[%i, %j] : tensor<512x16xf32> -> f32
    tw.yield %p : f32
  } : tensor<512xf32>
  %y = tw.map(%i, %j) {
    %p = tw.load %e[%i, %j] : tensor<512x16xf32> -> f32
    %q = tw.load %sum[%i] : tensor<512xf32> -> f32
    %t = arith.divf %p, %q : f32
    tw.yield %t : f32
  } : tensor<512x16xf32>
  return %y : tensor<512x16xf32>
}

// -----

// The number of rows may be open if it has a large factor; the sum is a result,
// too.

// CHECK-LABEL: func.func @open
// CHECK: %{{.*}}:2 = tw.fused @{{.*}} attributes {rows = 2 : i64}
// CHECK-NOT: tw.fused
// CHECK: return
func.func @open(%x: tensor<?x512x8xf32, #tw.dims<[N, 512, 8]>>) -> (tensor<?x512x16xf32, #tw.dims<[N, 512, 16]>>, tensor<?x512xf32, #tw.dims<[N, 512]>>) {
  %w = tw.constant tensor<8x16xf32> = #tw.blob<"00">
  %c = tw.reduce add(%n, %i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%n, %i, %k] : tensor<?x512x8xf32, #tw.dims<[N, 512, 8]>> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x16xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<?x512x16xf32, #tw.dims<[N, 512, 16]>>
  %max = tw.reduce max(%n, %i) over (%j) in <[16]> {
    %p = tw.load %c[%n, %i, %j] : tensor<?x512x16xf32, #tw.dims<[N, 512, 16]>> -> f32
    tw.yield %p : f32
  } : tensor<?x512xf32, #tw.dims<[N, 512]>>
  return %c, %max : tensor<?x512x16xf32, #tw.dims<[N, 512, 16]>>, tensor<?x512xf32, #tw.dims<[N, 512]>>
}

// -----

// One row is as likely as a thousand.

// CHECK-LABEL: func.func @open_rows
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF045 refused
func.func @open_rows(%x: tensor<?x8xf32, #tw.dims<[M, 8]>>) -> tensor<?xf32, #tw.dims<[M]>> {
  %w = tw.constant tensor<8x16xf32> = #tw.blob<"00">
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<?x8xf32, #tw.dims<[M, 8]>> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x16xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<?x16xf32, #tw.dims<[M, 16]>>
  %max = tw.reduce max(%i) over (%j) in <[16]> {
    %p = tw.load %c[%i, %j] : tensor<?x16xf32, #tw.dims<[M, 16]>> -> f32
    tw.yield %p : f32
  } : tensor<?xf32, #tw.dims<[M]>>
  return %max : tensor<?xf32, #tw.dims<[M]>>
}

// -----

// How many weights there are is not known.

// CHECK-LABEL: func.func @open_sum
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF044 refused
func.func @open_sum(%x: tensor<512x?xf32, #tw.dims<[512, K]>>, %w: tensor<?x16xf32, #tw.dims<[K, 16]>>) -> tensor<512xf32> {
  %c = tw.reduce add(%i, %j) over (%k) in <[K]> {
    %p = tw.load %x[%i, %k] : tensor<512x?xf32, #tw.dims<[512, K]>> -> f32
    %q = tw.load %w[%k, %j] : tensor<?x16xf32, #tw.dims<[K, 16]>> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<512x16xf32>
  %max = tw.reduce max(%i) over (%j) in <[16]> {
    %p = tw.load %c[%i, %j] : tensor<512x16xf32> -> f32
    tw.yield %p : f32
  } : tensor<512xf32>
  return %max : tensor<512xf32>
}

// -----

// Too few blocks.

// CHECK-LABEL: func.func @few_rows
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF045 refused
func.func @few_rows(%x: tensor<128x8xf32>) -> tensor<128xf32> {
  %w = tw.constant tensor<8x16xf32> = #tw.blob<"00">
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<128x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x16xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<128x16xf32>
  %max = tw.reduce max(%i) over (%j) in <[16]> {
    %p = tw.load %c[%i, %j] : tensor<128x16xf32> -> f32
    tw.yield %p : f32
  } : tensor<128xf32>
  return %max : tensor<128xf32>
}

// -----

// A tile of rows is larger than half of the second cache.

// CHECK-LABEL: func.func @long_rows
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF046 refused
func.func @long_rows(%x: tensor<512x8xf32>) -> tensor<512xf32> {
  %w = tw.constant tensor<8x16384xf32> = #tw.blob<"00">
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%i, %k] : tensor<512x8xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<8x16384xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<512x16384xf32>
  %max = tw.reduce max(%i) over (%j) in <[16384]> {
    %p = tw.load %c[%i, %j] : tensor<512x16384xf32> -> f32
    tw.yield %p : f32
  } : tensor<512xf32>
  return %max : tensor<512xf32>
}

// -----

// The weights exceed the second cache.

// CHECK-LABEL: func.func @many_weights
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF047 refused
func.func @many_weights(%x: tensor<1024x4096xf32>) -> tensor<1024xf32> {
  %w = tw.constant tensor<4096x512xf32> = #tw.blob<"00">
  %c = tw.reduce add(%i, %j) over (%k) in <[4096]> {
    %p = tw.load %x[%i, %k] : tensor<1024x4096xf32> -> f32
    %q = tw.load %w[%k, %j] : tensor<4096x512xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<1024x512xf32>
  %max = tw.reduce max(%i) over (%j) in <[512]> {
    %p = tw.load %c[%i, %j] : tensor<1024x512xf32> -> f32
    tw.yield %p : f32
  } : tensor<1024xf32>
  return %max : tensor<1024xf32>
}

// -----

// The constant moves along the rows: its lanes are theirs.

// CHECK-LABEL: func.func @lanes
// CHECK-COUNT-2: tw.fused
// CHECK: return
// REMARK: TWF048 refused
func.func @lanes(%x: tensor<8x16xf32>) -> tensor<512xf32> {
  %w = tw.constant tensor<512x8xf32> = #tw.blob<"00">
  %c = tw.reduce add(%i, %j) over (%k) in <[8]> {
    %p = tw.load %x[%k, %j] : tensor<8x16xf32> -> f32
    %q = tw.load %w[%i, %k] : tensor<512x8xf32> -> f32
    %t = arith.mulf %p, %q : f32
    tw.yield %t : f32
  } : tensor<512x16xf32>
  %max = tw.reduce max(%i) over (%j) in <[16]> {
    %p = tw.load %c[%i, %j] : tensor<512x16xf32> -> f32
    tw.yield %p : f32
  } : tensor<512xf32>
  return %max : tensor<512xf32>
}

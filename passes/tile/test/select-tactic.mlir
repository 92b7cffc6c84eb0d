// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=avx2 | FileCheck %s
// RUN: tilewright-opt %s --tw-fuse=reference --tw-tile="level=avx2 reference" | FileCheck %s --check-prefix=REFERENCE

// A matrix product and its bias are one region with a register tile: lanes along
// the columns, copies along the rows. A softmax goes row by row.

// CHECK-LABEL: func.func @main
// CHECK:         tw.fused @{{.*}} attributes {tactic = {{{.*}}name = "contract.simd"{{.*}}width = {{[0-9]+}} : i64}}
// CHECK:           tw.reduce add {{.*}} in <[64]> attributes {root = "matmul"}
// CHECK:           tw.map
// CHECK:         tw.fused @{{.*}} attributes {rows = 1 : i64, tactic = {{{.*}}name = "rows.simd"
// CHECK-NOT:     tw.fused
// CHECK:         return

// A reference compile fuses nothing and takes plain loops.
// REFERENCE-LABEL: func.func @main
// REFERENCE-COUNT-6: tw.fused @{{.*}} attributes {{{.*}}tactic = {{{.*}}name = "reference"
// REFERENCE-NOT: tw.fused
func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x128xf32>, %b: tensor<128xf32>)
    -> tensor<32x128xf32> {
  %0 = tw.matmul %x, %w : tensor<32x64xf32>, tensor<64x128xf32> -> tensor<32x128xf32>
  %1 = tw.map(%i, %j) {
    %a = tw.load %0[%i, %j] : tensor<32x128xf32> -> f32
    %c = tw.load %b[%j] : tensor<128xf32> -> f32
    %s = arith.addf %a, %c : f32
    tw.yield %s : f32
  } : tensor<32x128xf32>
  %2 = tw.softmax %1 axis 1 : tensor<32x128xf32> -> tensor<32x128xf32>
  return %2 : tensor<32x128xf32>
}

// RUN: tilewright-opt %s --split-input-file --tw-layout --tw-fuse --tw-tile=level=sm_80 | FileCheck %s

// Few tiles and a large depth: the sums of parts of the depth, then their sum
// and what followed. The parts are added in order.

// CHECK-LABEL: func.func @deep
// CHECK:       [[PARTS:%.*]] = tw.fused @{{.*}}_parts({{.*}}name = "contract.mma"
// CHECK:         tw.reduce add (%i, %j, %k) over (%r) in <[384]>
// CHECK:           [[LENGTH:%.*]] = arith.constant 384 : index
// CHECK:           [[START:%.*]] = arith.muli %i, [[LENGTH]] : index
// CHECK:           [[AT:%.*]] = arith.addi [[START]], %r : index
// CHECK:           tw.load %{{.*}}[%j, [[AT]]] : tensor<32x3072xf16>
// CHECK:           tw.load %{{.*}}{{\[}}[[AT]], %k] : tensor<3072x768xf16>
// CHECK:         tw.yield %{{.*}} : tensor<8x32x768xf32>
// CHECK:       tw.fused @{{.*}} = [[PARTS]] : tensor<8x32x768xf32>
// CHECK:         tw.reduce add (%i, %j) over (%r) in <[8]>
// CHECK:         tw.map
// CHECK:         tw.yield %{{.*}} : tensor<32x768xf16>
func.func @deep(%x: tensor<32x3072xf16>, %w: tensor<3072x768xf16>) -> tensor<32x768xf16> {
  %0 = tw.matmul %x, %w : tensor<32x3072xf16>, tensor<3072x768xf16> -> tensor<32x768xf16>
  return %0 : tensor<32x768xf16>
}

// -----

// Enough tiles: one region.

// CHECK-LABEL: func.func @wide
// CHECK-NOT:   _parts
// CHECK:       name = "contract.mma"
func.func @wide(%x: tensor<2048x512xf16>, %w: tensor<512x2048xf16>) -> tensor<2048x2048xf16> {
  %0 = tw.matmul %x, %w : tensor<2048x512xf16>, tensor<512x2048xf16> -> tensor<2048x2048xf16>
  return %0 : tensor<2048x2048xf16>
}

// -----

// Factors of f32 are not rounded unless the module allows it.

// CHECK-LABEL: func.func @exact
// CHECK-NOT:   contract.mma
func.func @exact(%x: tensor<2048x512xf32>, %w: tensor<512x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = tw.matmul %x, %w : tensor<2048x512xf32>, tensor<512x2048xf32> -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}

// -----

// CHECK-LABEL: module attributes {tw.precision = "tf32"}
// CHECK:         name = "contract.mma"
module attributes {tw.precision = "tf32"} {
  func.func @rounded(%x: tensor<2048x512xf32>, %w: tensor<512x2048xf32>) -> tensor<2048x2048xf32> {
    %0 = tw.matmul %x, %w : tensor<2048x512xf32>, tensor<512x2048xf32> -> tensor<2048x2048xf32>
    return %0 : tensor<2048x2048xf32>
  }
}

// -----

// A long reduction with few results.

// CHECK-LABEL: func.func @greatest
// CHECK:       [[PARTS:%.*]] = tw.fused @{{.*}}_parts({{.*}}name = "reduce.team", {{.*}}threads = 256
// CHECK:         tw.reduce max (%i, %j) over (%r) in <[16384]>
// CHECK:           arith.muli %i, {{.*}}
// CHECK:         tw.yield %{{.*}} : tensor<64x2xf32>
// CHECK:       tw.fused @{{.*}} = [[PARTS]] : tensor<64x2xf32>
// CHECK:         tw.reduce max (%i) over (%r) in <[64]>
// CHECK:         tw.yield %{{.*}} : tensor<2xf32>
func.func @greatest(%x: tensor<2x1048576xf32>) -> tensor<2xf32> {
  %0 = tw.reduce max (%i) over (%k) in <[1048576]> {
    %v = tw.load %x[%i, %k] : tensor<2x1048576xf32> -> f32
    tw.yield %v : f32
  } : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A short one, and one with as many results as multiprocessors.

// CHECK-LABEL: func.func @few
// CHECK-NOT:   _parts
func.func @few(%x: tensor<2x4096xf32>, %y: tensor<128x65536xf32>) -> (tensor<2xf32>, tensor<128xf32>) {
  %0 = tw.reduce max (%i) over (%k) in <[4096]> {
    %v = tw.load %x[%i, %k] : tensor<2x4096xf32> -> f32
    tw.yield %v : f32
  } : tensor<2xf32>
  %1 = tw.reduce max (%i) over (%k) in <[65536]> {
    %v = tw.load %y[%i, %k] : tensor<128x65536xf32> -> f32
    tw.yield %v : f32
  } : tensor<128xf32>
  return %0, %1 : tensor<2xf32>, tensor<128xf32>
}

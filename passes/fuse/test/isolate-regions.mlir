// RUN: tilewright-opt %s --tw-isolate-regions | FileCheck %s

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: tw.fused
func.func @apart(%x: tensor<4xf32>) -> tensor<4xf32> {
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
  return %b : tensor<4xf32>
}

// RUN: tilewright-opt %s --tw-print-plan=remarks -o /dev/null --verify-diagnostics

// A reshape of what a region computes is computed into the result's block; a
// second view of that block is copied.

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %y = tw.reshape %x : tensor<4xf32> -> tensor<2x2xf32>
  // expected-remark @+1 {{TWP001 plan: a result that has no block of its own is copied}}
  %z = tw.fused @copy(%a = %y : tensor<2x2xf32>) {
    %0 = tw.map(%i, %j) {
      %v = tw.load %a[%i, %j] : tensor<2x2xf32> -> f32
      tw.yield %v : f32
    } : tensor<2x2xf32>
    tw.yield %0 : tensor<2x2xf32>
  } : tensor<2x2xf32>
  %back = tw.reshape %z : tensor<2x2xf32> -> tensor<4xf32>
  return %back, %z : tensor<4xf32>, tensor<2x2xf32>
}

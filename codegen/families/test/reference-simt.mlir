// RUN: tilewright-opt %s --split-input-file --tw-layout --tw-fuse --tw-tile=level=sm_80 \
// RUN:   --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s

// Too few columns for a tile: the sum of one element is a thread's, and the epilogue is in
// registers.

// CHECK:       // tactic: {{.*}}, threads
// CHECK:       for (index task = block * threads + thread; task < 72; task += stride
// CHECK:         float acc = 0.0f;
// CHECK:         for (index [[K:i[0-9]*]] = 0; [[K]] < {{.*}}; ++[[K]]) {
// CHECK:           acc = fmaf(b0[{{.*}}], b1[{{.*}}], acc);
// CHECK:         b3[{{.*}}] = maximum(acc + b2[{{.*}}], 0.0f);
func.func @main(%x: tensor<2x9x30xf32>, %w: tensor<30x4xf32>, %bias: tensor<4xf32>) -> tensor<2x9x4xf32> {
  %0 = tw.matmul %x, %w : tensor<2x9x30xf32>, tensor<30x4xf32> -> tensor<2x9x4xf32>
  %1 = tw.map(%i, %j, %k) {
    %zero = arith.constant 0.0 : f32
    %a = tw.load %0[%i, %j, %k] : tensor<2x9x4xf32> -> f32
    %b = tw.load %bias[%k] : tensor<4xf32> -> f32
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %s, %zero : f32
    tw.yield %m : f32
  } : tensor<2x9x4xf32>
  return %1 : tensor<2x9x4xf32>
}

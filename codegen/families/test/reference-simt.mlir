// RUN: tilewright-opt %s --split-input-file --tw-layout --tw-fuse --tw-tile=level=sm_80 \
// RUN:   --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s

// The sum of one element is a thread's, and the epilogue is in
// registers.

// CHECK:       // tactic: {{.*}}, threads
// CHECK:       for (i64 task = block * threads + thread; task < 360; task += stride
// CHECK:         float acc = 0.0f;
// CHECK:         for (i64 [[K:i[0-9]*]] = 0; [[K]] < {{.*}}; ++[[K]]) {
// CHECK:           acc = fmaf(b0[{{.*}}], b1[{{.*}}], acc);
// CHECK:         b3[{{.*}}] = maximum(acc + b2[{{.*}}], 0.0f);
func.func @main(%x: tensor<2x9x30xf32>, %w: tensor<30x20xf32>, %bias: tensor<20xf32>) -> tensor<2x9x20xf32> {
  %0 = tw.matmul %x, %w : tensor<2x9x30xf32>, tensor<30x20xf32> -> tensor<2x9x20xf32>
  %1 = tw.map(%i, %j, %k) {
    %zero = arith.constant 0.0 : f32
    %a = tw.load %0[%i, %j, %k] : tensor<2x9x20xf32> -> f32
    %b = tw.load %bias[%k] : tensor<20xf32> -> f32
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %s, %zero : f32
    tw.yield %m : f32
  } : tensor<2x9x20xf32>
  return %1 : tensor<2x9x20xf32>
}

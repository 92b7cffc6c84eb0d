// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=sm_80 --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s

// A step of both operands goes to shared memory, each thread has a tile of sums,
// and the bias is added before they are written. All indices fit 32 bits.

// CHECK:       // tactic: contract.simt, {{.*}}threads [[THREADS:[0-9]+]], tile [[M:[0-9]+]]x[[N:[0-9]+]]x16
// CHECK:       using index = int;
// CHECK:       __launch_bounds__([[THREADS]])
// CHECK:         float *const rowsShared = reinterpret_cast<float *>(shared);
// CHECK:         for (index task = block; task < {{.*}}; task += blocks) {
// CHECK:           for (index k = 0; k < 64; k += step) {
// CHECK:             #pragma unroll
// CHECK:               rowsShared[{{.*}}] = b0[{{.*}}];
// CHECK:               columnsShared[{{.*}}] = b1[{{.*}}];
// CHECK:             __syncthreads();
// CHECK-NEXT:        #pragma unroll 4
// CHECK:               sums[{{.*}}] = fmaf(x[{{.*}}], y[{{.*}}], sums[{{.*}}]);
// CHECK:             __syncthreads();
// CHECK:           b3[{{.*}}] = sums[{{.*}}] + b2[{{.*}}];
func.func @main(%x: tensor<512x64xf32>, %w: tensor<64x256xf32>, %bias: tensor<256xf32>) -> tensor<512x256xf32> {
  %0 = tw.matmul %x, %w : tensor<512x64xf32>, tensor<64x256xf32> -> tensor<512x256xf32>
  %1 = tw.map(%i, %j) {
    %a = tw.load %0[%i, %j] : tensor<512x256xf32> -> f32
    %b = tw.load %bias[%j] : tensor<256xf32> -> f32
    %s = arith.addf %a, %b : f32
    tw.yield %s : f32
  } : tensor<512x256xf32>
  return %1 : tensor<512x256xf32>
}

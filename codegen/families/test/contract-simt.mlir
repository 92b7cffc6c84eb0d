// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=sm_80 --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s

// Steps of both operands go to shared memory in the background, each thread has
// a tile of sums, and the bias is added before they are written, 16 bytes at
// once. All indices fit 32 bits.

// CHECK:       // tactic: contract.simt, stages {{.*}}threads [[THREADS:[0-9]+]], tile [[M:[0-9]+]]x[[N:[0-9]+]]x
// CHECK:       using index = int;
// CHECK:       __launch_bounds__([[THREADS]])
// CHECK:         float *const rowsShared = reinterpret_cast<float *>(shared);
// CHECK:         for (index step = 0; step < {{.*}}; ++step) {
// CHECK:           waitForCopies<
// CHECK-NEXT:      __syncthreads();
// CHECK:               copyAsync(rowsShared + {{.*}}, b0 + {{.*}}, 4);
// CHECK:               copyAsync(columnsShared + {{.*}}, b1 + {{.*}}, 4);
// CHECK:           #pragma unroll 2
// CHECK:                 sums[{{.*}}] = fmaf(x[{{.*}}], y[{{.*}}], sums[{{.*}}]);
// CHECK:         *reinterpret_cast<const Vec<float, 4> *>(b2 + {{.*}});
// CHECK:         [[V:v_.*]] = Vec<float, 4>{sums[{{.*}}] + v_{{.*}}.at[0], {{.*}}at[3]};
// CHECK:         storeGlobal(b3 + {{.*}}, [[V]]);
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

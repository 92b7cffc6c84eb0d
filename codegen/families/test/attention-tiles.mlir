// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=sm_80 --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s

// A block has a tile of queries. Keys and values come asynchronously,
// 16 bytes at once, as their lines are whole chunks; scores are products of
// matrix units, the weights go on as fragments of 16 bits.

// CHECK:       // tactic: attention.mma
// CHECK:       void __launch_bounds__({{[0-9]+}}, 1)
// CHECK:         extern __shared__
// CHECK:         float score[
// CHECK-NEXT:    float sum[
// CHECK-NOT:     if (aligned
// CHECK:           copyAsync(queries + {{.*}}, b0 +
// CHECK:         for (index step = 0; step < opaque(
// CHECK:           waitForCopies<
// CHECK-NEXT:      __syncthreads();
// CHECK:           copyAsync(keys + {{.*}}, b1 +
// CHECK:           copyAsync(values + {{.*}}, b2 +
// CHECK:           loadMatrices<4>(queries
// CHECK:           loadMatrices<4>(keys
// CHECK:           mmaF16(
// CHECK:           __shfl_xor_sync(0xffffffff, {{.*}}, 1)
// CHECK:           const float factor = expf(
// CHECK:           const float weight = expf(
// CHECK:           loadMatricesTransposed<4>(values
// CHECK:           mmaF16(
// CHECK:         storeShared(results
// CHECK:         b3[{{.*}}] = toF16(results[
func.func @main(%q: tensor<4x128x64xf16>, %k: tensor<4x256x64xf16>, %v: tensor<4x256x64xf16>) -> tensor<4x128x64xf16> {
  %0 = tw.map(%h, %r, %j) {
    %x = tw.load %k[%h, %j, %r] : tensor<4x256x64xf16> -> f16
    tw.yield %x : f16
  } : tensor<4x64x256xf16>
  %1 = tw.matmul %q, %0 : tensor<4x128x64xf16>, tensor<4x64x256xf16> -> tensor<4x128x256xf16>
  %2 = tw.softmax %1 axis 2 : tensor<4x128x256xf16> -> tensor<4x128x256xf16>
  %3 = tw.matmul %2, %v : tensor<4x128x256xf16>, tensor<4x256x64xf16> -> tensor<4x128x64xf16>
  return %3 : tensor<4x128x64xf16>
}

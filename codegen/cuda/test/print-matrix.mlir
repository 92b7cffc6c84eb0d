// RUN: tilewright-opt %s --split-input-file --tw-print-cuda | FileCheck %s

// Matrix units and copies in the background are calls of small functions.

// CHECK-LABEL: // multiply
// CHECK:       __device__ Vec<float, 4> mmaF16(const Vec<f16, 8> &a, const Vec<f16, 4> &b, Vec<float, 4> c) {
// CHECK:         "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK:       multiply(const f16 *__restrict__ b0, float *__restrict__ b1, long long n0,
// CHECK:         f16 *const part_0 = reinterpret_cast<f16 *>(shared);
// CHECK:         copyAsync(part_0 + n0, b0, n0);
// CHECK-NEXT:    commitCopies();
// CHECK-NEXT:    waitForCopies<1>();
// CHECK-NEXT:    __syncthreads();
// CHECK-NEXT:    const Vec<f16, 8> [[A:.*]] = loadMatrices<4>(part_0 + n0);
// CHECK-NEXT:    const Vec<f16, 8> [[B:.*]] = loadMatricesTransposed<4>(part_0);
// CHECK-NEXT:    b1[0] = mmaF16([[A]], part<4, 4>([[B]]), Vec<float, 4>{}).at[2];
twk.kernel @multiply simt threads(32) buffers(%x: memref<?xf16>, %y: memref<?xf32>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %tile = memref.view %bytes[%zero][%n] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf16, #gpu.address_space<workgroup>>
  %t = nvgpu.device_async_copy %x[%zero], %tile[%n], 8, %n : memref<?xf16> to memref<?xf16, #gpu.address_space<workgroup>>
  %g = nvgpu.device_async_create_group %t
  nvgpu.device_async_wait %g {numGroups = 1 : i32}
  gpu.barrier
  %a = nvgpu.ldmatrix %tile[%n] {numTiles = 4 : i32, transpose = false} : memref<?xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
  %w = nvgpu.ldmatrix %tile[%zero] {numTiles = 4 : i32, transpose = true} : memref<?xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
  %b = vector.extract_strided_slice %w {offsets = [2], sizes = [2], strides = [1]} : vector<4x2xf16> to vector<2x2xf16>
  %c = arith.constant dense<0.0> : vector<2x2xf32>
  %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  %e = vector.extract %d[1, 0] : f32 from vector<2x2xf32>
  memref.store %e, %y[%zero] : memref<?xf32>
  twk.return
}

// -----

// CHECK-LABEL: // bytes
// CHECK:         "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32
// CHECK:       bytes(
// CHECK:         const Vec<int, 4> [[D:.*]] = mmaU8S8(
// CHECK:         storeShared({{.*}}, Vec<int, 2>{[[D]].at[0], [[D]].at[1]});
twk.kernel @bytes simt threads(32) buffers(%x: memref<?xi32>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %sums = memref.view %bytes[%zero][%n] : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xi32, #gpu.address_space<workgroup>>
  %a = nvgpu.ldmatrix %bytes[%n] {numTiles = 4 : i32, transpose = false} : memref<?xi8, #gpu.address_space<workgroup>> -> vector<4x4xi8>
  %b = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]} : vector<4x4xi8> to vector<2x4xi8>
  %c = arith.constant dense<0> : vector<2x2xi32>
  %d = twk.mma_bytes %a, %b, %c of ui8, i8 : vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>
  %e = vector.extract %d[0, 0] : i32 from vector<2x2xi32>
  %f = vector.extract %d[0, 1] : i32 from vector<2x2xi32>
  %g = vector.from_elements %e, %f : vector<2xi32>
  vector.store %g, %sums[%n] : memref<?xi32, #gpu.address_space<workgroup>>, vector<2xi32>
  twk.return
}

// RUN: tilewright-opt %s --split-input-file --tw-layout --tw-fuse --tw-tile=level=avx512 --tw-build-kernels=level=avx512 | FileCheck %s

// What exceeds the caches is written past them, if it lies at whole vectors,
// and read ahead; the second loop is for outputs that do not.

// CHECK-LABEL: twk.kernel @tw_pointwise_map_f32
// CHECK:         memref.extract_aligned_pointer_as_index %b1
// CHECK:         scf.if
// CHECK:           memref.prefetch %b0
// CHECK:           vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK:         else
// CHECK-NOT:       nontemporal
// CHECK:         twk.return
func.func @main(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %0 = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<16777216xf32> -> f32
    %s = arith.negf %a : f32
    tw.yield %s : f32
  } : tensor<16777216xf32>
  return %0 : tensor<16777216xf32>
}

// -----

// What the caches hold is worth keeping.

// CHECK-LABEL: twk.kernel @tw_pointwise_map_f32
// CHECK-NOT:     nontemporal
// CHECK:         twk.return
func.func @main(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %0 = tw.map(%i) {
    %a = tw.load %x[%i] : tensor<65536xf32> -> f32
    %s = arith.negf %a : f32
    tw.yield %s : f32
  } : tensor<65536xf32>
  return %0 : tensor<65536xf32>
}

// -----

// Rows: the exponentials stay in a buffer, the result streams, and the next row
// is asked for.

// CHECK-LABEL: twk.kernel @tw_rows_softmax_f32
// CHECK:         scf.if
// CHECK:           memref.prefetch %b0
// CHECK:           math.exp
// CHECK-NOT:       math.exp
// CHECK:           arith.mulf
// CHECK:           vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK:         else
// CHECK-NOT:       nontemporal
// CHECK:         twk.return
func.func @main(%x: tensor<65536x256xf32>) -> tensor<65536x256xf32> {
  %0 = tw.softmax %x axis 1 : tensor<65536x256xf32> -> tensor<65536x256xf32>
  return %0 : tensor<65536x256xf32>
}

// -----

// Rows that begin beside whole lines: the first elements go under a mask.

// CHECK-LABEL: twk.kernel @tw_rows_softmax_f32
// CHECK:         scf.if
// CHECK:           arith.mulf
// CHECK:           vector.maskedstore %b1
// CHECK:           vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK:         else
// CHECK-NOT:       nontemporal
// CHECK:         twk.return
func.func @main(%x: tensor<16384x1000xf32>) -> tensor<16384x1000xf32> {
  %0 = tw.softmax %x axis 1 : tensor<16384x1000xf32> -> tensor<16384x1000xf32>
  return %0 : tensor<16384x1000xf32>
}

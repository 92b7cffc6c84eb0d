// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=avx512 --tw-build-kernels=level=avx512 | FileCheck %s

// One vector loop, and a masked rest. Nothing keeps the axes apart, so they are
// merged into one.

// CHECK-LABEL: twk.kernel @tw_pointwise_map_f32_{{.*}}__avx512 simd
// CHECK-NEXT:    buffers(%b0: memref<?xf32>, %b1: memref<?xf32>, %b2: memref<?xf32>)
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             vector.load %b0
// CHECK:             vector.load %b1
// CHECK:             arith.addf {{.*}} : vector<32xf32>
// CHECK:             vector.store {{.*}}, %b2
// CHECK:           scf.if
// CHECK:             vector.create_mask
// CHECK:             vector.maskedload
// CHECK:             vector.maskedstore
// CHECK:         twk.return
func.func @main(%x: tensor<?x30xf32, #tw.dims<[N, 30]>>, %y: tensor<?x30xf32, #tw.dims<[N, 30]>>)
    -> tensor<?x30xf32, #tw.dims<[N, 30]>> {
  %0 = tw.map(%i, %j) {
    %a = tw.load %x[%i, %j] : tensor<?x30xf32, #tw.dims<[N, 30]>> -> f32
    %b = tw.load %y[%i, %j] : tensor<?x30xf32, #tw.dims<[N, 30]>> -> f32
    %s = arith.addf %a, %b : f32
    tw.yield %s : f32
  } : tensor<?x30xf32, #tw.dims<[N, 30]>>
  return %0 : tensor<?x30xf32, #tw.dims<[N, 30]>>
}

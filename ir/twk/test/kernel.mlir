// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s
// RUN: tilewright-opt %s --mlir-print-op-generic | tilewright-opt | FileCheck %s

// CHECK-LABEL: twk.kernel @scale simd
// CHECK-NEXT:    buffers(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>)
// CHECK-NEXT:    sizes(%{{.*}}: index) tasks(%{{.*}}: index, %{{.*}}: index) worker(%{{.*}}: index)
// CHECK-NEXT:    workspace(%{{.*}}: memref<?xi8>) status(%{{.*}}: memref<1xi32>) {
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           memref.load %{{.*}}[%[[I]]]
// CHECK:         twk.return
twk.kernel @scale simd
    buffers(%x: memref<?xf32>, %y: memref<?xf32>)
    sizes(%n: index) tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  scf.for %i = %begin to %end step %one {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = arith.mulf %a, %two : f32
    memref.store %b, %y[%i] : memref<?xf32>
  }
  twk.return
}

// CHECK-LABEL: twk.kernel @in_place simd may_alias
// CHECK-NEXT:    buffers()
// CHECK-NEXT:    sizes()
// CHECK:         attributes {root = "Relu"}
twk.kernel @in_place simd may_alias buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>)
    attributes {root = "Relu"} {
  %buffer = memref.alloca() : memref<16xvector<16xf32>>
  twk.return
}

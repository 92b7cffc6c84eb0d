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

// CHECK-LABEL: twk.kernel @add_tile simt threads(128) may_alias
// CHECK-NEXT:    buffers(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>)
// CHECK-NEXT:    sizes(%{{.*}}: index) tasks(%{{.*}}: index)
// CHECK-NEXT:    workspace(%{{.*}}: memref<?xi8>) status(%{{.*}}: memref<1xi32>) {
// CHECK:         gpu.barrier
twk.kernel @add_tile simt threads(128) may_alias
    buffers(%x: memref<?xf32>, %y: memref<?xf32>) sizes(%n: index) tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %thread = gpu.thread_id x
  %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %tile = memref.view %bytes[%zero][%n]
    : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
  %at = arith.muli %thread, %four : index
  %v = vector.load %x[%at] : memref<?xf32>, vector<4xf32>
  vector.store %v, %tile[%at] : memref<?xf32, #gpu.address_space<workgroup>>, vector<4xf32>
  gpu.barrier
  %a = memref.load %tile[%thread] : memref<?xf32, #gpu.address_space<workgroup>>
  memref.store %a, %y[%thread] : memref<?xf32>
  twk.return
}

// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{buffer #0 has type 'memref<?xi1>'; expected a one-dimensional memref of i8}}
twk.kernel @bool simd buffers(%x: memref<?xi1>) sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{buffer #0 has type 'memref<?x4xf32>'; expected a one-dimensional memref}}
twk.kernel @rank simd buffers(%x: memref<?x4xf32>) sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{sizes, tasks and worker are of type index, found 'i64'}}
twk.kernel @size simd buffers() sizes(%n: i64)
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{the last two arguments are workspace: 'memref<?xi8>' and status: 'memref<1xi32>'}}
twk.kernel @workspace simd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xf32>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{unknown execution model 'mimd'; there are 'simd' and 'simt'}}
twk.kernel @model mimd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{expected 2 arguments in 'tasks', found 1}}
twk.kernel @tasks simd buffers() sizes() tasks(%begin: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{needs the arguments tasks, worker, workspace and status}}
"twk.kernel"() <{sym_name = "short", model = #twk<model simd>}> ({
^bb0(%begin: index):
  "twk.return"() : () -> ()
}) : () -> ()

// -----

twk.kernel @foreign simd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{does not belong to the execution model 'simd'}}
  %0 = builtin.unrealized_conversion_cast %begin : index to i64
  twk.return
}

// -----

twk.kernel @allocates simd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{is not allowed: a kernel allocates nothing}}
  %0 = memref.alloc() : memref<4xf32>
  twk.return
}

// -----

twk.kernel @stack simd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %one = arith.constant 1 : index
  scf.for %i = %begin to %end step %one {
    // expected-error @below {{must lie in the kernel's entry block}}
    %0 = memref.alloca() : memref<4xf32>
  }
  twk.return
}

// -----

twk.kernel @odd_integer simd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{has a result of type 'i7', but kernels use scalars}}
  %0 = arith.constant 1 : i7
  twk.return
}

// -----

twk.kernel @scalable simd buffers() sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{but vectors have a fixed length}}
  %0 = arith.constant dense<1.0> : vector<[4]xf32>
  twk.return
}

// -----

twk.kernel @dim simd buffers(%x: memref<?xf32>) sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{a buffer does not know its size, pass it in 'sizes'}}
  %0 = memref.dim %x, %begin : memref<?xf32>
  twk.return
}

// -----

twk.kernel @bounds simd buffers(%x: memref<?xf32>) sizes()
    tasks(%begin: index, %end: index) worker(%worker: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %pad = arith.constant 0.0 : f32
  // expected-error @below {{must be in_bounds}}
  %0 = vector.transfer_read %x[%begin], %pad : memref<?xf32>, vector<8xf32>
  twk.return
}

// -----

// expected-error @below {{has between 1 and 1024 'threads' if its model is 'simt'}}
twk.kernel @crowd simt threads(2048) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

// expected-error @below {{has between 1 and 1024 'threads' if its model is 'simt', and none else}}
"twk.kernel"() <{sym_name = "alone", model = #twk<model simd>, threads = 32 : i64}> ({
^bb0(%begin: index, %end: index, %worker: index, %scratch: memref<?xi8>, %status: memref<1xi32>):
  "twk.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{expected 1 argument in 'tasks', found 2}}
twk.kernel @range simt threads(32) buffers() sizes() tasks(%begin: index, %end: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  twk.return
}

// -----

twk.kernel @wide simt threads(32) buffers(%x: memref<?xf32>) sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{but vectors have at most 16 bytes}}
  %0 = vector.load %x[%blocks] : memref<?xf32>, vector<8xf32>
  twk.return
}

// -----

twk.kernel @lanes simt threads(32) buffers(%x: memref<?xf32>) sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %0 = vector.load %x[%blocks] : memref<?xf32>, vector<4xf32>
  // expected-error @below {{a thread computes with scalars: take the vector apart}}
  %1 = arith.addf %0, %0 : vector<4xf32>
  twk.return
}

// -----

twk.kernel @masked simt threads(32) buffers(%x: memref<?xf32>) sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{does not belong to the execution model 'simt'}}
  %0 = vector.create_mask %blocks : vector<4xi1>
  twk.return
}

// -----

twk.kernel @plane simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{blocks and grids are one-dimensional}}
  %0 = gpu.thread_id y
  twk.return
}

// -----

twk.kernel @space simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{but memory is global, or '#gpu.address_space<workgroup>'}}
  %0 = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  twk.return
}

// -----

twk.kernel @heap simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{is not allowed: a kernel allocates nothing}}
  %0 = memref.alloc() : memref<4xf32>
  twk.return
}

// -----

twk.kernel @search simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  // expected-error @below {{does not belong to the execution model 'simt'}}
  scf.execute_region {
    scf.yield
  }
  twk.return
}

// -----

twk.kernel @bytes simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %a = arith.constant dense<0> : vector<4x4xi8>
  %b = arith.constant dense<0> : vector<2x4xi8>
  %c = arith.constant dense<0> : vector<2x2xi32>
  // expected-error @below {{multiplies i8 and ui8, or f8E4M3FN and f8E5M2, found 'i8' and 'f8E5M2'}}
  %d = twk.mma_bytes %a, %b, %c of i8, f8E5M2 : vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>
  twk.return
}

// -----

twk.kernel @sums simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %a = arith.constant dense<0> : vector<4x4xi8>
  %b = arith.constant dense<0> : vector<2x4xi8>
  %c = arith.constant dense<0> : vector<2x2xi32>
  // expected-error @below {{accumulates integers in i32 and floats in f32, found 'i32'}}
  %d = twk.mma_bytes %a, %b, %c of f8E4M3FN, f8E5M2 : vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>
  twk.return
}

// -----

twk.kernel @fragments simt threads(32) buffers() sizes() tasks(%blocks: index)
    workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %a = arith.constant dense<0> : vector<4x4xi8>
  %b = arith.constant dense<0> : vector<4x4xi8>
  %c = arith.constant dense<0> : vector<2x2xi32>
  // expected-error @below {{has fragments of shapes 4x4, 2x4 and 2x2}}
  %d = twk.mma_bytes %a, %b, %c of i8, ui8 : vector<4x4xi8>, vector<4x4xi8>, vector<2x2xi32>
  twk.return
}

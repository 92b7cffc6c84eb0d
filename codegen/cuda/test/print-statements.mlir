// RUN: tilewright-opt %s --split-input-file --tw-print-cuda | FileCheck %s

// What is used once stands where it is used, but no load moves across a store.
// Named constants are tile parameters.

// CHECK-LABEL: // swap
// CHECK-NEXT:  // ONNX nodes: first, second
// CHECK-NEXT:  // tactic: reference.simt, threads 64
// CHECK:       extern "C" __global__ void __launch_bounds__(64)
// CHECK-NEXT:  swap(float *__restrict__ b0, const float *__restrict__ b1, long long n0, long long blocks, i8 *workspace, int *status) {
// CHECK-NEXT:    constexpr index threads = 64;
// CHECK-NEXT:    const index block = blockIdx.x;
// CHECK-NEXT:    const index thread = threadIdx.x;
// CHECK-NEXT:    const index at_0 = block * threads + thread;
// CHECK-NEXT:    const float v_0 = b0[at_0];
// CHECK-NEXT:    b0[at_0] = b1[n0 - at_0] * 2.0f + 1.0f;
// CHECK-NEXT:    b0[at_0 + 1] = v_0;
// CHECK-NEXT:  }
twk.kernel @swap simt threads(64) buffers(%x: memref<?xf32>, %y: memref<?xf32>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>)
    attributes {tactic = {name = "reference.simt", threads = 64 : i64}} {
  %threads = arith.constant {twk.name = "threads"} 64 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %unit = arith.constant 1.0 : f32
  %block = gpu.block_id x
  %thread = gpu.thread_id x
  %first = arith.muli %block, %threads : index
  %at = arith.addi %first, %thread : index
  %old = memref.load %x[%at] : memref<?xf32>
  %back = arith.subi %n, %at : index
  %a = memref.load %y[%back] : memref<?xf32>
  %b = arith.mulf %a, %two : f32
  %c = arith.addf %b, %unit : f32
  memref.store %c, %x[%at] : memref<?xf32>
  %next = arith.addi %at, %one : index
  memref.store %old, %x[%next] : memref<?xf32>
  twk.return
} loc(fused["first", "second"])

// -----

// A loop's values are variables; a value that needs the old one of another is
// computed before that is written.

// CHECK-LABEL: fibonacci(i64 *b0,
// CHECK:         i64 acc = 0;
// CHECK-NEXT:    i64 acc1 = 1;
// CHECK-NEXT:    #pragma unroll
// CHECK-NEXT:    for (index step = 0; step < n0; ++step) {
// CHECK-NEXT:      const i64 next = i64(u64(acc) + u64(acc1));
// CHECK-NEXT:      acc = acc1;
// CHECK-NEXT:      acc1 = next;
// CHECK-NEXT:    }
// CHECK-NEXT:    if (n0 > 3) {
// CHECK-NEXT:      b0[0] = acc;
// CHECK-NEXT:    } else {
// CHECK-NEXT:      atomicMax(&status[0], 1);
// CHECK-NEXT:    }
twk.kernel @fibonacci simt threads(32) may_alias buffers(%x: memref<?xi64>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %f0 = arith.constant 0 : i64
  %f1 = arith.constant 1 : i64
  %code = arith.constant 1 : i32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %f0, %b = %f1) -> (i64, i64) {
    %s = arith.addi %a, %b : i64
    scf.yield %b, %s : i64, i64
  } {twk.name = "step", twk.unroll}
  %many = arith.cmpi sgt, %n, %three : index
  scf.if %many {
    memref.store %r#0, %x[%zero] : memref<?xi64>
  } else {
    %old = memref.atomic_rmw maxs %code, %status[%zero] : (i32, memref<1xi32>) -> i32
  }
  twk.return
}

// -----

// A guarded load is a conditional expression; one that does not fit is an if.

// CHECK-LABEL: guarded(
// CHECK:         b1[0] = n0 < 7 ? b0[n0] : 0.5f;
// CHECK-NEXT:    float v_0;
// CHECK-NEXT:    if (n0 > 7) {
// CHECK-NEXT:      b1[1] = 0.5f;
// CHECK-NEXT:      v_0 = b0[n0];
// CHECK-NEXT:    } else {
// CHECK-NEXT:      v_0 = 0.5f;
// CHECK-NEXT:    }
// CHECK-NEXT:    b1[2] = v_0;
twk.kernel @guarded simt threads(32) buffers(%x: memref<?xf32>, %y: memref<?xf32>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : index
  %pad = arith.constant 0.5 : f32
  %inside = arith.cmpi slt, %n, %seven : index
  %v = scf.if %inside -> f32 {
    %a = memref.load %x[%n] : memref<?xf32>
    scf.yield %a : f32
  } else {
    scf.yield %pad : f32
  }
  memref.store %v, %y[%zero] : memref<?xf32>
  %outside = arith.cmpi sgt, %n, %seven : index
  %w = scf.if %outside -> f32 {
    memref.store %pad, %y[%one] : memref<?xf32>
    %a = memref.load %x[%n] : memref<?xf32>
    scf.yield %a : f32
  } else {
    scf.yield %pad : f32
  }
  memref.store %w, %y[%two] : memref<?xf32>
  twk.return
}

// -----

// Memory: shared, private, and parts of the workspace.

// CHECK:       struct __align__(sizeof(T) * N) Vec { T at[N]; };
// CHECK-LABEL: memory(
// CHECK:         extern __shared__ __align__(128) i8 shared[];
// CHECK-NEXT:    float *const part_0 = reinterpret_cast<float *>(shared + n0);
// CHECK-NEXT:    i64 *const part_1 = reinterpret_cast<i64 *>(workspace);
// CHECK-NEXT:    f16 table_0[4];
// CHECK-NEXT:    table_0[n0] = f16(0x3c00);
// CHECK-NEXT:    const Vec<float, 4> v_0 = *reinterpret_cast<const Vec<float, 4> *>(b0 + n0);
// CHECK-NEXT:    storeShared(part_0 + n0, v_0);
// CHECK-NEXT:    __syncthreads();
// CHECK-NEXT:    part_1[0] = i64(v_0.at[2]);
twk.kernel @memory simt threads(32) buffers(%x: memref<?xf32>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %half = arith.constant 1.0 : f16
  %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %tile = memref.view %bytes[%n][%n]
    : memref<?xi8, #gpu.address_space<workgroup>> to memref<?xf32, #gpu.address_space<workgroup>>
  %numbers = memref.view %scratch[%zero][%n] : memref<?xi8> to memref<?xi64>
  %table = memref.alloca() : memref<4xf16>
  memref.store %half, %table[%n] : memref<4xf16>
  %v = vector.load %x[%n] : memref<?xf32>, vector<4xf32>
  vector.store %v, %tile[%n] : memref<?xf32, #gpu.address_space<workgroup>>, vector<4xf32>
  gpu.barrier
  %lane = vector.extract %v[2] : f32 from vector<4xf32>
  %i = arith.fptosi %lane : f32 to i64
  memref.store %i, %numbers[%zero] : memref<?xi64>
  twk.return
}

// -----

// A loop that is unrolled once hides its bound: a compiler would unroll it all
// the same. A kernel may say how many of its blocks should fit a
// multiprocessor.

// CHECK-LABEL: void __launch_bounds__(32, 2)
// CHECK-NEXT:  ones(
// CHECK:         #pragma unroll 1
// CHECK-NEXT:    for (index step = 0; step < opaque(index(8)); ++step) {
twk.kernel @ones simt threads(32) buffers(%x: memref<?xf32>) sizes()
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>)
    attributes {twk.resident = 2} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 8 : index
  %value = arith.constant 1.0 : f32
  scf.for %i = %zero to %count step %one {
    memref.store %value, %x[%i] : memref<?xf32>
  } {twk.name = "step", twk.unroll = 1}
  twk.return
}

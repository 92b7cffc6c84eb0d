// RUN: tilewright-opt %s --split-input-file --tw-print-cuda | FileCheck %s

// Integers wrap and keep their signs; what is narrower than int is turned back.

// CHECK-LABEL: integers(
// CHECK-NEXT:    b0[0] = i8(u8(b0[0]) + u8(b0[1]));
// CHECK-NEXT:    b1[0] = int(unsigned(b1[0]) * unsigned(b1[1]));
// CHECK-NEXT:    b1[1] = int(unsigned(b1[0]) / unsigned(b1[1]));
// CHECK-NEXT:    b1[1] = b1[0] >> b1[1];
// CHECK-NEXT:    b1[1] = int(u8(b0[0]));
// CHECK-NEXT:    const int n_0 = b1[1];
// CHECK-NEXT:    b1[1] = unsigned(b1[0]) < unsigned(n_0) ? n_0 : 0;
// CHECK-NEXT:    b1[n0 / 3] = max(b1[0], -1);
// CHECK-NEXT:    b1[floorDiv(n0, index(3))] = 7;
twk.kernel @integers simt threads(32) buffers(%x: memref<?xi8>, %y: memref<?xi32>) sizes(%n: index)
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i32
  %minus = arith.constant -1 : i32
  %a0 = memref.load %x[%c0] : memref<?xi8>
  %a1 = memref.load %x[%c1] : memref<?xi8>
  %a2 = arith.addi %a0, %a1 : i8
  memref.store %a2, %x[%c0] : memref<?xi8>
  %b0 = memref.load %y[%c0] : memref<?xi32>
  %b1 = memref.load %y[%c1] : memref<?xi32>
  %b2 = arith.muli %b0, %b1 : i32
  memref.store %b2, %y[%c0] : memref<?xi32>
  %d0 = memref.load %y[%c0] : memref<?xi32>
  %d1 = memref.load %y[%c1] : memref<?xi32>
  %d2 = arith.divui %d0, %d1 : i32
  memref.store %d2, %y[%c1] : memref<?xi32>
  %e0 = memref.load %y[%c0] : memref<?xi32>
  %e1 = memref.load %y[%c1] : memref<?xi32>
  %e2 = arith.shrsi %e0, %e1 : i32
  memref.store %e2, %y[%c1] : memref<?xi32>
  %f0 = memref.load %x[%c0] : memref<?xi8>
  %f1 = arith.extui %f0 : i8 to i32
  memref.store %f1, %y[%c1] : memref<?xi32>
  %g0 = memref.load %y[%c0] : memref<?xi32>
  %g1 = memref.load %y[%c1] : memref<?xi32>
  %g3 = arith.cmpi ult, %g0, %g1 : i32
  %g4 = arith.select %g3, %g1, %zero : i32
  memref.store %g4, %y[%c1] : memref<?xi32>
  %h0 = memref.load %y[%c0] : memref<?xi32>
  %h1 = arith.maxsi %h0, %minus : i32
  %h2 = arith.divsi %n, %c3 : index
  memref.store %h1, %y[%h2] : memref<?xi32>
  %k0 = arith.floordivsi %n, %c3 : index
  memref.store %seven, %y[%k0] : memref<?xi32>
  twk.return
}

// -----

// Floats: order and parentheses as they are computed; small ones in f32.

// CHECK-LABEL: floats(
// CHECK-NEXT:    b0[0] = b0[0] - (b0[1] - b0[2]) / -0.25f;
// CHECK-NEXT:    const float v_0 = b0[0];
// CHECK-NEXT:    b0[1] = tanhf(fmaf(v_0, v_0, __int_as_float(0x7f800000)));
// CHECK-NEXT:    b1[0] = toF16(f16ToFloat(b1[0]) * f16ToFloat(b1[1]));
// CHECK-NEXT:    const float v_1 = b0[0];
// CHECK-NEXT:    const float v_2 = b0[1];
// CHECK-NEXT:    b0[2] = !(v_1 >= v_2) ? v_1 : float(exp(double(v_2)));
// CHECK-NEXT:    b0[3] = maximum(b0[0], -b0[1]);
// CHECK-NEXT:    b0[4] = __int_as_float(__float_as_int(b0[0]) & 255);
twk.kernel @floats simt threads(32) buffers(%x: memref<?xf32>, %h: memref<?xf16>) sizes()
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %q = arith.constant -0.25 : f32
  %inf = arith.constant 0x7f800000 : f32
  %mask = arith.constant 255 : i32
  %a0 = memref.load %x[%c0] : memref<?xf32>
  %a1 = memref.load %x[%c1] : memref<?xf32>
  %a2 = memref.load %x[%c2] : memref<?xf32>
  %a3 = arith.subf %a1, %a2 : f32
  %a4 = arith.divf %a3, %q : f32
  %a5 = arith.subf %a0, %a4 : f32
  memref.store %a5, %x[%c0] : memref<?xf32>
  %b0 = memref.load %x[%c0] : memref<?xf32>
  %b1 = math.fma %b0, %b0, %inf : f32
  %b2 = math.tanh %b1 : f32
  memref.store %b2, %x[%c1] : memref<?xf32>
  %d0 = memref.load %h[%c0] : memref<?xf16>
  %d1 = memref.load %h[%c1] : memref<?xf16>
  %d2 = arith.mulf %d0, %d1 : f16
  memref.store %d2, %h[%c0] : memref<?xf16>
  %e0 = memref.load %x[%c0] : memref<?xf32>
  %e1 = memref.load %x[%c1] : memref<?xf32>
  %e2 = arith.cmpf ult, %e0, %e1 : f32
  %e3 = arith.extf %e1 : f32 to f64
  %e4 = math.exp %e3 : f64
  %e5 = arith.truncf %e4 : f64 to f32
  %e6 = arith.select %e2, %e0, %e5 : f32
  memref.store %e6, %x[%c2] : memref<?xf32>
  %f0 = memref.load %x[%c0] : memref<?xf32>
  %f1 = memref.load %x[%c1] : memref<?xf32>
  %f2 = arith.negf %f1 : f32
  %f3 = arith.maximumf %f0, %f2 : f32
  memref.store %f3, %x[%c3] : memref<?xf32>
  %g0 = memref.load %x[%c0] : memref<?xf32>
  %g1 = arith.bitcast %g0 : f32 to i32
  %g2 = arith.andi %g1, %mask : i32
  %g3 = arith.bitcast %g2 : i32 to f32
  memref.store %g3, %x[%c4] : memref<?xf32>
  twk.return
}

// -----

// A choice of two literals is as wide as its type: max takes two of one type.

// CHECK-LABEL: literals(
// CHECK:         b0[0] = max(b0[0], b0[1] > 0 ? 0ll : -1);
twk.kernel @literals simt threads(32) buffers(%x: memref<?xi64>) sizes()
    tasks(%blocks: index) workspace(%scratch: memref<?xi8>) status(%status: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %minus = arith.constant -1 : i64
  %a = memref.load %x[%c0] : memref<?xi64>
  %b = memref.load %x[%c1] : memref<?xi64>
  %p = arith.cmpi sgt, %b, %zero : i64
  %s = arith.select %p, %zero, %minus : i64
  %m = arith.maxsi %a, %s : i64
  memref.store %m, %x[%c0] : memref<?xi64>
  twk.return
}

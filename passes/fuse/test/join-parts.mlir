// RUN: tilewright-opt %s --split-input-file --tw-form-regions --tw-join-parts | FileCheck %s
// RUN: tilewright-opt %s --split-input-file --tw-form-regions --tw-join-parts --tw-print-plan -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAN

// Both parts are computed where they lie; a reader of a part stays.

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[A:.*]] = tw.fused
// CHECK:         %[[B:.*]] = tw.fused
// CHECK:         %[[J:.*]] = tw.join %[[A]], %[[B]] axis 1 : (tensor<2x3x5xf32>, tensor<2x4x5xf32>) -> tensor<2x7x5xf32>
// CHECK:         %[[S:.*]] = tw.fused @{{.*}}(%{{.*}} = %[[A]]
// CHECK:         return %[[J]], %[[S]]
// PLAN:          main(%0: f32[2, 3, 5] parameter, %1: f32[2, 4, 5] parameter) -> (%[[J:[0-9]+]]: f32[2, 7, 5] owned, %{{[0-9]+}}: f32[2] owned)
// PLAN-NEXT:       0: launch {{.*}} (%0: f32[2, 3, 5] parameter, %[[J]]: f32[2, 7, 5] owned)
// PLAN-NEXT:       1: launch {{.*}} (%1: f32[2, 4, 5] parameter, %[[J]]: f32[2, 7, 5] owned)
// PLAN-NEXT:       2: launch {{.*}} (%[[J]]: f32[2, 7, 5] owned, %{{[0-9]+}}: f32[2] owned)
func.func @main(%x: tensor<2x3x5xf32>, %y: tensor<2x4x5xf32>) -> (tensor<2x7x5xf32>, tensor<2xf32>) {
  %a = tw.map(%i, %j, %k) {
    %v = tw.load %x[%i, %j, %k] : tensor<2x3x5xf32> -> f32
    %w = math.exp %v : f32
    tw.yield %w : f32
  } : tensor<2x3x5xf32>
  %b = tw.map(%i, %j, %k) {
    %v = tw.load %y[%i, %j, %k] : tensor<2x4x5xf32> -> f32
    %w = arith.negf %v : f32
    tw.yield %w : f32
  } : tensor<2x4x5xf32>
  %c = tw.map(%i, %j, %k) {
    %zero = arith.constant 0.0 : f32
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %first = arith.cmpi ult, %j, %c3 : index
    %v = tw.load %a[%i, %j, %k] guard %first else %zero : f32 : tensor<2x3x5xf32> -> f32
    %at = arith.subi %j, %c3 : index
    %second = arith.cmpi ult, %at, %c4 : index
    %w = tw.load %b[%i, %at, %k] guard %second else %v : f32 : tensor<2x4x5xf32> -> f32
    tw.yield %w : f32
  } : tensor<2x7x5xf32>
  %s = tw.reduce add (%i) over (%r, %t) in <[3, 5]> {
    %c2 = arith.constant 2 : index
    %at = arith.subi %c2, %r : index
    %v = tw.load %a[%i, %at, %t] : tensor<2x3x5xf32> -> f32
    tw.yield %v : f32
  } : tensor<2xf32>
  return %c, %s : tensor<2x7x5xf32>, tensor<2xf32>
}

// -----

// What grows at the end of a cache: the past is an input and is copied.

// CHECK-LABEL: func.func @main
// CHECK:         %[[NEW:.*]] = tw.fused
// CHECK:         %[[COPY:.*]] = tw.fused {{.*}}(%{{.*}} = %arg0
// CHECK-NOT:       guard
// CHECK:         tw.join %[[COPY]], %[[NEW]] axis 1
func.func @main(%past: tensor<4x?x8xf32, #tw.dims<[4, P, 8]>>, %x: tensor<4x1x8xf32>)
    -> tensor<4x?x8xf32, #tw.dims<[4, P + 1, 8]>> {
  %a = tw.map(%i, %j, %k) {
    %v = tw.load %x[%i, %j, %k] : tensor<4x1x8xf32> -> f32
    %w = math.exp %v : f32
    tw.yield %w : f32
  } : tensor<4x1x8xf32>
  %c = tw.map(%i, %j, %k) {
    %zero = arith.constant 0.0 : f32
    %p = tw.size #tw.size<P>
    %c1 = arith.constant 1 : index
    %first = arith.cmpi ult, %j, %p : index
    %v = tw.load %past[%i, %j, %k] guard %first else %zero : f32 : tensor<4x?x8xf32, #tw.dims<[4, P, 8]>> -> f32
    %at = arith.subi %j, %p : index
    %second = arith.cmpi ult, %at, %c1 : index
    %w = tw.load %a[%i, %at, %k] guard %second else %v : f32 : tensor<4x1x8xf32> -> f32
    tw.yield %w : f32
  } : tensor<4x?x8xf32, #tw.dims<[4, P + 1, 8]>>
  return %c : tensor<4x?x8xf32, #tw.dims<[4, P + 1, 8]>>
}

// -----

// A concatenation of a concatenation: the inner parts lie in the outer one.
// What is returned, or read as a whole by a scatter, needs memory of its own.

// CHECK-LABEL: func.func @main
// CHECK:         %[[PARTS:.*]]:2 = tw.fused
// CHECK:         %[[IN:.*]] = tw.join %[[PARTS]]#0, %[[PARTS]]#1 axis 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
// CHECK:         %[[R:.*]] = tw.fused
// CHECK:         %[[COPY:.*]] = tw.fused {{.*}} = %[[R]]
// CHECK:         %[[OUT:.*]] = tw.join %[[IN]], %[[COPY]] axis 0
// CHECK:         return %[[OUT]], %[[R]]
func.func @main(%x: tensor<3xf32>) -> (tensor<9xf32>, tensor<3xf32>) {
  %a = tw.map(%i) {
    %v = tw.load %x[%i] : tensor<3xf32> -> f32
    %w = math.exp %v : f32
    tw.yield %w : f32
  } : tensor<3xf32>
  %b = tw.map(%i) {
    %c2 = arith.constant 2 : index
    %j = arith.subi %c2, %i : index
    %v = tw.load %x[%j] : tensor<3xf32> -> f32
    tw.yield %v : f32
  } : tensor<3xf32>
  %c = tw.map(%i) {
    %zero = arith.constant 0.0 : f32
    %c3 = arith.constant 3 : index
    %first = arith.cmpi ult, %i, %c3 : index
    %v = tw.load %a[%i] guard %first else %zero : f32 : tensor<3xf32> -> f32
    %at = arith.subi %i, %c3 : index
    %second = arith.cmpi ult, %at, %c3 : index
    %w = tw.load %b[%at] guard %second else %v : f32 : tensor<3xf32> -> f32
    tw.yield %w : f32
  } : tensor<6xf32>
  %r = tw.map(%i) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %j = arith.addi %i, %c1 : index
    %k = arith.remui %j, %c3 : index
    %v = tw.load %c[%k] : tensor<6xf32> -> f32
    tw.yield %v : f32
  } : tensor<3xf32>
  %d = tw.map(%i) {
    %zero = arith.constant 0.0 : f32
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %first = arith.cmpi ult, %i, %c6 : index
    %v = tw.load %c[%i] guard %first else %zero : f32 : tensor<6xf32> -> f32
    %at = arith.subi %i, %c6 : index
    %second = arith.cmpi ult, %at, %c3 : index
    %w = tw.load %r[%at] guard %second else %v : f32 : tensor<3xf32> -> f32
    tw.yield %w : f32
  } : tensor<9xf32>
  return %d, %r : tensor<9xf32>, tensor<3xf32>
}

// -----

// Nothing but inputs: one kernel copies them.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     tw.join
func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<6xf32> {
  %c = tw.map(%i) {
    %zero = arith.constant 0.0 : f32
    %c3 = arith.constant 3 : index
    %first = arith.cmpi ult, %i, %c3 : index
    %v = tw.load %x[%i] guard %first else %zero : f32 : tensor<3xf32> -> f32
    %at = arith.subi %i, %c3 : index
    %second = arith.cmpi ult, %at, %c3 : index
    %w = tw.load %y[%at] guard %second else %v : f32 : tensor<3xf32> -> f32
    tw.yield %w : f32
  } : tensor<6xf32>
  return %c : tensor<6xf32>
}

// RUN: tilewright-opt %s --split-input-file --tw-print-plan -o /dev/null 2>&1 | FileCheck %s

// A chain: values in between lie in the arena, a reshape is the same memory, and
// what the result shows is computed into the caller's block.

// CHECK-LABEL: 0 main(%0: f32[N, 4] parameter)
// CHECK-SAME:    -> (%[[OUT:[0-9]+]]: f32[N, 4] alias of %[[B:[0-9]+]])
// CHECK-NEXT:    buffer 0: 16*N bytes, commands 0 to 1
// CHECK-NEXT:    0: launch first (%0: f32[N, 4] parameter, %[[A:[0-9]+]]: f32[N, 4] arena 0)
// CHECK-NEXT:    1: launch second (%{{[0-9]+}}: f32[4*N] alias of %[[A]], %[[B]]: f32[4*N] owned)
// CHECK-NOT:     copy
func.func @main(%x: tensor<?x4xf32, #tw.dims<[N, 4]>> {tw.name = "x"})
    -> (tensor<?x4xf32, #tw.dims<[N, 4]>> {tw.name = "y"}) {
  %0 = tw.fused @first(%a = %x : tensor<?x4xf32, #tw.dims<[N, 4]>>) {
    %1 = tw.map(%i, %j) {
      %v = tw.load %a[%i, %j] : tensor<?x4xf32, #tw.dims<[N, 4]>> -> f32
      tw.yield %v : f32
    } : tensor<?x4xf32, #tw.dims<[N, 4]>>
    tw.yield %1 : tensor<?x4xf32, #tw.dims<[N, 4]>>
  } : tensor<?x4xf32, #tw.dims<[N, 4]>>
  %flat = tw.reshape %0 : tensor<?x4xf32, #tw.dims<[N, 4]>> -> tensor<?xf32, #tw.dims<[4 * N]>>
  %2 = tw.fused @second(%a = %flat : tensor<?xf32, #tw.dims<[4 * N]>>) {
    %1 = tw.map(%i) {
      %v = tw.load %a[%i] : tensor<?xf32, #tw.dims<[4 * N]>> -> f32
      tw.yield %v : f32
    } : tensor<?xf32, #tw.dims<[4 * N]>>
    tw.yield %1 : tensor<?xf32, #tw.dims<[4 * N]>>
  } : tensor<?xf32, #tw.dims<[4 * N]>>
  %back = tw.reshape %2 : tensor<?xf32, #tw.dims<[4 * N]>> -> tensor<?x4xf32, #tw.dims<[N, 4]>>
  return %back : tensor<?x4xf32, #tw.dims<[N, 4]>>
}

// -----

// A size that depends on data: the value is owned and released after its last
// use; both branches of the if are functions that return owned blocks.

// CHECK-LABEL: 0 main(%0: f32[8] parameter, %1: bool[] parameter)
// CHECK:         0: builtin nonzero (%{{[0-9]+}}: f32[8] parameter) -> (%[[IDX:[0-9]+]]: i64[1, u0] owned)
// CHECK-NEXT:    1: launch sum (%[[IDX]]: i64[1, u0] owned, %[[SUM:[0-9]+]]: i64[] arena 0) sizes [] tasks 1 release %[[IDX]]
// CHECK-NEXT:    2: if %{{[0-9]+}} function 1 else function 2
// CHECK:       1 then() -> (%{{[0-9]+}}: i64[] owned)
// CHECK-NEXT:    0: copy (%[[SUM]]: i64[] arena 0,
// CHECK:       2 else() -> (%{{[0-9]+}}: i64[] owned)
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<i64> {
  %idx = tw.call "nonzero"(%x) {operands_present = array<i1: true>, defines = ["u0"]}
      : (tensor<8xf32>) -> tensor<1x?xi64, #tw.dims<[1, u0]>>
  %s = tw.fused @sum(%a = %idx : tensor<1x?xi64, #tw.dims<[1, u0]>>) {
    %1 = tw.reduce add () over (%r, %s) in <[1, u0]> {
      %v = tw.load %a[%r, %s] : tensor<1x?xi64, #tw.dims<[1, u0]>> -> i64
      tw.yield %v : i64
    } : tensor<i64>
    tw.yield %1 : tensor<i64>
  } : tensor<i64>
  %y = tw.if %c : (tensor<i1>) -> tensor<i64> {
    tw.yield %s : tensor<i64>
  } else {
    %zero = tw.constant tensor<i64> = dense<0>
    tw.yield %zero : tensor<i64>
  }
  return %y : tensor<i64>
}

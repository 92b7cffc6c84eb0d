// RUN: tilewright-opt %s | FileCheck %s

// Broadcasting N against a size that is one where N is one gives N; against
// an unrelated size it depends.

// CHECK-LABEL: func.func @dims
// CHECK-SAME: tensor<?xf32, #tw.dims<[N]>>
// CHECK-SAME: tensor<?xf32, #tw.dims<[select(N + -1, N, M)]>>
func.func @dims(%x: tensor<?xf32, #tw.dims<[select(N + -1, N, min(512, N))]>>,
                %y: tensor<?xf32, #tw.dims<[select(N + -1, N, M)]>>) {
  return
}

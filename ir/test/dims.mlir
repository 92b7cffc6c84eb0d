// RUN: tilewright-opt %s | FileCheck %s

// Sizes are kept in a canonical form: a sum of products.

// CHECK: #tw.dims<[M * N + N, 7]>
func.func private @distribute(tensor<?x7xf32, #tw.dims<[N * (M + 1), 3 + 4]>>)
// CHECK: #tw.dims<[H + (H + 1) floordiv 2 + 1]>
func.func private @divide(tensor<?xf32, #tw.dims<[(2 * H + 4) floordiv 2 + (H + 1) floordiv 2 + -1]>>)
// CHECK: #tw.dims<[0, N floordiv 6]>
func.func private @nested(tensor<0x?xf32, #tw.dims<[(4 * N) mod 2, (N floordiv 2) floordiv 3]>>)
// CHECK: #tw.dims<[N + 1, max(M, N), select(N, M, 2)]>
func.func private @extremes(
    tensor<?x?x?xf32, #tw.dims<[max(N + 1, N), max(N, M), select(N, M, 2)]>>)
// CHECK: #tw.dims<["DynamicDimension.0", "max"]>
func.func private @quoted(tensor<?x?xf32, #tw.dims<["DynamicDimension.0", "max"]>>)
// CHECK: #tw.dims<[(H + 15) floordiv 16]>
func.func private @halved(
    tensor<?xf32, #tw.dims<[((((H + 1) floordiv 2 + 1) floordiv 2 + 1) floordiv 2 + 1) floordiv 2]>>)

// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=sm_80 --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s

// A warp takes a row of 60: two neighbours a lane, which need not exist. They are
// loaded once, at once, folded by shuffles, and written once.

// CHECK:       // tactic: rows.registers, blocks {{.*}}, team 32, threads 128, width 2
// CHECK:         for (index task = {{.*}}) {
// CHECK:           const Vec<float, 2> [[XY:v_[0-9]+]] = {{.*}}(b0 + {{.*}});
// CHECK:           const float [[X:v_[0-9]+]] = [[XY]].at[0];
// CHECK:           const float [[Y:v_[0-9]+]] = [[XY]].at[1];
// CHECK-NOT:       b0
// CHECK:           __shfl_xor_sync(0xffffffff, {{.*}}, 16)
// CHECK:           maximum(
// CHECK:           expf([[X]] - [[MAX:v_[0-9]+]])
// CHECK:           expf([[Y]] - [[MAX]])
// CHECK:           __shfl_xor_sync(
// CHECK:           if ({{.*}}) {
// CHECK-NEXT:        storeGlobal(b1 + {{.*}}, Vec<float, 2>{{.*}});
// CHECK-NEXT:      }
func.func @main(%x: tensor<40x60xf32>) -> tensor<40x60xf32> {
  %0 = tw.softmax %x axis 1 : tensor<40x60xf32> -> tensor<40x60xf32>
  return %0 : tensor<40x60xf32>
}

// A block takes a row that neither registers nor shared memory hold: one pass for
// the maximum and, below each thread's greatest element so far, for the sum of
// exponentials; one that writes.

// CHECK:       // tactic: rows.passes, blocks {{.*}}, team 1024, threads 1024, width 4
// CHECK:         for (index task = {{.*}}) {
// CHECK:           for (index element = {{.*}}; element < 65536; element += 4096) {
// CHECK-DAG:         [[MOST:v_[0-9]+]] = fminf(fmaxf(fmaxf(fmaxf(fmaxf([[SOFAR:acc[0-9]+]], {{.*}}
// CHECK-DAG:         [[FACTOR:v_[0-9]+]] = expf([[SOFAR]] - [[MOST]])
// CHECK-DAG:         maximum(acc, [[X:v_[0-9]+]])
// CHECK-DAG:         fmaf({{acc[0-9]+}}, [[FACTOR]], expf([[X]] - [[MOST]]))
// CHECK-NOT:       for (
// CHECK:           [[LAST:v_[0-9]+]] = maximum({{.*}}[31])
// CHECK:           expf([[SOFAR]] - [[LAST]])
// CHECK:           for (index element1 = {{.*}}; element1 < 65536; element1 += 4096) {
// CHECK:             expf({{.*}} - [[LAST]])
// CHECK:             storeGlobal(
// CHECK-NOT:       for (
func.func @long(%x: tensor<40x65536xf32>) -> tensor<40x65536xf32> {
  %0 = tw.softmax %x axis 1 : tensor<40x65536xf32> -> tensor<40x65536xf32>
  return %0 : tensor<40x65536xf32>
}

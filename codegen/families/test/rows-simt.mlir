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

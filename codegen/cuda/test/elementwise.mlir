// RUN: tilewright-opt %s --tw-layout --tw-fuse --tw-tile=level=sm_80 --tw-build-kernels=level=sm_80 --tw-print-cuda | FileCheck %s
func.func @main(%x: tensor<?x30xf32, #tw.dims<[N, 30]>>, %y: tensor<?x30xf32, #tw.dims<[N, 30]>>)
    -> tensor<?x30xf32, #tw.dims<[N, 30]>> {
  %0 = tw.map(%i, %j) {
    %a = tw.load %x[%i, %j] : tensor<?x30xf32, #tw.dims<[N, 30]>> -> f32
    %b = tw.load %y[%i, %j] : tensor<?x30xf32, #tw.dims<[N, 30]>> -> f32
    %s = arith.addf %a, %b : f32
    tw.yield %s : f32
  } : tensor<?x30xf32, #tw.dims<[N, 30]>>
  return %0 : tensor<?x30xf32, #tw.dims<[N, 30]>>
}

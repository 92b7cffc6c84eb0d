// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// What is printed parses again to the same.

// CHECK-LABEL: func.func @bias
// CHECK:         tw.map(%i, %j) {
// CHECK:           tw.load %{{.*}}[%i, %j] : tensor<?x8xf32, #tw.dims<[N, 8]>> -> f32
// CHECK:           tw.yield
// CHECK:         } : tensor<?x8xf32, #tw.dims<[N, 8]>>
func.func @bias(%x: tensor<?x8xf32, #tw.dims<[N, 8]>>, %b: tensor<8xf32>)
    -> tensor<?x8xf32, #tw.dims<[N, 8]>> {
  %y = tw.map(%i, %j) {
    %a = tw.load %x[%i, %j] : tensor<?x8xf32, #tw.dims<[N, 8]>> -> f32
    %c = tw.load %b[%j] : tensor<8xf32> -> f32
    %s = arith.addf %a, %c : f32
    tw.yield %s : f32
  } : tensor<?x8xf32, #tw.dims<[N, 8]>>
  return %y : tensor<?x8xf32, #tw.dims<[N, 8]>>
}

// CHECK-LABEL: func.func @matmul
// CHECK:         tw.reduce add (%i, %j) over (%r) in <[64]> attributes {root = "matmul"} {
func.func @matmul(%a: tensor<4x64xf32>, %b: tensor<64x8xf32>) -> tensor<4x8xf32> {
  %c = tw.reduce add (%m, %n) over (%k) in <[64]> attributes {root = "matmul"} {
    %x = tw.load %a[%m, %k] : tensor<4x64xf32> -> f32
    %y = tw.load %b[%k, %n] : tensor<64x8xf32> -> f32
    %p = arith.mulf %x, %y : f32
    tw.yield %p : f32
  } : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// A guarded load is padding; a unsigned element is a signless scalar.
// CHECK-LABEL: func.func @pad
// CHECK:         tw.load %{{.*}}[%{{.*}}] guard %{{.*}} else %{{.*}} : i8 : tensor<5xui8> -> i8
func.func @pad(%x: tensor<5xui8>) -> tensor<7xui8> {
  %y = tw.map(%i) {
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %zero = arith.constant 0 : i8
    %at = arith.subi %i, %one : index
    %in = arith.cmpi ult, %at, %five : index
    %v = tw.load %x[%at] guard %in else %zero : i8 : tensor<5xui8> -> i8
    tw.yield %v : i8
  } : tensor<7xui8>
  return %y : tensor<7xui8>
}

// CHECK-LABEL: func.func @others
// CHECK:         tw.scan add (%i) attributes {axis = 0 : i64, exclusive} {
// CHECK:         tw.scatter assign %{{.*}} at (%i) in <[2]> {
// CHECK:         tw.conv %{{.*}}, %{{.*}} strides [1] pads <[1, 1]> dilations [1] group 1
// CHECK:         tw.constant tensor<2xi64> = dense<[3, 4]>
// CHECK:         tw.constant tensor<64xf32> = #tw.blob<"0123">
func.func @others(%x: tensor<4xf32>, %img: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) {
  %s = tw.scan add (%i) attributes {axis = 0 : i64, exclusive} {
    %v = tw.load %x[%i] : tensor<4xf32> -> f32
    tw.yield %v : f32
  } : tensor<4xf32>
  %t = tw.scatter assign %s at (%i) in <[2]> {
    %zero = arith.constant 0.0 : f32
    tw.yield %i, %zero : index, f32
  } : tensor<4xf32>
  %c = tw.conv %img, %w strides [1] pads <[1, 1]> dilations [1] group 1
      : tensor<1x2x8xf32>, tensor<3x2x3xf32> -> tensor<1x3x8xf32>
  %k = tw.constant tensor<2xi64> = dense<[3, 4]>
  %l = tw.constant tensor<64xf32> = #tw.blob<"0123">
  return
}

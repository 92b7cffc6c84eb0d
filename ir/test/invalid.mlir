// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{needs 2 coordinates, found 1}}
  %y = tw.map(%i) {
    %v = tw.load %x[%i, %i] : tensor<4x8xf32> -> f32
    tw.yield %v : f32
  } : tensor<4x8xf32>
  return
}

// -----

func.func @load(%x: tensor<4x8xf32>) {
  %y = tw.map(%i) {
    // expected-error @+1 {{needs 2 coordinates, found 1}}
    %v = tw.load %x[%i] : tensor<4x8xf32> -> f32
    tw.yield %v : f32
  } : tensor<4xf32>
  return
}

// -----

func.func @yield(%x: tensor<4xui8>) {
  %y = tw.map(%i) {
    %v = tw.load %x[%i] : tensor<4xui8> -> i8
    // expected-error @+1 {{must give 'f32' to 'tw.map', found 'i8'}}
    tw.yield %v : i8
  } : tensor<4xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 4 elements in and 5 out}}
  %y = tw.reshape %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @scan(%x: tensor<4xf32>) {
  // expected-error @+1 {{has axis 1, outside [0, 1)}}
  %s = tw.scan add (%i) attributes {axis = 1 : i64} {
    %v = tw.load %x[%i] : tensor<4xf32> -> f32
    tw.yield %v : f32
  } : tensor<4xf32>
  return
}

// -----

func.func @argmax(%x: tensor<4xf32>) {
  // expected-error @+1 {{gives positions as i64, found 'f32'}}
  %s = tw.reduce argmax () over (%r) in <[4]> {
    %v = tw.load %x[%r] : tensor<4xf32> -> f32
    tw.yield %v : f32
  } : tensor<f32>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{needs dense<…> or #tw.blob<…>}}
  %c = tw.constant tensor<2xf32> = "text"
  return
}

// -----

func.func @join(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{has parts that do not fill the axis}}
  %j = tw.join %x, %y axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @join(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{has a part that differs beside the axis}}
  %j = tw.join %x, %y axis 1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x7xf32>
  return
}

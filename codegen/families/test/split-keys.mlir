// RUN: tilewright-opt %s --split-input-file --tw-layout --tw-fuse --tw-tile=level=sm_80 | FileCheck %s

// One query and many keys: attention of parts of the keys, then their sum and
// what followed. The last part is shorter; nothing past its end is read.

// CHECK-LABEL: func.func @decode
// CHECK:       [[PARTS:%.*]]:3 = tw.fused @{{.*}}_parts({{.*}}attention, tactic = {name = "attention.tiles"
// CHECK:         tw.reduce add (%i, %j, %k) over (%r) in <[64]>
// CHECK:           [[LENGTH:%.*]] = arith.constant [[N:[0-9]+]] : index
// CHECK:           [[START:%.*]] = arith.muli %i, [[LENGTH]] : index
// CHECK:           [[AT:%.*]] = arith.addi [[START]], %k : index
// CHECK:           [[EXISTS:%.*]] = arith.cmpi slt, [[AT]],
// CHECK:           tw.load %{{.*}}{{\[}}%j, %r, [[AT]]] guard [[EXISTS]]
// CHECK:         arith.constant 0xFF800000 : f32
// CHECK:         tw.reduce max {{.*}} in <{{\[}}[[N]]]>
// CHECK:         tw.reduce add {{.*}} in <{{\[}}[[N]]]>
// CHECK:         tw.yield
// CHECK:       tw.fused @{{.*}} = [[PARTS]]#0 {{.*}}name = "pointwise.simt"
// CHECK:         tw.map(%i, %j) attributes {root = "parts"}
// CHECK-NOT:   tw.fused
func.func @decode(%q: tensor<4x1x64xf32>, %k: tensor<4x64x4099xf32>, %v: tensor<4x4099x64xf32>) -> tensor<4x1x64xf32> {
  %s = tw.matmul %q, %k : tensor<4x1x64xf32>, tensor<4x64x4099xf32> -> tensor<4x1x4099xf32>
  %p = tw.softmax %s axis 2 : tensor<4x1x4099xf32> -> tensor<4x1x4099xf32>
  %y = tw.matmul %p, %v : tensor<4x1x4099xf32>, tensor<4x4099x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

// -----

// Enough queries: one region.

// CHECK-LABEL: func.func @prefill
// CHECK-NOT:   _parts
// CHECK:       name = "attention.tiles"
func.func @prefill(%q: tensor<4x1024x64xf32>, %k: tensor<4x64x1024xf32>, %v: tensor<4x1024x64xf32>) -> tensor<4x1024x64xf32> {
  %s = tw.matmul %q, %k : tensor<4x1024x64xf32>, tensor<4x64x1024xf32> -> tensor<4x1024x1024xf32>
  %p = tw.softmax %s axis 2 : tensor<4x1024x1024xf32> -> tensor<4x1024x1024xf32>
  %y = tw.matmul %p, %v : tensor<4x1024x1024xf32>, tensor<4x1024x64xf32> -> tensor<4x1024x64xf32>
  return %y : tensor<4x1024x64xf32>
}

// -----

// Too few keys for a launch more.

// CHECK-LABEL: func.func @short
// CHECK-NOT:   _parts
// CHECK:       name = "attention.tiles"
func.func @short(%q: tensor<4x1x64xf32>, %k: tensor<4x64x128xf32>, %v: tensor<4x128x64xf32>) -> tensor<4x1x64xf32> {
  %s = tw.matmul %q, %k : tensor<4x1x64xf32>, tensor<4x64x128xf32> -> tensor<4x1x128xf32>
  %p = tw.softmax %s axis 2 : tensor<4x1x128xf32> -> tensor<4x1x128xf32>
  %y = tw.matmul %p, %v : tensor<4x1x128xf32>, tensor<4x128x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

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

// -----

// Any number of keys: a cache that grows, if queries are few.

// CHECK-LABEL: func.func @cache
// CHECK:       tw.fused @region_parts({{.*}}name = "attention.tiles"
// CHECK:         tw.reduce max {{.*}} in <{{\[}}(N + {{[0-9]+}}) floordiv {{[0-9]+}}]>
// CHECK:       tw.fused {{.*}}name = "pointwise.simt"
func.func @cache(%q: tensor<4x1x64xf32>, %k: tensor<4x64x?xf32, #tw.dims<[4, 64, N]>>, %v: tensor<4x?x64xf32, #tw.dims<[4, N, 64]>>) -> tensor<4x1x64xf32> {
  %s = tw.matmul %q, %k : tensor<4x1x64xf32>, tensor<4x64x?xf32, #tw.dims<[4, 64, N]>> -> tensor<4x1x?xf32, #tw.dims<[4, 1, N]>>
  %p = tw.softmax %s axis 2 : tensor<4x1x?xf32, #tw.dims<[4, 1, N]>> -> tensor<4x1x?xf32, #tw.dims<[4, 1, N]>>
  %y = tw.matmul %p, %v : tensor<4x1x?xf32, #tw.dims<[4, 1, N]>>, tensor<4x?x64xf32, #tw.dims<[4, N, 64]>> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

// -----

// Any number of both: one region.

// CHECK-LABEL: func.func @open
// CHECK-NOT:   _parts
// CHECK:       name = "attention.tiles"
func.func @open(%q: tensor<4x?x64xf32, #tw.dims<[4, N, 64]>>, %k: tensor<4x64x?xf32, #tw.dims<[4, 64, N]>>, %v: tensor<4x?x64xf32, #tw.dims<[4, N, 64]>>) -> tensor<4x?x64xf32, #tw.dims<[4, N, 64]>> {
  %s = tw.matmul %q, %k : tensor<4x?x64xf32, #tw.dims<[4, N, 64]>>, tensor<4x64x?xf32, #tw.dims<[4, 64, N]>> -> tensor<4x?x?xf32, #tw.dims<[4, N, N]>>
  %p = tw.softmax %s axis 2 : tensor<4x?x?xf32, #tw.dims<[4, N, N]>> -> tensor<4x?x?xf32, #tw.dims<[4, N, N]>>
  %y = tw.matmul %p, %v : tensor<4x?x?xf32, #tw.dims<[4, N, N]>>, tensor<4x?x64xf32, #tw.dims<[4, N, 64]>> -> tensor<4x?x64xf32, #tw.dims<[4, N, 64]>>
  return %y : tensor<4x?x64xf32, #tw.dims<[4, N, 64]>>
}

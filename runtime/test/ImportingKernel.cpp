//===- ImportingKernel.cpp - an image that no module may contain ----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

extern "C" {
int missing(void);
int importing(void) { return missing(); }
}

//===- GuardedMemoryTest.cpp ------------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/GuardedMemory.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(GuardedMemory, BlocksEndAtTheLastByte) {
  for (int64_t bytes : {0, 1, 63, 4096, 5000}) {
    char *block = allocateGuarded(bytes);
    ASSERT_TRUE(block);
    for (int64_t i = 0; i < bytes; ++i) {
      ASSERT_EQ(block[i], char(0xff));
    }
    EXPECT_DEATH({ static_cast<volatile char *>(block)[bytes] = 0; }, "");
    freeGuarded(block);
  }
  EXPECT_EQ(allocateGuarded(-1), nullptr);
  freeGuarded(nullptr);
}

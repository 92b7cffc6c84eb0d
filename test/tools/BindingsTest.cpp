//===- BindingsTest.cpp ---------------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/data/Bindings.h"

#include <gtest/gtest.h>

using namespace tilewright;

TEST(Bindings, SplitsNamesWithAnyCharacters) {
  auto inputs = parseInputs({"gpu_0/data:0=@/dev/null", "a=b=zeros", "x=ones"});
  ASSERT_TRUE(inputs) << inputs.status().toString();
  EXPECT_EQ((*inputs)[0].name, "gpu_0/data:0");
  EXPECT_EQ((*inputs)[0].file, "/dev/null");
  EXPECT_EQ((*inputs)[1].name, "a=b");
  EXPECT_EQ((*inputs)[1].source, InputBinding::Source::Zeros);
  EXPECT_EQ((*inputs)[2].source, InputBinding::Source::Ones);
}

TEST(Bindings, RefusesWhatIsNoBinding) {
  for (const char *text : {"", "x", "x=", "=@f", "=zeros", "x=@", "x=twos"}) {
    EXPECT_EQ(parseInputs({text}).status().code(), ErrorCode::OptionInvalid)
        << text;
    EXPECT_EQ(parseFiles("--expect", {text}).status().code(),
              ErrorCode::OptionInvalid)
        << text;
  }
  EXPECT_EQ(parseInputs({"x=ones", "x=zeros"}).status().code(),
            ErrorCode::OptionInvalid);
  EXPECT_EQ(parseInputs({"x=@/nowhere/x.npy"}).status().code(),
            ErrorCode::InputUnreadable);
}

TEST(Bindings, ReadsShapes) {
  auto shapes = parseShapes({"x=1x3x?x224", "a=b=7", "scalar="});
  ASSERT_TRUE(shapes) << shapes.status().toString();
  EXPECT_EQ((*shapes)["x"], (std::vector<int64_t>{1, 3, -1, 224}));
  EXPECT_EQ((*shapes)["a=b"], std::vector<int64_t>{7});
  EXPECT_TRUE((*shapes)["scalar"].empty());
}

TEST(Bindings, RefusesWhatIsNoShape) {
  for (const char *text : {"x", "=1", "x=1x", "x=x1", "x=1xx2", "x=-2", "x=1,2",
                           "x=1 x2", "x=99999999999999999999"}) {
    EXPECT_EQ(parseShapes({text}).status().code(), ErrorCode::OptionInvalid)
        << text;
  }
}

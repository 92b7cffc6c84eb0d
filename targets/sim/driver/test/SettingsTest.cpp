//===- SettingsTest.cpp - the simulator's environment ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Settings.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::sim;

TEST(SimulatorSettings, Defaults) {
  Result<Settings> settings = Settings::fromEnvironment();
  ASSERT_TRUE(settings) << settings.status().toString();
  EXPECT_EQ(settings->seed, 1u);
  EXPECT_TRUE(settings->checks);
  EXPECT_FALSE(settings->counters);
  EXPECT_FALSE(settings->approxSeed);
}

TEST(SimulatorSettings, Memory) {
  auto memory = [](const char *text) {
    setenv("TILEWRIGHT_SIM_MEMORY", text, 1);
    Result<Settings> settings = Settings::fromEnvironment();
    unsetenv("TILEWRIGHT_SIM_MEMORY");
    return settings ? settings->memoryBytes : 0;
  };
  EXPECT_EQ(memory("1000"), 1000u);
  EXPECT_EQ(memory("3K"), 3u << 10);
  EXPECT_EQ(memory("2M"), 2u << 20);
  EXPECT_EQ(memory("5G"), uint64_t(5) << 30);
  for (const char *text : {"", "x", "-1", "1T", "1MM", " 1", "0x10",
                           "99999999999999999999", "99999999999999G"}) {
    EXPECT_EQ(memory(text), 0u) << text;
  }
}

TEST(SimulatorSettings, ATraceWantsCounters) {
  setenv("TILEWRIGHT_SIM_TRACE", "/tmp/trace", 1);
  EXPECT_TRUE(Settings::fromEnvironment()->counters);
  unsetenv("TILEWRIGHT_SIM_TRACE");
}

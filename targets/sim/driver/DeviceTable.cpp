//===- DeviceTable.cpp - the GPUs that the simulator plays ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Limits by compute capability are those of the CUDA programming guide's table
// of technical specifications; multiprocessors, second-level cache and clock
// are those of the card that the name says, by its vendor's data sheet.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/DeviceTable.h"

namespace tilewright::sim {

static constexpr int KiB = 1024;
static constexpr int MiB = 1024 * KiB;

const PlayedDevice playedDevices[] = {
    {"simulated A100", 8, 0, 108, 2048, 164 * KiB, 163 * KiB, 40 * MiB,
     1410000},
    {"simulated A10", 8, 6, 72, 1536, 100 * KiB, 99 * KiB, 6 * MiB, 1695000},
    {"simulated L4", 8, 9, 58, 1536, 100 * KiB, 99 * KiB, 48 * MiB, 2040000},
    {"simulated H100", 9, 0, 132, 2048, 228 * KiB, 227 * KiB, 50 * MiB,
     1980000},
    {"simulated B200", 10, 0, 148, 2048, 228 * KiB, 227 * KiB, 126 * MiB,
     1965000},
    {"simulated RTX 5090", 12, 0, 170, 1536, 100 * KiB, 99 * KiB, 96 * MiB,
     2407000},
};

const size_t playedDeviceCount = sizeof playedDevices / sizeof playedDevices[0];

} // namespace tilewright::sim

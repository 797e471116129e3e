// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/gpu_watch.hpp"

#include <gmock/gmock.h>

namespace steptune::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<Nvml> open_fake() {
  return Nvml::open(STEPTUNE_BINARY_DIR "/bin/libfake_nvml.so");
}

TEST(Nvml, IsAbsentWithoutComplaint) {
  EXPECT_EQ(Nvml::open("libno-such-driver.so.1"), nullptr);
  EXPECT_EQ(Nvml::open("libm.so.6"), nullptr) << "a library without its functions";
}

TEST(Nvml, ReadsAGpuByIndexOrUuid) {
  const auto nvml = open_fake();
  ASSERT_NE(nvml, nullptr);
  const auto idle = nvml->read("0");
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->memory_bytes, 10.0 * 0x1p30);
  EXPECT_EQ(idle->memory_used_bytes, 2.0 * 0x1p30);
  EXPECT_EQ(idle->utilisation, 0.5);
  EXPECT_EQ(idle->sm_clock_hz, 1.8e9);
  EXPECT_FALSE(idle->slowed) << "an idle clock is not held down";
  EXPECT_THAT(idle->processes, IsEmpty());
  const auto hot = nvml->read("GPU-second");
  ASSERT_TRUE(hot);
  EXPECT_TRUE(hot->slowed);
  EXPECT_THAT(hot->processes, ElementsAre(1));
  EXPECT_FALSE(nvml->read("7"));
  EXPECT_FALSE(nvml->read("GPU-third"));
}

TEST(GpuWatch, SumsUpWhatATrialMadeOfItsGpus) {
  const auto nvml = open_fake();
  ASSERT_NE(nvml, nullptr);
  GpuWatch watch(nvml.get(), {"0", "1"}, 5.0);
  EXPECT_FALSE(watch.use()) << "not looked at yet";
  const auto strangers = watch.look(7.0, {});
  EXPECT_EQ(strangers.count, 1) << "process 1 is no part of the trial";
  EXPECT_EQ(strangers.from_s, 5.0);
  const auto use = watch.use();
  ASSERT_TRUE(use);
  EXPECT_EQ(use->peak_memory_bytes, 9.0 * 0x1p30);
  EXPECT_DOUBLE_EQ(use->peak_memory_share, 0.9);
  EXPECT_DOUBLE_EQ(use->utilisation, 0.75);
  EXPECT_DOUBLE_EQ(use->sm_clock_hz, 1.35e9);
  EXPECT_DOUBLE_EQ(use->slowed_share, 0.5);
  EXPECT_EQ(use->most_strangers, 1);
}

TEST(GpuWatch, TheTrialsOwnProcessesAreNoStrangers) {
  const auto nvml = open_fake();
  ASSERT_NE(nvml, nullptr);
  ProcessStat own;
  own.id.pid = 1;
  EXPECT_EQ(GpuWatch(nvml.get(), {"1"}, 0.0).look(1.0, {{own}}).count, 0);
  EXPECT_EQ(GpuWatch(nullptr, {"1"}, 0.0).look(1.0, {}).count, 0) << "no driver";
  EXPECT_FALSE(GpuWatch(nvml.get(), {"7"}, 0.0).use()) << "no such GPU";
}

}  // namespace
}  // namespace steptune::local

// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/gpu_watch.hpp"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

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

/// Tests with a fake of NVIDIA's library, and a list of computing processes besides process 1.
class GpuWatchTest : public testing::Test {
 protected:
  ~GpuWatchTest() override {
    ::unsetenv("FAKE_GPU_0");
    ::unsetenv("FAKE_GPU_1");
  }
  static void computes_on(const char* gpu, pid_t pid) {
    ::setenv(gpu, std::to_string(pid).c_str(), 1);
  }
  static std::vector<ProcessStat> trial() {
    ProcessStat own;
    own.id.pid = ::getpid();
    return {own};
  }
  std::unique_ptr<Nvml> nvml_ = open_fake();
};

TEST_F(GpuWatchTest, SumsUpWhatATrialMadeOfItsGpus) {
  ASSERT_NE(nvml_, nullptr);
  computes_on("FAKE_GPU_0", ::getpid());
  computes_on("FAKE_GPU_1", ::getpid());
  GpuWatch watch(nvml_.get(), {"0", "1"}, 5.0);
  EXPECT_FALSE(watch.use()) << "not looked at yet";
  const auto others = watch.sample(7.0, trial());
  EXPECT_EQ(others.count, 1) << "process 1 is no part of the trial";
  EXPECT_EQ(others.from_s, 5.0);
  const auto use = watch.use();
  ASSERT_TRUE(use);
  // The most memory of a GPU, and the means of 0.5 and 1.0, 1.8 GHz and 0.9 GHz, normal and slowed.
  EXPECT_EQ(use->peak_memory_bytes, 9.0 * 0x1p30);
  EXPECT_DOUBLE_EQ(use->peak_memory_share, 0.9);
  EXPECT_DOUBLE_EQ(use->utilisation, 0.75);
  EXPECT_DOUBLE_EQ(use->sm_clock_hz, 1.35e9);
  EXPECT_DOUBLE_EQ(use->slowed_share, 0.5);
  EXPECT_EQ(use->most_other_processes, 1);
}

TEST_F(GpuWatchTest, AGpuThatTheTrialDoesNotUseIsIgnored) {
  ASSERT_NE(nvml_, nullptr);
  GpuWatch watch(nvml_.get(), {"0", "1"}, 0.0);
  EXPECT_EQ(watch.sample(1.0, trial()).count, 0) << "the trial does not use a GPU yet";
  EXPECT_FALSE(watch.use()) << "only other programs use the full GPU";
  computes_on("FAKE_GPU_0", ::getpid());
  EXPECT_EQ(watch.sample(2.0, trial()).count, 0);
  const auto use = watch.use();
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->peak_memory_share, 0.2);
  EXPECT_DOUBLE_EQ(use->utilisation, 0.5);
  EXPECT_EQ(use->most_other_processes, 0);
}

TEST_F(GpuWatchTest, ManyProcessesMayComputeOnAGpu) {
  ASSERT_NE(nvml_, nullptr);
  std::string others;
  for (int i = 0; i < 1000; ++i)
    others += "1 ";
  ::setenv("FAKE_GPU_0", (others + std::to_string(::getpid())).c_str(), 1);
  GpuWatch watch(nvml_.get(), {"0"}, 0.0);
  EXPECT_EQ(watch.sample(1.0, trial()).count, 1000);
  EXPECT_TRUE(watch.use());
}

TEST_F(GpuWatchTest, AVisibleGpuCountsIfNoProcessesAreListed) {
  ASSERT_NE(nvml_, nullptr);
  GpuWatch watch(nvml_.get(), {"0"}, 0.0);
  EXPECT_EQ(watch.sample(1.0, trial()).count, 0);
  ASSERT_TRUE(watch.use());
  EXPECT_DOUBLE_EQ(watch.use()->peak_memory_share, 0.2);
}

TEST_F(GpuWatchTest, TheTrialsOwnProcessesAreNotOtherProcesses) {
  ASSERT_NE(nvml_, nullptr);
  ProcessStat own;
  own.id.pid = 1;
  EXPECT_EQ(GpuWatch(nvml_.get(), {"1"}, 0.0).sample(1.0, {{own}}).count, 0);
  EXPECT_EQ(GpuWatch(nullptr, {"1"}, 0.0).sample(1.0, {}).count, 0) << "no driver";
  EXPECT_FALSE(GpuWatch(nvml_.get(), {"7"}, 0.0).use()) << "no such GPU";
}

}  // namespace
}  // namespace steptune::local

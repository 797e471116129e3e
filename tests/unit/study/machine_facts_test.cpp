// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/machine_facts.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

/// A machine made of files.
class FakeMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "steptune-facts-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double fact(const std::string& name, int affinity_cpus = 8) {
    return study::facts_under(root_, affinity_cpus).at(name);
  }

  std::filesystem::path root_;
};

TEST_F(FakeMachine, WithoutGroupsHasWhatAffinityAndMemoryAllow) {
  EXPECT_EQ(fact("cpus"), 8.0);
  EXPECT_EQ(fact("memory_gb"), 16.0);
  EXPECT_EQ(fact("gpus"), 0.0);
}

TEST_F(FakeMachine, KeepsToTheTightestQuotaOfVersion2) {
  write("proc/self/cgroup", "0::/pods/job\n");
  write("sys/fs/cgroup/pods/job/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/pods/cpu.max", "350000 100000\n");
  write("sys/fs/cgroup/pods/job/memory.max", "2684354560\n");
  write("sys/fs/cgroup/pods/memory.max", "max\n");
  EXPECT_EQ(fact("cpus"), 3.0);
  EXPECT_EQ(fact("memory_gb"), 2.5);
}

TEST_F(FakeMachine, KeepsToTheQuotaOfVersion1) {
  write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
  // In a container the group's own path is not mounted: its limits stand at the root.
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(fact("cpus"), 2.0);
  EXPECT_EQ(fact("memory_gb"), 1.0);
}

TEST_F(FakeMachine, HasAtLeastOneProcessor) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "20000 100000\n");
  EXPECT_EQ(fact("cpus"), 1.0);
}

TEST_F(FakeMachine, IgnoresQuotasThatAreNone) {
  write("proc/self/cgroup", "0::/\n4:cpu:/\n");
  write("sys/fs/cgroup/cpu.max", "garbage");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(fact("cpus"), 8.0);
}

TEST_F(FakeMachine, CountsGpusOfTheDriver) {
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "");
  write("proc/driver/nvidia/gpus/0000:02:00.0/information", "");
  EXPECT_EQ(fact("gpus"), 2.0);
}

TEST_F(FakeMachine, CountsGpuDevicesOfAContainer) {
  for (const char* name : {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    write(std::string("dev/") + name, "");
  }
  EXPECT_EQ(fact("gpus"), 2.0);
}

TEST(MachineFacts, OfThisMachineAreUsable) {
  const Facts facts = machine_facts();
  EXPECT_GE(facts.at("cpus"), 1.0);
  EXPECT_GT(facts.at("memory_gb"), 0.0);
  EXPECT_GE(facts.at("gpus"), 0.0);
}

}  // namespace
}  // namespace steptune

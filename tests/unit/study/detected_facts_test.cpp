// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/unit/common/fake_machine.hpp"
#include "tuner/study/facts.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

class DetectedFacts : public ::testing::Test {
 protected:
  void SetUp() override { write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n"); }

  void write(const std::string& path, const std::string& text) { machine_.write(path, text); }
  double fact(const std::string& name, int allowed_cpus = 8) {
    return study::facts_of(machine_.files(), allowed_cpus, variables_).at(name);
  }

  FakeMachine machine_;
  std::map<std::string, std::string> variables_;
};

TEST_F(DetectedFacts, WithoutCgroupsUseAffinityAndMemory) {
  EXPECT_EQ(fact("cpus"), 8.0);
  EXPECT_EQ(fact("memory_gb"), 16.0);
  EXPECT_EQ(fact("gpus"), 0.0);
}

TEST_F(DetectedFacts, KeepsToTheTightestQuotaOfVersion2) {
  write("proc/self/cgroup", "0::/pods/job\n");
  write("sys/fs/cgroup/pods/job/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/pods/cpu.max", "350000 100000\n");
  write("sys/fs/cgroup/pods/job/memory.max", "2684354560\n");
  write("sys/fs/cgroup/pods/memory.max", "max\n");
  EXPECT_EQ(fact("cpus"), 3.0);
  EXPECT_EQ(fact("memory_gb"), 2.5);
}

TEST_F(DetectedFacts, KeepsToTheQuotaOfVersion1) {
  write("proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
  // A container does not have its group's path; its limits are at the root.
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(fact("cpus"), 2.0);
  EXPECT_EQ(fact("memory_gb"), 1.0);
}

TEST_F(DetectedFacts, CountsGpusThatTheTunersEnvironmentShows) {
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "");
  write("proc/driver/nvidia/gpus/0000:02:00.0/information", "");
  EXPECT_EQ(fact("gpus"), 2.0);
  for (const auto& [shown, count] : {std::pair{"1", 1.0}, std::pair{"", 0.0},
                                     std::pair{"0,1,2,3", 2.0}, std::pair{"NoDevFiles", 0.0}}) {
    variables_["CUDA_VISIBLE_DEVICES"] = shown;
    EXPECT_EQ(fact("gpus"), count) << shown;
  }
}

TEST_F(DetectedFacts, CountsGpuDevicesOfAContainer) {
  for (const char* name : {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    write(std::string("dev/") + name, "");
  }
  EXPECT_EQ(fact("gpus"), 2.0);
}

TEST_F(DetectedFacts, FactsOfThisMachineAreUsable) {
  const Facts facts = detected_facts();
  EXPECT_GE(facts.at("cpus"), 1.0);
  EXPECT_GT(facts.at("memory_gb"), 0.0);
  EXPECT_GE(facts.at("gpus"), 0.0);
}

}  // namespace
}  // namespace steptune

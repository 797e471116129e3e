// SPDX-License-Identifier: Apache-2.0
#include "common/machine/cgroup.hpp"

#include <gmock/gmock.h>

#include "tests/unit/common/fake_machine.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(Cgroup, FoldersGoFromTheInnermostGroupToTheTop) {
  const FakeMachine machine;
  EXPECT_THAT(cgroup_folders(machine.files(), "cpu"), IsEmpty()) << "a kernel without cgroups";
  machine.write("proc/self/cgroup",
                "5:memory:/a\n4:cpu,cpuacct:/x\n1:name=systemd:/\n0::/user/job\n");
  EXPECT_THAT(cgroup_folders(machine.files(), "cpu"),
              ElementsAre("sys/fs/cgroup/cpu/x", "sys/fs/cgroup/cpu", "sys/fs/cgroup/user/job",
                          "sys/fs/cgroup/user", "sys/fs/cgroup"));
  EXPECT_THAT(cgroup_folders(machine.files(), "cpuset"),
              ElementsAre("sys/fs/cgroup/user/job", "sys/fs/cgroup/user", "sys/fs/cgroup"));
}

TEST(Cgroup, LinesThatAreNoMembershipAreSkipped) {
  const FakeMachine machine;
  machine.write("proc/self/cgroup", "garbage\n1:cpu\n\n0::/\n");
  EXPECT_THAT(cgroup_folders(machine.files(), "cpu"), ElementsAre("sys/fs/cgroup"));
}

TEST(CgroupCpuQuota, IsTheTightestOfVersion2) {
  const FakeMachine machine;
  machine.write("proc/self/cgroup", "0::/pods/job/step\n");
  machine.write("sys/fs/cgroup/pods/job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_cpu_quota(machine.files()), std::nullopt);
  machine.write("sys/fs/cgroup/pods/job/cpu.max", "150000 100000\n");
  machine.write("sys/fs/cgroup/pods/cpu.max", "350000 100000\n");
  EXPECT_THAT(cgroup_cpu_quota(machine.files()), Optional(1.5));
  machine.write("sys/fs/cgroup/cpu.max", "25000 50000\n");
  EXPECT_THAT(cgroup_cpu_quota(machine.files()), Optional(0.5));
}

TEST(CgroupCpuQuota, IsTheTightestOfVersion1) {
  const FakeMachine machine;
  machine.write("proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n0::/docker/x\n");
  machine.write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "-1\n");
  machine.write("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota(machine.files()), std::nullopt);
  machine.write("sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "300000\n");
  machine.write("sys/fs/cgroup/cpu/docker/cpu.cfs_period_us", "200000\n");
  EXPECT_THAT(cgroup_cpu_quota(machine.files()), Optional(1.5));
}

TEST(CgroupCpuQuota, QuotaOfAContainerIsAtTheTop) {
  const FakeMachine machine;
  // The path is the host's. In the container, its own group is mounted as the whole tree.
  machine.write("proc/self/cgroup", "0::/kubepods/burstable/pod4/c1\n");
  machine.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  machine.write("sys/fs/cgroup/memory.max", "1073741824\n");
  EXPECT_THAT(cgroup_cpu_quota(machine.files()), Optional(2.0));
  EXPECT_THAT(cgroup_memory_limit_bytes(machine.files()), Optional(0x1p30));
}

TEST(CgroupCpuQuota, MalformedQuotasCountAsNoQuota) {
  const FakeMachine machine;
  machine.write("proc/self/cgroup", "0::/\n4:cpu:/\n");
  machine.write("sys/fs/cgroup/cpu.max", "100000 0\n");
  machine.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");  // no period file
  EXPECT_EQ(cgroup_cpu_quota(machine.files()), std::nullopt);
  machine.write("sys/fs/cgroup/cpu.max", "garbage");
  EXPECT_EQ(cgroup_cpu_quota(machine.files()), std::nullopt);
}

TEST(CgroupMemoryLimit, IsTheTightestOfAllGroups) {
  const FakeMachine machine;
  machine.write("proc/self/cgroup", "9:memory:/a/b\n0::/a/b\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_THAT(cgroup_memory_limit_bytes(machine.files()), Optional(testing::Gt(0x1p60)));
  machine.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4096000\n");
  EXPECT_THAT(cgroup_memory_limit_bytes(machine.files()), Optional(4096000.0));
  machine.write("sys/fs/cgroup/a/memory.max", "2048000\n");
  EXPECT_THAT(cgroup_memory_limit_bytes(machine.files()), Optional(2048000.0));
}

}  // namespace
}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/machine/description.hpp"
#include "tests/unit/common/fake_machine.hpp"

namespace steptune {
namespace {

TEST(MachineDescription, ContainsWhatTheSystemReports) {
  const FakeMachine machine;
  machine.write("proc/cpuinfo",
                "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: fpu hypervisor avx2\n");
  machine.write("proc/meminfo", "MemTotal:       8388608 kB\n");
  machine.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  machine.write("etc/os-release", "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  machine.write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
  machine.write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
  machine.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 550.54.15\nGCC\n");
  machine.write("proc/driver/nvidia/gpus/0000:01:00.0/information",
                "Model: \t\t NVIDIA H200\nIRQ: 1\n");
  machine.write("dev/nvidia0", "");
  machine.write(".dockerenv", "");

  MachineDescription description = describe_machine(machine.files());
  EXPECT_EQ(description["cpu"], "AMD EPYC 7B13");
  EXPECT_NE(description["cpus"], "");
  EXPECT_EQ(description["memory"], "8.0 GiB");
  EXPECT_EQ(description["gpu"], "1 x NVIDIA H200");
  EXPECT_EQ(description["gpu_driver"], "NVRM version: NVIDIA UNIX x86_64 550.54.15");
  EXPECT_EQ(description["kernel"], "6.1.0-18-amd64");
  EXPECT_EQ(description["operating_system"], "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(description["container"], "docker");
  EXPECT_EQ(description["hypervisor"], "yes");
  EXPECT_EQ(description["cpu_governor"], "performance, powersave");
  EXPECT_TRUE(description["c_library"].starts_with("glibc "));
}

TEST(MachineDescription, UnknownFactsAreAbsent) {
  const FakeMachine machine;
  const MachineDescription description = describe_machine(machine.files());
  for (const char* name : {"cpu", "memory", "gpu", "gpu_driver", "kernel", "operating_system",
                           "container", "hypervisor", "cpu_governor"}) {
    EXPECT_FALSE(description.contains(name)) << name;
  }
}

TEST(MachineDescription, HostileFilesCannotDriveATerminal) {
  const FakeMachine machine;
  machine.write("proc/cpuinfo", "model name : \x1b[31mred\x07\n");
  EXPECT_EQ(describe_machine(machine.files()).at("cpu"), "red");
}

}  // namespace
}  // namespace steptune

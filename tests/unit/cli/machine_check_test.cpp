// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/machine_check.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace steptune {
namespace {

/// A folder that stands for a machine.
class MachineCheck : public testing::Test {
 protected:
  MachineCheck() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    machine_.root = std::filesystem::temp_directory_path() /
                    ("steptune-machine-" + std::to_string(getpid()) + "-" + test->name());
    std::filesystem::create_directories(machine_.root);
  }
  ~MachineCheck() override { std::filesystem::remove_all(machine_.root); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((machine_.root / path).parent_path());
    std::ofstream(machine_.root / path) << text;
  }

  MachineRoot machine_;
};

TEST_F(MachineCheck, KnowsTheReferenceBlasFromFastOnes) {
  EXPECT_EQ(check_blas("/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3").status,
            CheckStatus::ok);
  EXPECT_EQ(check_blas("/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3").status,
            CheckStatus::ok);
  const Check reference = check_blas("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0");
  EXPECT_EQ(reference.status, CheckStatus::warn);
  EXPECT_NE(reference.advice.find("libopenblas0-pthread"), std::string::npos);
  EXPECT_EQ(check_blas(std::nullopt).status, CheckStatus::warn);
}

TEST_F(MachineCheck, WarnsOfGovernorsThatChangeTheClock) {
  EXPECT_EQ(check_governor(machine_).status, CheckStatus::ok) << "a virtual machine does not tell";
  write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
  EXPECT_EQ(check_governor(machine_).status, CheckStatus::ok);
  write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
  const Check mixed = check_governor(machine_);
  EXPECT_EQ(mixed.status, CheckStatus::warn);
  EXPECT_EQ(mixed.found, "performance, powersave");
}

TEST_F(MachineCheck, WarnsOfABusyMachine) {
  write("proc/loadavg", "0.21 0.10 0.05 1/100 4242\n");
  EXPECT_EQ(check_load(machine_, 2).status, CheckStatus::ok);
  write("proc/loadavg", "1.80 0.10 0.05 1/100 4242\n");
  EXPECT_EQ(check_load(machine_, 2).status, CheckStatus::warn);
}

TEST_F(MachineCheck, WarnsOfLittleMemory) {
  write("proc/meminfo",
        "MemTotal:       8000000 kB\nMemFree: 1 kB\nMemAvailable:    6000000 kB\n"
        "SwapTotal:      1000000 kB\nSwapFree:        500000 kB\n");
  const Check enough = check_memory(machine_);
  EXPECT_EQ(enough.status, CheckStatus::ok);
  EXPECT_NE(enough.found.find("swapped out"), std::string::npos);
  write("proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:     300000 kB\n");
  EXPECT_EQ(check_memory(machine_).status, CheckStatus::warn);
}

TEST_F(MachineCheck, TellsGpusAndMissingDrivers) {
  EXPECT_EQ(check_gpu(machine_).found, "none: trials train on the CPU");
  write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  EXPECT_EQ(check_gpu(machine_).status, CheckStatus::warn);
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: H100\n");
  EXPECT_EQ(check_gpu(machine_).found, "1 NVIDIA GPU");
}

TEST_F(MachineCheck, WarnsOfACgroupQuotaBelowTheCpus) {
  write("sys/devices/system/cpu/online", "0-7\n");
  EXPECT_EQ(check_cpus(machine_, {0, 1, 2, 3}, std::nullopt).status, CheckStatus::ok);
  EXPECT_EQ(check_cpus(machine_, {0, 1, 2, 3}, 4.0).status, CheckStatus::ok);
  const Check limited = check_cpus(machine_, {0, 1, 2, 3}, 1.5);
  EXPECT_EQ(limited.status, CheckStatus::warn);
  EXPECT_EQ(limited.found, "4 usable (online 0-7), cgroup grants 1.5 CPUs' worth of time");
}

TEST_F(MachineCheck, WarnsOfSlowClocks) {
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  EXPECT_EQ(check_clock_source(machine_).status, CheckStatus::ok);
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  EXPECT_EQ(check_clock_source(machine_).status, CheckStatus::warn);
}

TEST_F(MachineCheck, FindsTheDiskOfAFolderThatDoesNotExistYet) {
  const Check check = check_disk(machine_.root / "not" / "yet" / "history.db");
  EXPECT_NE(check.found.find("free at " + machine_.root.string()), std::string::npos);
}

}  // namespace
}  // namespace steptune

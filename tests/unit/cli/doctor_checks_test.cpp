// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/doctor_checks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/common/fake_machine.hpp"

namespace steptune {
namespace {

class DoctorChecks : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { machine_.write(path, text); }

  FakeMachine machine_;
  const SystemFiles& files_ = machine_.files();
};

TEST_F(DoctorChecks, WarnsOfGovernorsThatChangeTheClock) {
  EXPECT_EQ(check_governor(files_).status, DiagnosisStatus::ok)
      << "a virtual machine does not report it";
  write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
  EXPECT_EQ(check_governor(files_).status, DiagnosisStatus::ok);
  write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
  const Diagnosis mixed = check_governor(files_);
  EXPECT_EQ(mixed.status, DiagnosisStatus::warn);
  EXPECT_EQ(mixed.found, "performance, powersave");
}

TEST_F(DoctorChecks, WarnsOfABusyMachine) {
  write("proc/loadavg", "0.21 0.10 0.05 1/100 4242\n");
  EXPECT_EQ(check_load(files_, 2).status, DiagnosisStatus::ok);
  write("proc/loadavg", "1.80 0.10 0.05 1/100 4242\n");
  EXPECT_EQ(check_load(files_, 2).status, DiagnosisStatus::warn);
}

TEST_F(DoctorChecks, WarnsOfLittleMemory) {
  write("proc/meminfo",
        "MemTotal:       8000000 kB\nMemFree: 1 kB\nMemAvailable:    6000000 kB\n"
        "SwapTotal:      1000000 kB\nSwapFree:        500000 kB\n");
  const Diagnosis enough = check_memory(files_);
  EXPECT_EQ(enough.status, DiagnosisStatus::ok);
  EXPECT_NE(enough.found.find("swapped out"), std::string::npos);
  write("proc/meminfo", "MemTotal:       8000000 kB\nMemAvailable:     300000 kB\n");
  EXPECT_EQ(check_memory(files_).status, DiagnosisStatus::warn);
}

TEST_F(DoctorChecks, ReportsTheMemoryLimitOfACgroup) {
  write("proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    6291456 kB\n");
  EXPECT_EQ(check_memory(files_).found, "6.0 GiB available of 8.0 GiB");
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "2147483648\n");
  EXPECT_EQ(check_memory(files_).found, "6.0 GiB available of 8.0 GiB, cgroup limit 2.0 GiB");
}

TEST_F(DoctorChecks, ReportsGpusAndMissingDrivers) {
  EXPECT_EQ(check_gpu(files_).found, "none: trials train on the CPU");
  write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  write("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  EXPECT_EQ(check_gpu(files_).status, DiagnosisStatus::warn);
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: H100\n");
  EXPECT_EQ(check_gpu(files_).found, "1 NVIDIA GPU");
}

TEST_F(DoctorChecks, ReportsAmdGpus) {
  write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
  write("sys/bus/pci/devices/0000:03:00.0/class", "0x120000\n");
  EXPECT_EQ(check_gpu(files_).found, "AMD GPU found, but its driver is not loaded");
  write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4242\n");
  write("dev/kfd", "");
  EXPECT_EQ(check_gpu(files_).found, "1 AMD GPU");
  EXPECT_EQ(check_gpu(files_).status, DiagnosisStatus::ok);
}

TEST_F(DoctorChecks, WarnsOfACgroupQuotaBelowTheCpus) {
  write("sys/devices/system/cpu/online", "0-7\n");
  EXPECT_EQ(check_cpus(files_, {0, 1, 2, 3}).status, DiagnosisStatus::ok);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(check_cpus(files_, {0, 1, 2, 3}).status, DiagnosisStatus::ok);
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  const Diagnosis limited = check_cpus(files_, {0, 1, 2, 3});
  EXPECT_EQ(limited.status, DiagnosisStatus::warn);
  EXPECT_EQ(limited.found, "4 usable (online 0-7), cgroup quota of 1.5 CPUs");
}

TEST_F(DoctorChecks, WarnsOfSlowClocks) {
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  EXPECT_EQ(check_clock_source(files_).status, DiagnosisStatus::ok);
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  EXPECT_EQ(check_clock_source(files_).status, DiagnosisStatus::warn);
}

TEST_F(DoctorChecks, FindsTheDiskOfAFolderThatDoesNotExistYet) {
  const Diagnosis check = check_disk(files_.root / "not" / "yet" / "history.db");
  EXPECT_TRUE(check.found.ends_with(" free at " + files_.root.string())) << check.found;
}

TEST_F(DoctorChecks, FailsIfTheHistoryIsOnANetworkFileSystem) {
  EXPECT_EQ(check_file_system({FileSystemTrust::local, ""}).status, DiagnosisStatus::ok);
  EXPECT_EQ(check_file_system({FileSystemTrust::doubtful, "9p"}).status, DiagnosisStatus::warn);
  const Diagnosis network = check_file_system({FileSystemTrust::network, "NFS"});
  EXPECT_EQ(network.status, DiagnosisStatus::fail);
  EXPECT_NE(network.found.find("NFS"), std::string::npos);
}

TEST_F(DoctorChecks, FailsIfTheHistoryCannotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const std::filesystem::path folder = files_.root / "sealed";
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(
      folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Diagnosis check = check_disk(folder / "history.db");
  EXPECT_EQ(check.status, DiagnosisStatus::fail);
  EXPECT_NE(check.found.find("cannot be written"), std::string::npos) << check.found;
}

}  // namespace
}  // namespace steptune

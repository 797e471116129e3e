// SPDX-License-Identifier: Apache-2.0
#include "common/machine/gpus.hpp"

#include <gtest/gtest.h>

#include "tests/unit/common/fake_machine.hpp"

namespace steptune {
namespace {

void add_pci_device(const FakeMachine& machine, const std::string& address,
                    const std::string& vendor, const std::string& kind) {
  machine.write("sys/bus/pci/devices/" + address + "/vendor", vendor + "\n");
  machine.write("sys/bus/pci/devices/" + address + "/class", kind + "\n");
}

TEST(Gpus, AMachineWithoutGpusHasNone) {
  const FakeMachine machine;
  EXPECT_EQ(count_gpus(machine.files()).count, 0);
  EXPECT_EQ(count_gpus(machine.files()).vendor, GpuVendor::none);
  EXPECT_EQ(find_gpu_without_driver(machine.files()), GpuVendor::none);
}

TEST(Gpus, NvidiaGpusComeFromTheDriversList) {
  const FakeMachine machine;
  machine.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "");
  machine.write("proc/driver/nvidia/gpus/0000:02:00.0/information", "");
  EXPECT_EQ(count_gpus(machine.files()).vendor, GpuVendor::nvidia);
  EXPECT_EQ(count_gpus(machine.files()).count, 2) << "device files are made at the first use";
}

TEST(Gpus, DeviceFilesCountIfAContainerHidesTheList) {
  const FakeMachine machine;
  for (const char* name : {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    machine.write(std::string("dev/") + name, "");
  }
  EXPECT_EQ(count_gpus(machine.files()).count, 2);
}

TEST(Gpus, AContainerMayHaveFewerGpusThanListed) {
  const FakeMachine machine;
  for (const char* address : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0"}) {
    machine.write(std::string("proc/driver/nvidia/gpus/") + address + "/information", "");
  }
  machine.write("dev/nvidia2", "");
  EXPECT_EQ(count_gpus(machine.files()).count, 1);
}

TEST(Gpus, AmdGpusAreComputeNodesWithAGpu) {
  const FakeMachine machine;
  machine.write("sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
  machine.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51110\n");
  machine.write("sys/class/kfd/kfd/topology/nodes/2/gpu_id", "4098\n");
  machine.write("sys/class/kfd/kfd/topology/nodes/3/name", "hidden");
  EXPECT_EQ(count_gpus(machine.files()).count, 0) << "a container without /dev/kfd";
  machine.write("dev/kfd", "");
  EXPECT_EQ(count_gpus(machine.files()).vendor, GpuVendor::amd);
  EXPECT_EQ(count_gpus(machine.files()).count, 2);
}

TEST(Gpus, AmdGpusAreNotCountedBesideNvidiaGpus) {
  const FakeMachine machine;
  machine.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51110\n");
  machine.write("dev/kfd", "");
  machine.write("dev/nvidia0", "");
  EXPECT_EQ(count_gpus(machine.files()).vendor, GpuVendor::nvidia);
  EXPECT_EQ(count_gpus(machine.files()).count, 1);
}

TEST(Gpus, FindsAGpuThatNoDriverServes) {
  const FakeMachine machine;
  add_pci_device(machine, "0000:00:02.0", "0x8086", "0x030000");
  // The sound device of an HDMI port.
  add_pci_device(machine, "0000:00:1f.0", "0x10de", "0x040300");
  EXPECT_EQ(find_gpu_without_driver(machine.files()), GpuVendor::none);
  add_pci_device(machine, "0000:01:00.0", "0x1002", "0x120000");
  EXPECT_EQ(find_gpu_without_driver(machine.files()), GpuVendor::amd);
  machine.write("sys/bus/pci/devices/0000:01:00.0/driver/bind", "");
  EXPECT_EQ(find_gpu_without_driver(machine.files()), GpuVendor::none);
  add_pci_device(machine, "0000:02:00.0", "0x10de", "0x030200");
  // Another driver, such as nouveau.
  machine.write("sys/bus/pci/devices/0000:02:00.0/driver/bind", "");
  EXPECT_EQ(find_gpu_without_driver(machine.files()), GpuVendor::nvidia);
}

}  // namespace
}  // namespace steptune

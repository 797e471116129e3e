// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AdviceTest : public testing::Test {
 protected:
  AdviceTest() {
    types_.instances = {{"ml.p4d.24xlarge", {37.688, 96, 1152.0, 8}},
                        {"ml.g5.xlarge", {1.408, 4, 16.0, 1}},
                        {"ml.c5.4xlarge", {0.816, 16, 32.0, 0}},
                        {"ml.c5.9xlarge", {1.836, 36, 72.0, 0}},
                        {"ml.c5.18xlarge", {3.672, 72, 144.0, 0}}};
  }

  MachineUtilisation machine(const std::string& type, double cpu, std::optional<double> gpu = {}) {
    MachineUtilisation machine;
    machine.instance_type = type;
    machine.size = types_.instances.at(type);
    machine.cpu = machine.cpu_most = cpu;
    machine.gpu = machine.gpu_most = gpu;
    return machine;
  }

  static JobUtilisation job(std::vector<MachineUtilisation> machines) {
    JobUtilisation utilisation;
    utilisation.job.training_until_wall_s = 600.0;
    if (machines.size() == 1) {
      utilisation.job.resources.instance_type = machines[0].instance_type;
      utilisation.job.resources.instance_count = machines[0].count;
    } else {
      for (const MachineUtilisation& each : machines)
        utilisation.job.resources.groups.push_back({"g", each.instance_type, each.count});
    }
    utilisation.machines = std::move(machines);
    return utilisation;
  }

  [[nodiscard]] std::vector<Advice> advice(const JobUtilisation& utilisation) const {
    return advise(utilisation, types_);
  }

  PriceTable types_;
};

TEST_F(AdviceTest, SaturatedCpusAndIdleGpusAdviseACluster) {
  // One p4d took 192 ms per step; with two c5.18xlarge it took 86 ms, so its GPUs were busy for 45
  // %.
  const auto lines = advice(job({machine("ml.p4d.24xlarge", 1.0, 86.0 / 192.0)}));
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0].text,
              HasSubstr("the CPUs are saturated (100 %) and the GPUs underused (45 %)"));
  EXPECT_THAT(lines[0].text,
              HasSubstr("8 GPUs need about 214 vCPUs (27 each), the machines have 96"));
  EXPECT_THAT(lines[0].text, HasSubstr("1 ml.p4d.24xlarge + 2 ml.c5.18xlarge"));
}

TEST_F(AdviceTest, ABalancedMachineGetsNoAdvice) {
  EXPECT_THAT(advice(job({machine("ml.g5.xlarge", 0.95, 0.9)})), IsEmpty());
  EXPECT_THAT(advice(job({machine("ml.g5.xlarge", 0.5, 0.4)})), IsEmpty())
      << "waits for something else";
  EXPECT_THAT(advice(job({machine("ml.c5.9xlarge", 0.95)})), IsEmpty());
  EXPECT_THAT(advice(job({machine("ml.g5.xlarge", 0.1, 0.95)})), IsEmpty())
      << "a busy GPU is no idle machine";
}

TEST_F(AdviceTest, CoresOfAllMachinesOfAClusterCount) {
  const auto helped = job({machine("ml.p4d.24xlarge", 0.95, 0.5), machine("ml.c5.18xlarge", 0.4)});
  EXPECT_THAT(advice(helped), IsEmpty()) << "the helpers have cores to spare";
  const auto starved =
      job({machine("ml.p4d.24xlarge", 0.95, 0.5), machine("ml.c5.18xlarge", 0.95)});
  ASSERT_THAT(advice(starved), SizeIs(1));
  EXPECT_THAT(advice(starved)[0].text, HasSubstr("the machines have 168"));
}

TEST_F(AdviceTest, UnusedGpusAndIdleMachinesAreReported) {
  const auto unused = advice(job({machine("ml.g5.xlarge", 0.95, 0.01)}));
  ASSERT_THAT(unused, SizeIs(1));
  EXPECT_THAT(unused[0].text, HasSubstr("the GPUs are idle"));
  const auto idle = advice(job({machine("ml.c5.18xlarge", 0.2)}));
  ASSERT_THAT(idle, SizeIs(1));
  EXPECT_THAT(idle[0].text, HasSubstr("at most 20 % of CPU used: a smaller type"));
  const auto gpu = advice(job({machine("ml.g5.xlarge", 0.2, 0.25)}));
  ASSERT_THAT(gpu, SizeIs(1));
  EXPECT_THAT(gpu[0].text, HasSubstr("20 % of CPU and 25 % of GPU"));
}

TEST_F(AdviceTest, AMachineThatWasBusyForAMomentIsNotIdle) {
  MachineUtilisation busy_once = machine("ml.c5.18xlarge", 0.1);
  busy_once.cpu_most = 0.9;
  EXPECT_THAT(advice(job({busy_once})), IsEmpty());
}

TEST_F(AdviceTest, MemoryAndDiskNearTheirLimitsAreReported) {
  MachineUtilisation full = machine("ml.c5.9xlarge", 0.8);
  full.memory_most = 0.94;
  full.disk_most = 0.97;
  const auto lines = advice(job({full}));
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0].text, HasSubstr("memory was 94 % full"));
  EXPECT_THAT(lines[1].text, HasSubstr("disk was 97 % full"));
  full.memory_most = full.disk_most = 0.89;
  EXPECT_THAT(advice(job({full})), IsEmpty());
}

TEST_F(AdviceTest, ALongDownloadAdvisesAnotherInputMode) {
  JobUtilisation slow = job({machine("ml.c5.9xlarge", 0.8)});
  slow.job.downloading_s = 601.0;
  slow.job.input_mode = "File";
  ASSERT_THAT(advice(slow), SizeIs(1));
  EXPECT_THAT(advice(slow)[0].text, HasSubstr("FastFile"));
  slow.job.downloading_s = 599.0;
  EXPECT_THAT(advice(slow), IsEmpty());
  slow.job.training_until_wall_s = 10.0;
  slow.job.downloading_s = 20.0;
  EXPECT_THAT(advice(slow), IsEmpty()) << "20 s are not worth a change";
}

TEST_F(AdviceTest, MissingFiguresGiveNoAdvice) {
  MachineUtilisation unknown;
  unknown.instance_type = "ml.new.large";
  EXPECT_THAT(advice(job({unknown})), IsEmpty());
  EXPECT_THAT(advice(job({machine("ml.g5.xlarge", 0.95)})), IsEmpty())
      << "its GPU use was not reported";
  EXPECT_THAT(advice(job({machine("ml.p4d.24xlarge", 0.95, 0.3), unknown})), IsEmpty());
}

}  // namespace
}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
//
// Tests the parts of the local runner that need no process.
#include <cmath>
#include <csignal>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/machine/cpus.hpp"
#include "common/machine/gpus.hpp"
#include "tests/unit/common/fake_machine.hpp"
#include "trial_runner/local/cpu_set.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/local/ending.hpp"
#include "trial_runner/local/oom_kill_counters.hpp"
#include "trial_runner/local/placement.hpp"
#include "trial_runner/local/pressure_watch.hpp"
#include "trial_runner/local/trial_pauses.hpp"
#include "trial_runner/output/lines.hpp"

namespace steptune::local {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

/// Returns an exit status as waitpid packs it.
constexpr int exit_status(int code) {
  return code << 8;
}
constexpr int signal_status(int signal) {
  return signal;
}

struct EndingCase {
  const char* name;
  Outcome ended;
  OutcomeKind kind;
  int exit_code;
};

constexpr auto k_nowhere = OomKillPlace::nowhere;
constexpr auto k_elsewhere = OomKillPlace::elsewhere;
constexpr auto k_here = OomKillPlace::here;

class EndingTable : public testing::TestWithParam<EndingCase> {};

TEST_P(EndingTable, EveryCell) {
  const Outcome& ended = GetParam().ended;
  EXPECT_EQ(ended.kind, GetParam().kind) << ended.detail;
  EXPECT_EQ(ended.exit_code, GetParam().exit_code);
  EXPECT_EQ(ended.detail.empty(),
            ended.kind == OutcomeKind::completed || ended.kind == OutcomeKind::stopped);
}

INSTANTIATE_TEST_SUITE_P(
    Local, EndingTable,
    testing::Values(
        EndingCase{"zero", own_ending(0, k_nowhere, false, false), OutcomeKind::completed, 0},
        EndingCase{"zero_but_output_tells_of_memory", own_ending(0, k_nowhere, true, false),
                   OutcomeKind::completed, 0},
        EndingCase{"zero_while_something_was_killed", own_ending(0, k_here, false, false),
                   OutcomeKind::completed, 0},
        EndingCase{"status", own_ending(exit_status(1), k_nowhere, false, false),
                   OutcomeKind::failed, 1},
        EndingCase{"own_signal", own_ending(signal_status(SIGSEGV), k_nowhere, false, false),
                   OutcomeKind::failed, 128 + SIGSEGV},
        EndingCase{"killed_by_someone", own_ending(signal_status(SIGKILL), k_nowhere, true, false),
                   OutcomeKind::failed, 128 + SIGKILL},
        EndingCase{"killed_by_the_kernel", own_ending(signal_status(SIGKILL), k_here, false, false),
                   OutcomeKind::out_of_memory, 128 + SIGKILL},
        EndingCase{"worker_killed_by_the_kernel", own_ending(exit_status(1), k_here, false, false),
                   OutcomeKind::out_of_memory, 1},
        EndingCase{"failed_while_the_kernel_killed_elsewhere",
                   own_ending(exit_status(1), k_elsewhere, false, false), OutcomeKind::failed, 1},
        EndingCase{"killed_while_the_kernel_killed_elsewhere",
                   own_ending(signal_status(SIGKILL), k_elsewhere, false, false),
                   OutcomeKind::out_of_memory, 128 + SIGKILL},
        EndingCase{"killed_inside_a_wrapper", own_ending(exit_status(137), k_nowhere, false, false),
                   OutcomeKind::out_of_memory, 137},
        EndingCase{"output_tells_of_memory", own_ending(exit_status(1), k_nowhere, true, false),
                   OutcomeKind::out_of_memory, 1},
        EndingCase{"aborts_and_output_tells_of_memory",
                   own_ending(signal_status(SIGABRT), k_nowhere, true, false),
                   OutcomeKind::out_of_memory, 128 + SIGABRT},
        EndingCase{"aborts_and_output_tells_of_waiting_ranks",
                   own_ending(signal_status(SIGABRT), k_nowhere, false, true), OutcomeKind::hung,
                   128 + SIGABRT},
        EndingCase{"output_tells_of_memory_and_of_waiting_ranks",
                   own_ending(exit_status(1), k_nowhere, true, true), OutcomeKind::out_of_memory,
                   1},
        EndingCase{"zero_but_output_tells_of_waiting_ranks", own_ending(0, k_nowhere, false, true),
                   OutcomeKind::completed, 0},
        EndingCase{"stopped", forced_ending(OutcomeKind::stopped, signal_status(SIGTERM), {}),
                   OutcomeKind::stopped, 128 + SIGTERM},
        EndingCase{"stopped_in_order", forced_ending(OutcomeKind::stopped, 0, {}),
                   OutcomeKind::stopped, 0},
        EndingCase{"stopped_with_an_error", forced_ending(OutcomeKind::stopped, exit_status(1), {}),
                   OutcomeKind::stopped, 1},
        EndingCase{"wall", forced_ending(OutcomeKind::timed_out, signal_status(SIGKILL), {}),
                   OutcomeKind::timed_out, 128 + SIGKILL},
        EndingCase{"wall_in_order", forced_ending(OutcomeKind::timed_out, 0, {}),
                   OutcomeKind::timed_out, 0},
        EndingCase{"idle", forced_ending(OutcomeKind::hung, signal_status(SIGTERM), {}),
                   OutcomeKind::hung, 128 + SIGTERM},
        EndingCase{"memory", forced_ending(OutcomeKind::out_of_memory, signal_status(SIGKILL), {}),
                   OutcomeKind::out_of_memory, 128 + SIGKILL}),
    [](const auto& cell) { return std::string(cell.param.name); });

TEST(OutputTail, LastLinesArePrintableAndInOrder) {
  OutputTail tail;
  EXPECT_THAT(tail.last_lines(3), IsEmpty());
  tail.feed("one\ntwo\r 50%\r100%\n\n  \n\033[1mthree\033[0m\nfour");
  EXPECT_THAT(tail.last_lines(3), ElementsAre("100%", "three", "four"));
  EXPECT_THAT(tail.last_lines(100), ElementsAre("one", "100%", "three", "four"))
      << "of a rewritten line, the last version";
  tail.feed("\r\nfive\r\n");
  EXPECT_THAT(tail.last_lines(2), ElementsAre("four", "five")) << "Windows line ends";
}

TEST(OutputTail, DropsOutputBeforeProgressOfAllProcesses) {
  OutputTail tail;
  tail.feed("one\n");
  EXPECT_EQ(tail.since_progress(), "one\n");
  tail.mark_progress(0, 1.0);
  tail.feed("two\n");
  EXPECT_EQ(tail.since_progress(), "one\ntwo\n") << "\"one\" may have come after the report";
  tail.mark_progress(0, 2.0);
  tail.feed("three\n");
  EXPECT_EQ(tail.since_progress(), "two\nthree\n");
  tail.mark_progress(1, 3.0);
  tail.mark_progress(1, 4.0);
  tail.mark_progress(0, 5.0);
  tail.mark_progress(0, 6.0);
  tail.feed("four\n");
  EXPECT_EQ(tail.since_progress(), "four\n");
  for (int i = 0; i < 2; ++i) {
    tail.mark_progress(0, 100.0 + i);
    tail.feed("five\n");
  }
  EXPECT_EQ(tail.since_progress(), "four\nfive\nfive\n") << "process 1 made no further progress";
}

TrialResources resources(std::vector<int> cpus, std::vector<std::string> gpus = {}) {
  const int count = static_cast<int>(cpus.size());
  return {std::move(cpus), count, std::move(gpus)};
}

TEST(Placement, SharesAreEqualAndDisjoint) {
  LocalRunnerOptions options;
  options.parallel = 2;
  const auto slots = divide_into_slots(resources({0, 4, 1, 5, 2}, {"0", "1", "2", "3"}), options);
  ASSERT_TRUE(slots);
  ASSERT_EQ(slots->size(), 2U);
  EXPECT_THAT((*slots)[0].cpus, ElementsAre(0, 4));
  EXPECT_THAT((*slots)[1].cpus, ElementsAre(1, 5));
  EXPECT_EQ((*slots)[1].cpu_count, 2);
  EXPECT_THAT(*(*slots)[0].gpus, ElementsAre("0", "1"));
  EXPECT_THAT(*(*slots)[1].gpus, ElementsAre("2", "3"));
}

TEST(Placement, ASingleTrialSeesEveryGpuByDefault) {
  LocalRunnerOptions options;
  const TrialResources two_gpus = resources({0, 1}, {"0", "GPU-8f6"});
  EXPECT_FALSE(divide_into_slots(two_gpus, options)->at(0).gpus.has_value());
  options.gpus_per_trial = 1;
  EXPECT_THAT(*divide_into_slots(two_gpus, options)->at(0).gpus, ElementsAre("0"));
  options.gpus_per_trial = 0;
  EXPECT_THAT(*divide_into_slots(two_gpus, options)->at(0).gpus, IsEmpty());
  options.gpus_per_trial = 3;
  const auto too_many = divide_into_slots(two_gpus, options);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().kind, ErrorKind::usage);
  EXPECT_THAT(too_many.error().text(), HasSubstr("gpus_per_trial"));
}

TEST(Placement, AQuotaBelowTheCpusSetsTheShares) {
  TrialResources limited = resources({0, 1, 2, 3, 4, 5, 6, 7});
  limited.usable_cpus = 4;
  LocalRunnerOptions options;
  options.parallel = 2;
  const auto slots = divide_into_slots(limited, options);
  ASSERT_TRUE(slots);
  EXPECT_EQ(slots->at(0).cpu_count, 2);
}

TEST(Placement, ContainersWithQuotasStartAtDifferentCpus) {
  const std::vector<int> cpus{0, 4, 1, 5, 2, 6, 3};
  std::set<int> firsts;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "pod-" + std::to_string(i) + "\n0::/\n";
    const std::vector<int> own = rotated_for_container(cpus, 2, name);
    EXPECT_EQ(own, rotated_for_container(cpus, 2, name));
    EXPECT_THAT(own, UnorderedElementsAreArray(cpus));
    firsts.insert(own.front());
    EXPECT_EQ(rotated_for_container(cpus, 7, name), cpus)
        << "without a quota no other container shares these CPUs";
    EXPECT_EQ(rotated_for_container(cpus, 4, name), cpus)
        << "seven CPUs have no second place for four";
  }
  EXPECT_THAT(firsts, UnorderedElementsAre(0, 1, 2))
      << "every second CPU, so that cores are not divided";
}

TEST(Placement, WithoutPinningThereMayBeMoreTrialsThanCpus) {
  LocalRunnerOptions options;
  options.parallel = 3;
  EXPECT_FALSE(divide_into_slots(resources({0, 1}), options));
  options.pin = false;
  const auto slots = divide_into_slots(resources({0, 1}), options);
  ASSERT_TRUE(slots);
  EXPECT_THAT(slots->at(2).cpus, IsEmpty());
  EXPECT_EQ(slots->at(2).cpu_count, 1);
  options.parallel = 0;
  EXPECT_FALSE(divide_into_slots(resources({0, 1}), options));
}

TEST(Placement, GpusAreDividedUnlessThereAreTooFew) {
  LocalRunnerOptions options;
  options.parallel = 2;
  const TrialResources two_gpus = resources({0, 1}, {"0", "1"});
  EXPECT_THAT(*divide_into_slots(two_gpus, options)->at(1).gpus, ElementsAre("1"));
  options.gpus_per_trial = 1;
  EXPECT_THAT(*divide_into_slots(two_gpus, options)->at(1).gpus, ElementsAre("1"));
  options.gpus_per_trial.reset();
  EXPECT_FALSE(divide_into_slots(resources({0, 1}, {"0"}), options)->at(0).gpus)
      << "one GPU is not divided: both trials see it";
}

TEST(Placement, TooManyCpusAreReportedInNumbers) {
  LocalRunnerOptions options;
  options.parallel = 2;
  options.cpus_per_trial = 3;
  EXPECT_THAT(divide_into_slots(resources({0, 1, 2, 3}), options).error().text(),
              HasSubstr("2 trials at a time with 3 cpus each need 6 cpus, but this process may use "
                        "4"));
}

/// Returns a trial whose study sets these variables.
TrialSpec spec_that_sets(const Environment& variables) {
  TrialSpec spec;
  spec.environment = variables;
  return spec;
}

TEST(Placement, OpenMpsThreadsApplyToOtherLibraries) {
  const Environment given{{"OMP_NUM_THREADS", "3"}};
  Environment environment = given;
  const auto placement = apply_slot(Slot{{}, 8, std::nullopt}, spec_that_sets(given), environment);
  EXPECT_EQ(environment.at("OPENBLAS_NUM_THREADS"), "3");
  EXPECT_EQ(placement.at("cpu_count"), "8");
  EXPECT_FALSE(placement.contains("cpus")) << "the trial is not bound to CPUs";
  EXPECT_FALSE(placement.contains("gpus"));
  EXPECT_FALSE(placement.contains("CUDA_VISIBLE_DEVICES"));
}

TEST(Placement, AStudysOrderOfGpusIsKept) {
  const Environment given{{"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}};
  Environment environment = given;
  const Slot slot{{}, 4, std::vector<std::string>{"1"}};
  const TrialSpec spec = spec_that_sets(given);
  EXPECT_EQ(apply_slot(slot, spec, environment).at("CUDA_DEVICE_ORDER"), "FASTEST_FIRST");
  Environment without_gpus = given;
  EXPECT_FALSE(
      apply_slot(Slot{{}, 4, std::nullopt}, spec, without_gpus).contains("CUDA_DEVICE_ORDER"));
}

TEST(Placement, TheEnvironmentDescribesThePlace) {
  Slot slot{{2, 3}, 2, std::vector<std::string>{"1"}};
  Environment environment{{"OMP_NUM_THREADS", "16"}};
  const auto placement = apply_slot(slot, {}, environment);
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "2") << "the tuner's own variable must not decide";
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(environment.at("HIP_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(placement.at("cpus"), "2-3");
  EXPECT_EQ(placement.at("gpus"), "1");
  EXPECT_EQ(placement.at("CUDA_DEVICE_ORDER"), "PCI_BUS_ID")
      << "the order in which the GPU watch counts";
  EXPECT_EQ(placement.at("OMP_NUM_THREADS"), "2");
}

TEST(Placement, VariablesOfTheStudyAreKept) {
  Slot slot{{}, 4, std::vector<std::string>{"1"}};
  const Environment given{{"CUDA_VISIBLE_DEVICES", "0"}, {"MKL_NUM_THREADS", "3"}};
  Environment environment = given;
  const auto placement = apply_slot(slot, spec_that_sets(given), environment);
  EXPECT_EQ(environment.at("CUDA_VISIBLE_DEVICES"), "0");
  EXPECT_FALSE(environment.contains("CUDA_DEVICE_ORDER"))
      << "the user's 0 refers to the order that was set";
  EXPECT_EQ(environment.at("MKL_NUM_THREADS"), "3");
  EXPECT_EQ(placement.at("MKL_NUM_THREADS"), "3");
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "4");
}

TEST(Placement, ThreadCountsCanBeLeftAlone) {
  TrialSpec spec;
  spec.set_thread_counts = false;
  Environment environment{{"OMP_NUM_THREADS", "16"}};
  const auto placement = apply_slot(Slot{{}, 4, std::nullopt}, spec, environment);
  EXPECT_EQ(environment.size(), 1U);
  EXPECT_EQ(placement.at("OMP_NUM_THREADS"), "16");
}

TEST(Placement, VisibleGpusComeFromTheEnvironment) {
  const auto restricted = read_trial_resources({}, {{"CUDA_VISIBLE_DEVICES", "2,GPU-ab,5"}});
  ASSERT_TRUE(restricted);
  EXPECT_THAT(restricted->gpus, ElementsAre("2", "GPU-ab", "5"));
  EXPECT_THAT(read_trial_resources({}, {{"CUDA_VISIBLE_DEVICES", ""}})->gpus, IsEmpty());
  EXPECT_THAT(read_trial_resources({}, {{"CUDA_VISIBLE_DEVICES", "-1"}})->gpus, IsEmpty());
  EXPECT_THAT(read_trial_resources({}, {{"CUDA_VISIBLE_DEVICES", "1,-1,0"}})->gpus,
              ElementsAre("1"));
  EXPECT_THAT(read_trial_resources({}, {{"CUDA_VISIBLE_DEVICES", ",1,,2,"}})->gpus,
              ElementsAre("1", "2"));
  EXPECT_THAT(read_trial_resources({}, {{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}})->gpus, IsEmpty());
  EXPECT_THAT(visible_gpus({}, {{"CUDA_VISIBLE_DEVICES", "0, 1"}}), ElementsAre("0", "1"));
  EXPECT_THAT(visible_gpus({}, {{"CUDA_VISIBLE_DEVICES", "MIG-1,all,0"}}), ElementsAre("MIG-1"));
  EXPECT_FALSE(restricted->cpus.empty());
  EXPECT_LE(restricted->usable_cpus, static_cast<int>(restricted->cpus.size()));
}

TEST(Placement, ResourcesComeFromTheMachine) {
  const FakeMachine machine;
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  machine.write("dev/kfd", "");
  machine.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51110\n");
  machine.write("sys/class/kfd/kfd/topology/nodes/2/gpu_id", "51111\n");
  const auto all = read_trial_resources(machine.files(), {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->usable_cpus, 1) << "a quota of 1.5 CPUs serves one thread";
  EXPECT_THAT(all->gpus, ElementsAre("0", "1"));
  EXPECT_THAT(read_trial_resources(machine.files(), {{"HIP_VISIBLE_DEVICES", "1"}})->gpus,
              ElementsAre("1"));
}

TEST(CpuSet, FormatsAsTheKernelDoes) {
  EXPECT_EQ(format_cpus({}), "");
  EXPECT_EQ(format_cpus({3}), "3");
  EXPECT_EQ(format_cpus({8, 1, 0, 2, 5}), "0-2,5,8");
  EXPECT_THAT(parse_cpus("0-2,5,8"), ElementsAre(0, 1, 2, 5, 8));
  for (const char* malformed : {"", "a", "1-", "1,", ",1", "-1", "1--2", "1 2", "99999999"})
    EXPECT_THAT(parse_cpus(malformed), IsEmpty()) << malformed;
}

TEST(CpuSet, AScopeBindsAndRestores) {
  const auto before = allowed_cpus();
  ASSERT_TRUE(before);
  {
    const AffinityScope scope({before->front()});
    EXPECT_EQ(scope.error(), 0);
    EXPECT_THAT(*allowed_cpus(), ElementsAre(before->front()));
  }
  EXPECT_EQ(*allowed_cpus(), *before);
  const AffinityScope impossible({8000});
  EXPECT_NE(impossible.error(), 0);
}

TEST(CpuTime, SharesOfWhatTheCpusHad) {
  const CpuTime before{100.0, 50.0, 1.0};
  const CpuTime after{110.0, 56.0, 2.0};
  const auto disturbance = disturbance_between(before, after, 4.0);
  ASSERT_TRUE(disturbance);
  EXPECT_NEAR(disturbance->other_load, 0.2, 1e-12);
  EXPECT_NEAR(disturbance->steal, 0.1, 1e-12);
  EXPECT_EQ(disturbance_between(before, after, 8.0)->other_load, 0.0)
      << "the trial's 8 s exceed the 6 busy ones, since ticks are coarse";
  EXPECT_FALSE(disturbance_between(before, {100.05, 50.01, 1.0}, 0.0)) << "too short to tell";
  EXPECT_TRUE(read_cpu_time({}));
}

TEST(CpuTime, CountsTheBoundCpus) {
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string_view text =
      "cpu  300 10 20 700 30 4 6 50 0 0\n"
      "cpu0 100 0 0 100 0 0 0 0 0 0\n"
      "cpu1 200 10 20 500 20 4 6 40 0 0\n"
      "cpu10 0 0 0 100 10 0 0 10 0 0\n"
      "intr 1 2 3\n";
  const std::vector<int> two{1, 10};
  const auto of_two = cpu_time_of(text, two);
  ASSERT_TRUE(of_two);
  EXPECT_NEAR(of_two->total_s, 920 * tick_s, 1e-9);
  EXPECT_NEAR(of_two->busy_s, 240 * tick_s, 1e-9);
  EXPECT_NEAR(of_two->steal_s, 50 * tick_s, 1e-9);
  const std::vector<int> unknown{1, 2};
  for (const auto& machine : {cpu_time_of(text, {}), cpu_time_of(text, unknown)}) {
    ASSERT_TRUE(machine);
    EXPECT_NEAR(machine->total_s, 1120 * tick_s, 1e-9);
  }
  EXPECT_FALSE(cpu_time_of("intr 1 2 3\n", two));
  EXPECT_FALSE(cpu_time_of("", {}));
}

TEST(CpuUse, CountsAllProcessesSinceTheFirstLook) {
  ProcessStat main;
  main.cpu_s = 1.5;
  ProcessStat worker;
  worker.cpu_s = 0.5;
  EXPECT_DOUBLE_EQ(own_cpu_seconds({{main, worker}}, 0.25), 2.25) << "an orphan's, too";

  CpuUse use;
  EXPECT_FALSE(use.busy_share(4)) << "no sample yet";
  use.sample(10.0, 30.0);
  use.sample(10.5, 31.0);
  EXPECT_FALSE(use.busy_share(4)) << "too soon to tell";
  use.sample(12.0, 36.0);
  EXPECT_DOUBLE_EQ(use.busy_share(4).value_or(0.0), 0.75) << "6 s of 8";
  EXPECT_DOUBLE_EQ(use.busy_share(2).value_or(0.0), 1.0) << "no more than there is";
  use.sample(13.0, 20.0);
  use.sample(15.0, 21.0);
  EXPECT_DOUBLE_EQ(use.busy_share(1).value_or(0.0), 0.5)
      << "a process vanished, so the count began again";
}

TEST(DisturbanceWatch, ReportsTheCpuTimeOfOtherPrograms) {
  // Four CPUs; the trial uses one of them, and other processes use two in the second second.
  DisturbanceWatch watch(10.0, CpuTime{100.0, 40.0, 0.0});
  EXPECT_FALSE(watch.is_due(10.5)) << "too soon to tell";
  EXPECT_TRUE(watch.is_due(11.0));
  const auto quiet = watch.sample(11.0, CpuTime{104.0, 41.0, 0.0}, 1.0).disturbance;
  ASSERT_TRUE(quiet);
  EXPECT_EQ(quiet->other_load, 0.0);
  EXPECT_FALSE(watch.is_due(11.5));
  const auto span = watch.sample(12.0, CpuTime{108.0, 44.0, 0.0}, 2.0);
  EXPECT_EQ(span.from_s, 11.0);
  ASSERT_TRUE(span.disturbance);
  EXPECT_NEAR(span.disturbance->other_load, 0.5, 1e-12);
}

/// True if the span disturbed the trial.
bool disturbs(const DisturbanceWatch::Span& span) {
  return span.disturbance && is_disturbing(*span.disturbance);
}

TEST(DisturbanceWatch, AMachineThatStoodStillDisturbs) {
  DisturbanceWatch watch(0.0, CpuTime{0.0, 0.0, 0.0});
  EXPECT_FALSE(disturbs(watch.sample(1.0, CpuTime{4.0, 1.0, 0.0}, 1.0)));
  const auto asleep = watch.sample(601.0, CpuTime{8.0, 2.0, 0.0}, 2.0);
  ASSERT_TRUE(asleep.disturbance) << "ten minutes that no CPU has counted";
  EXPECT_EQ(asleep.from_s, 1.0);
  EXPECT_GT(asleep.disturbance->steal, 0.99);
  EXPECT_FALSE(disturbs(watch.sample(661.0, CpuTime{248.0, 62.0, 0.0}, 62.0)))
      << "the tuner alone was stopped";
  EXPECT_FALSE(disturbs(watch.sample(662.0, CpuTime{248.0, 62.0, 0.0}, 62.0)))
      << "a kernel that counts nothing";
}

TEST(DisturbanceWatch, AMachineOfManyCpusThatStoodStillDisturbs) {
  DisturbanceWatch watch(0.0, CpuTime{0.0, 0.0, 0.0, 16});
  EXPECT_FALSE(disturbs(watch.sample(1.0, CpuTime{16.0, 1.0, 0.0, 16}, 1.0)));
  const auto paused = watch.sample(22.0, CpuTime{32.0, 2.0, 0.0, 16}, 2.0);
  ASSERT_TRUE(paused.disturbance);
  EXPECT_NEAR(paused.disturbance->steal, 20.0 / 21.0, 1e-9);
}

TEST(DisturbanceWatch, AVanishedProcessMakesLoadUnknown) {
  DisturbanceWatch watch(0.0, CpuTime{0.0, 0.0, 0.0});
  EXPECT_TRUE(watch.sample(1.0, CpuTime{4.0, 4.0, 0.0}, 4.0).disturbance);
  EXPECT_FALSE(watch.sample(2.0, CpuTime{8.0, 8.0, 0.0}, 1.0).disturbance)
      << "the CPU time of an ended process is missing from the trial's";
}

TEST(DisturbanceWatch, LoadIsUnknownWhileTheMachineStoodStill) {
  DisturbanceWatch watch(0.0, CpuTime{0.0, 0.0, 0.0});
  EXPECT_TRUE(watch.sample(1.0, CpuTime{4.0, 4.0, 0.0}, 4.0).disturbance);
  const auto asleep = watch.sample(601.0, CpuTime{8.0, 8.0, 0.0}, 1.0);
  ASSERT_TRUE(asleep.disturbance) << "a process vanished, too";
  EXPECT_GT(asleep.disturbance->steal, 0.99);
  EXPECT_TRUE(std::isnan(asleep.disturbance->other_load));
}

TEST(PressureWatch, ReadsWhatTheKernelCounts) {
  const FakeMachine machine;
  EXPECT_FALSE(read_pressure(machine.files()).memory_wait_s) << "an old kernel";
  machine.write("proc/pressure/memory",
                "some avg10=1.00 avg60=0.00 avg300=0.00 total=2500000\nfull total=1\n");
  machine.write("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=750000\n");
  machine.write("proc/self/cgroup", "0::/job\n");
  machine.write("sys/fs/cgroup/job/cpu.stat", "usage_usec 3750000\nthrottled_usec 1250000\n");
  const std::string cpus = "sys/devices/system/cpu/";
  machine.write(cpus + "cpu0/thermal_throttle/core_throttle_count", "3\n");
  machine.write(cpus + "cpu0/thermal_throttle/package_throttle_count", "4\n");
  machine.write(cpus + "cpu1/thermal_throttle/core_throttle_count", "0\n");
  const PressureCounters read = read_pressure(machine.files());
  EXPECT_EQ(read.memory_wait_s, 2.5);
  EXPECT_EQ(read.storage_wait_s, 0.75);
  ASSERT_TRUE(read.quota);
  EXPECT_EQ(read.quota->waited_s, 1.25);
  EXPECT_EQ(PressureWatch(0.0, {{}, {}, QuotaTimes{}, {}}).sample(0.5, read).quota, 0.25)
      << "four threads share two and a half CPUs";
  EXPECT_EQ(read.throttles, 7.0);
  machine.write("proc/self/cgroup", "4:cpu,cpuacct:/job\n");
  machine.write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 5\nthrottled_time 500000000\n");
  machine.write("sys/fs/cgroup/cpu/job/cpuacct.usage", "2000000000\n");
  const auto version_1 = read_pressure(machine.files()).quota;
  ASSERT_TRUE(version_1);
  EXPECT_EQ(version_1->waited_s, 0.5) << "version 1 counts nanoseconds";
  EXPECT_EQ(version_1->ran_s, 2.0);
}

TEST(PressureWatch, MalformedFilesGiveNoFigures) {
  const FakeMachine machine;
  for (const char* text :
       {"", "full avg10=0.00 total=5\n", "some avg10=0.00\n", "some avg10=0.00 total=much\n"}) {
    machine.write("proc/pressure/memory", text);
    EXPECT_FALSE(read_pressure(machine.files()).memory_wait_s) << text;
  }
  const PressureCounters read = read_pressure(machine.files());
  EXPECT_FALSE(read.quota);
  EXPECT_FALSE(read.throttles);
}

TEST(PressureWatch, TheFirstCountGivesNoFigure) {
  PressureWatch watch(10.0, {});
  const auto unknown = watch.sample(11.0, {0.9, 0.9, QuotaTimes{0.9, 2.0}, 50.0});
  EXPECT_FALSE(unknown.memory || unknown.storage || unknown.quota || unknown.clocks_throttled);
  const auto known = watch.sample(12.0, {1.0, 0.9, QuotaTimes{1.3, 2.6}, 51.0});
  EXPECT_THAT(known.memory, Optional(DoubleNear(0.1, 1e-12)));
  EXPECT_EQ(known.storage, 0.0);
  EXPECT_THAT(known.quota, Optional(DoubleNear(0.4, 1e-12)));
  EXPECT_TRUE(known.clocks_throttled);
  const auto long_wait = watch.sample(13.0, {9.0, 9.0, QuotaTimes{1.3, 2.6}, 51.0});
  EXPECT_EQ(long_wait.memory, 1.0) << "no more than all of the time";
  EXPECT_FALSE(long_wait.clocks_throttled) << "the clocks are free again";
  EXPECT_FALSE(watch.sample(14.0, {}).storage) << "without counters there are no figures";
}

TEST(DisturbanceWatch, StolenTimeDisturbs) {
  DisturbanceWatch watch(0.0, CpuTime{0.0, 0.0, 0.0});
  const auto span = watch.sample(1.0, CpuTime{4.0, 0.0, 0.4}, 0.0);
  ASSERT_TRUE(span.disturbance);
  EXPECT_NEAR(span.disturbance->steal, 0.1, 1e-12);
  EXPECT_TRUE(disturbs(span));
  EXPECT_FALSE(DisturbanceWatch(0.0, std::nullopt).sample(1.0, std::nullopt, 0.0).disturbance)
      << "nothing is known";
}

TEST(OomKillCounts, OnlyGrowthCounts) {
  EXPECT_EQ(oom_kills_between({1, 2, 3}, {1, 2, 3}), k_nowhere);
  EXPECT_EQ(oom_kills_between({1, 2, 3}, {2, 2, 4}), k_here);
  EXPECT_EQ(oom_kills_between({1, 2, 3}, {1, 3, 4}), k_here);
  EXPECT_EQ(oom_kills_between({1, std::nullopt, 3}, {1, std::nullopt, 4}), k_elsewhere)
      << "a kill in the trial's group would have been counted there";
  EXPECT_EQ(oom_kills_between({std::nullopt, std::nullopt, 3}, {std::nullopt, std::nullopt, 4}),
            k_here)
      << "no group counts";
  EXPECT_EQ(oom_kills_between({std::nullopt, 2, std::nullopt}, {5, 2, std::nullopt}), k_nowhere);
  EXPECT_EQ(oom_kills_between({7, 2, 3}, {std::nullopt, 2, 3}), k_nowhere)
      << "a group that is gone";
  EXPECT_EQ(oom_kills_between({7, 2, 3}, {6, 2, 3}), k_nowhere);
  const FakeMachine machine;
  EXPECT_EQ(OomKillCounters(machine.files()).read(), OomKills{});
  machine.write("proc/self/cgroup", "9:memory:/a\n0::/a/b\n");
  machine.write("proc/vmstat", "nr_free_pages 9\noom_kill 5\n");
  machine.write("sys/fs/cgroup/a/memory.events", "oom 3\noom_kill 2\n");
  machine.write("sys/fs/cgroup/memory/memory.oom_control", "under_oom 0\noom_kill 1\n");
  EXPECT_EQ(OomKillCounters(machine.files()).read(), (OomKills{2, 1, 5}));
  machine.write("proc/vmstat", "oom_kill many\n");
  EXPECT_EQ(OomKillCounters(machine.files()).read()[2], std::nullopt);
  const OomKills now = OomKillCounters().read();
  EXPECT_TRUE(now[0] || now[1] || now[2]) << "this kernel counts no kills";
}

TEST(TrialPauses, ClocksAndPhasesStop) {
  TrialPauses pauses;
  EXPECT_DOUBLE_EQ(pauses.trial_time_s(5.0), 5.0);
  pauses.begin(10.0);
  EXPECT_DOUBLE_EQ(pauses.trial_time_s(11.0), 10.0);
  EXPECT_DOUBLE_EQ(pauses.end(12.0), 2.0);
  pauses.begin(13.0);
  EXPECT_DOUBLE_EQ(pauses.trial_time_s(17.0), 11.0);
  pauses.end(17.0);
  EXPECT_DOUBLE_EQ(pauses.paused_s(), 6.0);

  Report report;
  report.received_s = pauses.trial_time_s(20.0);
  report.clock_s = 120.0;
  // An evaluation from 11 to 20, with five seconds of pauses in it.
  report.phase = PhaseReport{"eval", 9.0};
  report = pauses.without_pauses(report);
  EXPECT_DOUBLE_EQ(*report.clock_s, 114.0);
  EXPECT_DOUBLE_EQ(*report.phase->seconds, 4.0);
  report.phase->by_receipt = true;
  EXPECT_DOUBLE_EQ(*pauses.without_pauses(report).phase->seconds, 4.0) << "in the trial's time";
}

TEST(TrialPauses, AClockReadBeforeAPauseDoesNotGoBack) {
  TrialPauses pauses;
  const auto clock_at = [&](double clock_s) {
    Report report;
    report.clock_s = clock_s;
    return *pauses.without_pauses(report).clock_s;
  };
  EXPECT_DOUBLE_EQ(clock_at(9.9), 9.9);
  pauses.begin(10.0);
  pauses.end(12.0);
  EXPECT_DOUBLE_EQ(clock_at(10.0), 9.9) << "printed after the pause";
  EXPECT_DOUBLE_EQ(clock_at(12.5), 10.5);
  EXPECT_DOUBLE_EQ(clock_at(8.0), 6.0) << "the program's own clock went back";
}

/// Without pauses, `data` takes a quarter of the program's time. The pause falls into `data`.
TEST(TrialPauses, PartsKeepTheirSharesWithoutThePauses) {
  TrialPauses pauses;
  const auto parts_at = [&](double now_s, double data_s, double forward_s) {
    Report report;
    report.received_s = pauses.trial_time_s(now_s);
    report.parts = {{"data", data_s}, {"forward", forward_s}};
    return pauses.without_pauses(report).parts;
  };
  EXPECT_THAT(parts_at(1.0, 0.25, 0.75), IsEmpty()) << "nothing is known about the first second";
  EXPECT_THAT(parts_at(2.0, 0.5, 1.5),
              UnorderedElementsAre(Pair("data", DoubleEq(0.25)), Pair("forward", DoubleEq(0.75))));
  pauses.begin(2.5);
  pauses.end(5.0);
  const PartSeconds after = parts_at(5.5, 3.25, 2.25);
  EXPECT_THAT(after,
              UnorderedElementsAre(Pair("data", DoubleEq(0.5)), Pair("forward", DoubleEq(1.5))));
}

TEST(TrialPauses, OutputDuringSeveralPausesShowsThatTheyFail) {
  TrialPauses pauses;
  pauses.on_output();
  for (int pause = 0; pause < 3; ++pause) {
    EXPECT_FALSE(pauses.are_ineffective());
    pauses.begin(pause);
    pauses.on_output();
    pauses.on_output();
    pauses.end(pause + 0.5);
  }
  EXPECT_TRUE(pauses.are_ineffective());
}

}  // namespace
}  // namespace steptune::local

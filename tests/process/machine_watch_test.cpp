// SPDX-License-Identifier: Apache-2.0
//
// Tests the watch on the machine during a trial.
#include "trial_runner/local/machine_watch.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/unit/common/fake_machine.hpp"
#include "trial_runner/local/cpu_clock_watch.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/machine_second.hpp"
#include "trial_runner/run_watch.hpp"

namespace steptune::local {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr double k_ever_s = std::numeric_limits<double>::infinity();

void write_clock(const FakeMachine& machine, int cpu, const std::string& file, double ghz) {
  machine.write(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/{}", cpu, file),
                fmt::format("{:.0f}\n", ghz * 1e6));
}

/// Returns /proc/stat of CPUs with these busy seconds since boot, each idle for 1000 s.
std::string proc_stat(const std::vector<double>& busy_s) {
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::string text = "cpu  1 0 0 1 0 0 0 0 0 0\n";
  for (std::size_t cpu = 0; cpu < busy_s.size(); ++cpu) {
    text += fmt::format("cpu{} {:.0f} 0 0 {:.0f} 0 0 0 0 0 0\n", cpu, busy_s[cpu] * ticks,
                        1000.0 * ticks);
  }
  return text + "intr 1 2 3\n";
}

/// Returns a second for each clock frequency, from 0 on.
std::vector<MachineSecond> clock_seconds(const std::vector<double>& ghz) {
  std::vector<MachineSecond> seconds;
  for (const double clock : ghz) {
    const auto at_s = static_cast<double>(seconds.size());
    seconds.push_back({.from_s = at_s, .to_s = at_s + 1.0, .cpu_clock_hz = clock * 1e9});
  }
  return seconds;
}

TEST(CpuTime, EachCpuHasTheTimeOfItsLine) {
  const std::string text = proc_stat({100.0, 200.0, 300.0});
  const std::vector<int> two{0, 2};
  const auto times = times_of_cpus(text, two);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[1].cpu, 2);
  EXPECT_DOUBLE_EQ(times[1].time.busy_s, 300.0);
  EXPECT_EQ(times_of_cpus(text, {}).size(), 3U) << "all of them";
  const std::vector<int> unknown{0, 7};
  EXPECT_THAT(times_of_cpus(text, unknown), IsEmpty()) << "a container counts by itself";
  EXPECT_THAT(times_of_cpus("", {}), IsEmpty());
  EXPECT_THAT(times_of_cpus("cpu  1 2\ncpux 1\n", {}), IsEmpty());
}

TEST(CpuClocks, AreReadFromTheKernel) {
  const FakeMachine machine;
  const std::vector<int> cpus{0, 1};
  EXPECT_FALSE(CpuClocks(machine.files(), 0).are_known()) << "a virtual machine";
  write_clock(machine, 0, "cpuinfo_cur_freq", 1.5);
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus), ElementsAre(Optional(1.5e9), std::nullopt));
  write_clock(machine, 0, "scaling_cur_freq", 2.5);
  write_clock(machine, 1, "scaling_cur_freq", 3.0);
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus), ElementsAre(Optional(2.5e9), Optional(3e9)))
      << "scaling_cur_freq is read without a query to the hardware";
  write_clock(machine, 0, "cpuinfo_avg_freq", 2.75);
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus),
              ElementsAre(Optional(2.75e9), std::nullopt));
  machine.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_avg_freq", "<unsupported>\n");
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus),
              ElementsAre(Optional(2.5e9), Optional(3e9)));
}

TEST(CpuClocks, CpuinfoIsUsedOnlyIfTheCpuCountsItsCycles) {
  const FakeMachine machine;
  const std::string cpus =
      "processor\t: 0\nmodel name\t: A: fast one\ncpu MHz\t\t: 2445.404\nflags\t\t: fpu {}\n\n"
      "processor\t: 1\ncpu MHz\t\t: 3100.000\nflags\t\t: fpu {}\n";
  const std::vector<int> both{1, 0};
  machine.write("proc/cpuinfo", fmt::format(fmt::runtime(cpus), "tsc", "tsc"));
  EXPECT_FALSE(CpuClocks(machine.files(), 0).are_known()) << "a constant, whatever the clock is";
  machine.write("proc/cpuinfo", fmt::format(fmt::runtime(cpus), "aperfmperf", "aperfmperf"));
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(both),
              ElementsAre(Optional(3.1e9), Optional(2.445404e9)));
}

TEST(CpuClockWatch, CountsCpusByHowBusyTheyWere) {
  const FakeMachine machine;
  write_clock(machine, 0, "scaling_cur_freq", 3.0);
  write_clock(machine, 1, "scaling_cur_freq", 2.0);
  write_clock(machine, 2, "scaling_cur_freq", 0.8);
  write_clock(machine, 3, "scaling_cur_freq", 5.0);
  const std::vector<int> cpus{0, 1, 2};
  CpuClockWatch watch(cpus, machine.files());
  EXPECT_FALSE(watch.sample(100.0, proc_stat({10.0, 10.0, 10.0, 10.0})));
  // The third CPU waits and has lowered its clock; the fourth is not the trial's.
  const auto both = watch.sample(101.0, proc_stat({10.9, 10.6, 10.2, 11.0}));
  ASSERT_TRUE(both);
  EXPECT_NEAR(*both, (0.9 * 3e9 + 0.6 * 2e9) / 1.5, 1.0);
  EXPECT_FALSE(watch.sample(102.0, proc_stat({11.0, 10.7, 10.4, 11.0}))) << "all of them waited";
  write_clock(machine, 0, "scaling_cur_freq", 1.5);
  const auto first = watch.sample(103.0, proc_stat({12.0, 10.8, 10.5, 11.0}));
  ASSERT_TRUE(first);
  EXPECT_NEAR(*first, 1.5e9, 1.0);
}

TEST(CpuClockWatch, SeesNothingWithoutClocks) {
  const FakeMachine machine;
  write_clock(machine, 0, "scaling_cur_freq", 3.0);
  CpuClockWatch without_times({}, machine.files());
  const FakeMachine other;
  CpuClockWatch virtual_machine({}, other.files());
  for (const double now_s : {0.0, 1.0, 2.0}) {
    EXPECT_FALSE(without_times.sample(now_s, ""));
    EXPECT_FALSE(virtual_machine.sample(now_s, proc_stat({now_s})));
  }
  // A CPU was switched off, and another one took its line.
  CpuClockWatch switched({}, machine.files());
  EXPECT_FALSE(switched.sample(0.0, "cpu  0\ncpu1 100 0 0 0 0 0 0 0\n"));
  EXPECT_FALSE(switched.sample(1.0, "cpu  0\ncpu0 900 0 0 0 0 0 0 0\n"));
}

/// A machine of one CPU whose counters since boot the test sets.
class MachineWatchTest : public testing::Test {
 protected:
  /// Takes a sample of the machine. Since boot, the trial used `own_s` of the CPU's time and other
  /// processes used `others_s`.
  std::optional<MachineWatch::Sample> sample(double now_s, double own_s, double others_s,
                                             double storage_wait_s) {
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const double busy_s = own_s + others_s;
    const std::string times =
        fmt::format("{:.0f} 0 0 {:.0f} 0 0 0 0 0 0\n", busy_s * ticks, (now_s - busy_s) * ticks);
    machine_.write("proc/stat", "cpu  " + times + "cpu0 " + times + "intr 1\n");
    machine_.write("proc/pressure/io", fmt::format("some avg10=0 avg60=0 avg300=0 total={:.0f}\n",
                                                   storage_wait_s * 1e6));
    if (!watch_) {
      watch_.emplace(now_s, cpu_time_of(*machine_.files().text("proc/stat"), {}),
                     std::vector<int>(), machine_.files());
    }
    return watch_->sample(now_s, own_s, gpus_);
  }

  FakeMachine machine_;
  GpuWatch gpus_{nullptr, {}, 0.0};
  std::optional<MachineWatch> watch_;
};

TEST_F(MachineWatchTest, RecordsEachSecondAndItsDisturbance) {
  write_clock(machine_, 0, "scaling_cur_freq", 3.0);
  EXPECT_FALSE(sample(100.0, 0.0, 0.0, 0.0)) << "no time has passed";
  EXPECT_FALSE(sample(100.5, 0.5, 0.0, 0.0)) << "too soon to tell";
  const auto waits = sample(101.0, 0.9, 0.05, 0.25);
  ASSERT_TRUE(waits);
  EXPECT_FALSE(waits->disturbance) << "waiting may be the trial's own doing";
  EXPECT_DOUBLE_EQ(waits->second.from_s, 0.0) << "since the trial's start";
  EXPECT_DOUBLE_EQ(waits->second.to_s, 1.0);
  EXPECT_NEAR(waits->second.other_load, 0.05, 0.02);
  EXPECT_NEAR(waits->second.storage_pressure, 0.25, 1e-6);
  EXPECT_TRUE(std::isnan(waits->second.memory_pressure)) << "the kernel does not report it";
  EXPECT_TRUE(std::isnan(waits->second.gpu_clock_hz));

  const auto disturbed = sample(102.0, 1.5, 0.45, 0.25);
  ASSERT_TRUE(disturbed && disturbed->disturbance);
  EXPECT_NEAR(disturbed->disturbance->other_load, 0.4, 0.02);
  EXPECT_EQ(disturbed->disturbance->storage_pressure, 0.0);
  EXPECT_DOUBLE_EQ(disturbed->second.from_s, 1.0);
  EXPECT_NEAR(disturbed->second.other_load, 0.4, 0.02);
  EXPECT_EQ(disturbed->second.storage_pressure, 0.0);
  EXPECT_NEAR(disturbed->second.cpu_clock_hz, 3e9, 1.0);

  const auto idle = sample(103.0, 1.6, 0.45, 0.25);
  ASSERT_TRUE(idle);
  EXPECT_FALSE(idle->disturbance);
  EXPECT_TRUE(std::isnan(idle->second.cpu_clock_hz)) << "a waiting CPU may have lowered its clock";
}

TEST_F(MachineWatchTest, ADisturbanceOfUnknownLoadDoesNotClaimThatThereIsNone) {
  const std::string throttles = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
  machine_.write(throttles, "3\n");
  MachineWatch watch(100.0, std::nullopt, {}, machine_.files());
  machine_.write(throttles, "4\n");
  const auto seen = watch.sample(101.0, 0.5, gpus_);
  ASSERT_TRUE(seen && seen->disturbance);
  EXPECT_TRUE(seen->disturbance->clocks_throttled);
  EXPECT_TRUE(std::isnan(seen->disturbance->other_load)) << "there is no proc/stat";
  EXPECT_TRUE(std::isnan(seen->disturbance->steal));
}

TEST(RunWatch, LooksAtThisMachineWhileAProcessRuns) {
  const double started_s = 100.0;
  RunWatch watch(::getpid(), started_s);
  EXPECT_FALSE(watch.sample(started_s + 0.5)) << "too soon to tell";
  const auto first = watch.sample(started_s + 1.0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->from_s, 0.0);
  EXPECT_EQ(first->to_s, 1.0);
  EXPECT_FALSE(watch.sample(started_s + 1.5));
  const auto second = watch.sample(started_s + 2.0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from_s, 1.0);
  EXPECT_TRUE(RunWatch(::getpid() + (1 << 22), 0.0).sample(1.0))
      << "also of a process that is gone";
}

TEST(MachineSecond, ClocksAreTheMeanOverATimeAndItsSlowestSecond) {
  const auto seconds = clock_seconds({3.0, 3.0, 2.0, 4.0});
  const auto clock = cpu_clock_between(seconds, 0.5, 3.0);
  ASSERT_TRUE(clock);
  EXPECT_NEAR(clock->mean_hz, (0.5 * 3e9 + 3e9 + 2e9) / 2.5, 1.0);
  EXPECT_DOUBLE_EQ(clock->lowest_hz, 2e9);
  EXPECT_FALSE(cpu_clock_between(seconds, 4.0, k_ever_s));
  EXPECT_FALSE(cpu_clock_between({}, 0.0, k_ever_s));
  std::vector<MachineSecond> partly = seconds;
  partly[3].cpu_clock_hz = MachineSecond::k_unknown;
  EXPECT_FALSE(cpu_clock_between(partly, 3.0, k_ever_s));
  EXPECT_TRUE(cpu_clock_between(partly, 2.0, k_ever_s));
}

TEST(MachineSecond, SecondsOfALongTrialAreJoined) {
  std::vector<double> ghz(1201, 3.0);
  ghz[1] = 1.0;
  auto seconds = clock_seconds(ghz);
  seconds[3].other_load = 0.25;
  const auto kept = thinned(seconds, 500);
  ASSERT_EQ(kept.size(), 401U) << "three seconds each";
  EXPECT_NEAR(kept[0].cpu_clock_hz, 7e9 / 3.0, 1.0);
  EXPECT_DOUBLE_EQ(kept[0].to_s, 3.0);
  EXPECT_TRUE(std::isnan(kept[0].other_load));
  EXPECT_DOUBLE_EQ(kept[1].other_load, 0.25) << "the mean of the seconds with a value";
  EXPECT_DOUBLE_EQ(kept.back().to_s, 1201.0);
  EXPECT_EQ(thinned(clock_seconds({1.0, 2.0}), 2).size(), 2U);
}

std::optional<MachineFigureChange> change_between(const std::vector<MachineSecond>& seconds,
                                                  double from_s, double at_s, double to_s,
                                                  double ratio) {
  return explaining_change(within(seconds, from_s, at_s), within(seconds, at_s, to_s), ratio);
}

TEST(MachineSecond, AClockThatFellExplainsStepsThatBecameSlower) {
  const auto seconds = clock_seconds({3.4, 3.38, 3.42, 3.4, 2.1, 2.12, 2.08, 2.1});
  const auto fell = change_between(seconds, 0.0, 4.0, 8.0, 1.6);
  ASSERT_TRUE(fell);
  EXPECT_EQ(fell->figure, "cpu_clock_hz");
  EXPECT_NEAR(fell->before, 3.4e9, 1e6);
  EXPECT_NEAR(fell->after, 2.1e9, 1e6);
  EXPECT_TRUE(change_between(seconds, 0.0, 4.0, 8.0, 1.1))
      << "the clock fell by more than the steps slowed down";
  EXPECT_TRUE(change_between(seconds, 0.0, 4.5, 8.0, 1.6)) << "one second has both levels";
  EXPECT_FALSE(change_between(seconds, 0.0, 4.0, 8.0, 3.0))
      << "explains less than half of the slowdown";
  EXPECT_FALSE(change_between(seconds, 0.0, 4.0, 8.0, 0.6)) << "the other way round";
  EXPECT_FALSE(change_between(seconds, 0.0, 4.0, 6.0, 1.6)) << "too few seconds to tell";
  EXPECT_FALSE(change_between(seconds, 0.0, 2.0, 4.0, 1.0)) << "no change";
  EXPECT_FALSE(change_between({}, 0.0, 4.0, 8.0, 1.6)) << "nothing is known";
  const auto rose =
      change_between(clock_seconds({2.0, 2.0, 2.0, 3.0, 3.0, 3.0}), 0.0, 3.0, 6.0, 1.0 / 1.5);
  ASSERT_TRUE(rose);
  EXPECT_GT(rose->after, rose->before);
}

TEST(MachineSecond, AClockThatVariesAnywayExplainsNothing) {
  const auto seconds = clock_seconds({3.0, 2.0, 3.4, 2.4, 2.0, 3.2, 1.8, 2.6});
  EXPECT_FALSE(change_between(seconds, 0.0, 4.0, 8.0, 1.15));
}

TEST(MachineSecond, GrownPressureExplainsSlowerSteps) {
  std::vector<MachineSecond> seconds = clock_seconds(std::vector<double>(8, 3.0));
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    seconds[i].storage_pressure = i < 4 ? 0.02 : 0.4;
    seconds[i].other_load = i < 4 ? 0.02 : 0.05;
    seconds[i].gpu_utilisation = i < 4 ? 0.9 : 0.5;
  }
  const auto waits = change_between(seconds, 0.0, 4.0, 8.0, 1.5);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->figure, "storage_pressure") << "utilisation follows the steps, others grew less";
  EXPECT_NEAR(waits->before, 0.02, 1e-9);
  EXPECT_NEAR(waits->after, 0.4, 1e-9);
  EXPECT_FALSE(change_between(seconds, 0.0, 4.0, 8.0, 3.0))
      << "if 40 % of the time is taken, steps take at most 1.7 times as long";
  EXPECT_FALSE(change_between(seconds, 0.0, 4.0, 8.0, 0.7));
  for (MachineSecond& second : seconds)
    second.storage_pressure = second.from_s < 4.0 ? 0.0 : 1.0;
  EXPECT_TRUE(change_between(seconds, 0.0, 4.0, 8.0, 30.0)) << "all of it";
}

}  // namespace
}  // namespace steptune::local

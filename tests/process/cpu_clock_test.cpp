// SPDX-License-Identifier: Apache-2.0
//
// How high the clocks of a trial's CPUs were.
#include "trial_runner/cpu_clock.hpp"

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

/// /proc/stat of CPUs that computed for so many seconds since boot, and waited for 1000.
std::string proc_stat(const std::vector<double>& busy_s) {
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::string text = "cpu  1 0 0 1 0 0 0 0 0 0\n";
  for (std::size_t cpu = 0; cpu < busy_s.size(); ++cpu) {
    text += fmt::format("cpu{} {:.0f} 0 0 {:.0f} 0 0 0 0 0 0\n", cpu, busy_s[cpu] * ticks,
                        1000.0 * ticks);
  }
  return text + "intr 1 2 3\n";
}

/// A second each, from 0 on.
std::vector<CpuClockSpan> clock_seconds(const std::vector<double>& ghz) {
  std::vector<CpuClockSpan> spans;
  for (const double clock : ghz) {
    const auto at_s = static_cast<double>(spans.size());
    spans.push_back({at_s, at_s + 1.0, clock * 1e9});
  }
  return spans;
}

TEST(CpuTime, OfEachCpuIsThatOfItsLine) {
  const std::string text = proc_stat({100.0, 200.0, 300.0});
  const std::vector<int> two{0, 2};
  const auto times = cpu_busy_times_of(text, two);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[1].cpu, 2);
  EXPECT_DOUBLE_EQ(times[1].busy_s, 300.0);
  EXPECT_EQ(cpu_busy_times_of(text, {}).size(), 3U) << "all of them";
  const std::vector<int> unknown{0, 7};
  EXPECT_THAT(cpu_busy_times_of(text, unknown), IsEmpty()) << "a container counts by itself";
  EXPECT_THAT(cpu_busy_times_of("", {}), IsEmpty());
  EXPECT_THAT(cpu_busy_times_of("cpu  1 2\ncpux 1\n", {}), IsEmpty());
}

TEST(CpuClocks, AreReadWhereTheKernelTellsThem) {
  const FakeMachine machine;
  const std::vector<int> cpus{0, 1};
  EXPECT_FALSE(CpuClocks(machine.files(), 0).are_told()) << "a virtual machine";
  write_clock(machine, 0, "cpuinfo_cur_freq", 1.5);
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus), ElementsAre(Optional(1.5e9), std::nullopt));
  write_clock(machine, 0, "scaling_cur_freq", 2.5);
  write_clock(machine, 1, "scaling_cur_freq", 3.0);
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus), ElementsAre(Optional(2.5e9), Optional(3e9)))
      << "what the governor set last is less than what hardware needs to be asked for";
  write_clock(machine, 0, "cpuinfo_avg_freq", 2.75);
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus),
              ElementsAre(Optional(2.75e9), std::nullopt));
  machine.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_avg_freq", "<unsupported>\n");
  EXPECT_THAT(CpuClocks(machine.files(), 0).read(cpus),
              ElementsAre(Optional(2.5e9), Optional(3e9)));
}

TEST(CpuClocks, OfCpuinfoCountOnlyWhereTheCpuCountsItsCycles) {
  const FakeMachine machine;
  const std::string cpus =
      "processor\t: 0\nmodel name\t: A: fast one\ncpu MHz\t\t: 2445.404\nflags\t\t: fpu {}\n\n"
      "processor\t: 1\ncpu MHz\t\t: 3100.000\nflags\t\t: fpu {}\n";
  const std::vector<int> both{1, 0};
  machine.write("proc/cpuinfo", fmt::format(fmt::runtime(cpus), "tsc", "tsc"));
  EXPECT_FALSE(CpuClocks(machine.files(), 0).are_told()) << "a constant, whatever the clock is";
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
  CpuClockWatch watch(100.0, cpus, machine.files());
  watch.look(100.0, proc_stat({10.0, 10.0, 10.0, 10.0}));
  watch.look(100.5, proc_stat({10.5, 10.5, 10.5, 10.5}));
  EXPECT_THAT(watch.spans(), IsEmpty()) << "too soon to tell";
  // The third waits and has lowered its clock; the fourth is not the trial's.
  watch.look(101.0, proc_stat({10.9, 10.6, 10.2, 11.0}));
  ASSERT_EQ(watch.spans().size(), 1U);
  EXPECT_DOUBLE_EQ(watch.spans()[0].from_s, 0.0) << "since the trial's start";
  EXPECT_DOUBLE_EQ(watch.spans()[0].to_s, 1.0);
  EXPECT_NEAR(watch.spans()[0].clock_hz, (0.9 * 3e9 + 0.6 * 2e9) / 1.5, 1.0);
  watch.look(102.0, proc_stat({11.0, 10.7, 10.4, 11.0}));
  EXPECT_EQ(watch.spans().size(), 1U) << "all of them waited";
  write_clock(machine, 0, "scaling_cur_freq", 1.5);
  watch.look(103.0, proc_stat({12.0, 10.8, 10.5, 11.0}));
  ASSERT_EQ(watch.spans().size(), 2U);
  EXPECT_DOUBLE_EQ(watch.spans()[1].from_s, 2.0);
  EXPECT_NEAR(watch.spans()[1].clock_hz, 1.5e9, 1.0);
}

TEST(CpuClockWatch, SeesNothingWhereNothingIsTold) {
  const FakeMachine machine;
  write_clock(machine, 0, "scaling_cur_freq", 3.0);
  CpuClockWatch without_times(0.0, {}, machine.files());
  const FakeMachine other;
  CpuClockWatch virtual_machine(0.0, {}, other.files());
  for (const double now_s : {0.0, 1.0, 2.0}) {
    without_times.look(now_s, "");
    virtual_machine.look(now_s, proc_stat({now_s}));
  }
  EXPECT_THAT(without_times.spans(), IsEmpty());
  EXPECT_THAT(virtual_machine.spans(), IsEmpty());
  // A CPU was switched off, and another took its line.
  CpuClockWatch switched(0.0, {}, machine.files());
  switched.look(0.0, "cpu  0\ncpu1 100 0 0 0 0 0 0 0\n");
  switched.look(1.0, "cpu  0\ncpu0 900 0 0 0 0 0 0 0\n");
  EXPECT_THAT(switched.spans(), IsEmpty());
}

TEST(CpuClock, IsTheMeanOverATimeAndItsSlowestSecond) {
  const auto spans = clock_seconds({3.0, 3.0, 2.0, 4.0});
  const auto clock = cpu_clock_between(spans, 0.5, 3.0);
  ASSERT_TRUE(clock);
  EXPECT_NEAR(clock->mean_hz, (0.5 * 3e9 + 3e9 + 2e9) / 2.5, 1.0);
  EXPECT_DOUBLE_EQ(clock->lowest_hz, 2e9);
  EXPECT_FALSE(cpu_clock_between(spans, 4.0, k_ever_s));
  EXPECT_FALSE(cpu_clock_between({}, 0.0, k_ever_s));
}

TEST(CpuClock, SecondsOfALongTrialAreJoined) {
  std::vector<double> ghz(1201, 3.0);
  ghz[1] = 1.0;
  const auto spans = clock_seconds(ghz);
  const auto kept = thinned(spans, 500);
  ASSERT_EQ(kept.size(), 401U) << "three seconds each";
  EXPECT_NEAR(kept[0].clock_hz, 7e9 / 3.0, 1.0);
  EXPECT_DOUBLE_EQ(kept[0].to_s, 3.0);
  EXPECT_DOUBLE_EQ(kept.back().to_s, 1201.0);
  EXPECT_EQ(thinned(clock_seconds({1.0, 2.0}), 2).size(), 2U);
}

TEST(CpuClock, ThatFellExplainsStepsThatBecameSlower) {
  const auto spans = clock_seconds({3.4, 3.38, 3.42, 3.4, 2.1, 2.12, 2.08, 2.1});
  const auto fell = explaining_clock_change(spans, 0.0, 4.0, 8.0, 1.6);
  ASSERT_TRUE(fell);
  EXPECT_NEAR(fell->before_hz, 3.4e9, 1e6);
  EXPECT_NEAR(fell->after_hz, 2.1e9, 1e6);
  EXPECT_TRUE(explaining_clock_change(spans, 0.0, 4.0, 8.0, 1.1)) << "by more than it took";
  EXPECT_TRUE(explaining_clock_change(spans, 0.0, 4.5, 8.0, 1.6)) << "a second that holds both";
  EXPECT_FALSE(explaining_clock_change(spans, 0.0, 4.0, 8.0, 3.0)) << "less than half of it";
  EXPECT_FALSE(explaining_clock_change(spans, 0.0, 4.0, 8.0, 0.6)) << "the other way round";
  EXPECT_FALSE(explaining_clock_change(spans, 0.0, 4.0, 6.0, 1.6)) << "too few seconds to tell";
  EXPECT_FALSE(explaining_clock_change(spans, 0.0, 2.0, 4.0, 1.0)) << "no change";
  EXPECT_FALSE(explaining_clock_change({}, 0.0, 4.0, 8.0, 1.6)) << "nothing is known";
  const auto rose = explaining_clock_change(clock_seconds({2.0, 2.0, 2.0, 3.0, 3.0, 3.0}), 0.0, 3.0,
                                            6.0, 1.0 / 1.5);
  ASSERT_TRUE(rose);
  EXPECT_GT(rose->after_hz, rose->before_hz);
}

TEST(CpuClock, ThatVariesAnywayExplainsNothing) {
  const auto spans = clock_seconds({3.0, 2.0, 3.4, 2.4, 2.0, 3.2, 1.8, 2.6});
  EXPECT_FALSE(explaining_clock_change(spans, 0.0, 4.0, 8.0, 1.15));
}

}  // namespace
}  // namespace steptune::local

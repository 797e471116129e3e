// SPDX-License-Identifier: Apache-2.0
//
// Tests a program's threads, CPU use and waiting, seen from outside.
#include "trial_runner/local/activity_watch.hpp"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"

namespace steptune::local {
namespace {

using testing::DoubleNear;
using testing::Eq;
using testing::Optional;

constexpr pid_t k_main = 100;

double ticks_per_s() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

struct FakeThread {
  pid_t id = 0;
  double cpu_s = 0.0;
  char state = 'S';
  double cpu_wait_s = 0.0;
};

/// Fake /proc of a machine, written again for each sample.
class FakeProc {
 public:
  void write_process(pid_t pid, const std::string& program,
                     const std::vector<FakeThread>& threads) {
    const std::string folder = fmt::format("proc/{}", pid);
    for (const FakeThread& thread : threads) {
      const std::string of_thread = fmt::format("{}/task/{}", folder, thread.id);
      folder_.write(of_thread + "/stat",
                    fmt::format("{} (a) b) {} 1 1 0 0 0 0 0 0 0 0 {:.0f} 0 0 0 0 0 0 0 7 0 0",
                                thread.id, thread.state, thread.cpu_s * ticks_per_s()));
      folder_.write(of_thread + "/schedstat",
                    fmt::format("{:.0f} {:.0f} 1\n", thread.cpu_s * 1e9, thread.cpu_wait_s * 1e9));
    }
    const auto exe = folder_.path() / folder / "exe";
    std::filesystem::remove(exe);
    std::filesystem::create_symlink(program, exe);
  }
  /// Writes the counters of two CPUs, in seconds since boot.
  void write_machine(double busy_s, double idle_s, double iowait_s) {
    folder_.write("proc/stat", fmt::format("cpu  {:.0f} 0 0 {:.0f} {:.0f} 0 0 0\ncpu0 1\ncpu1 1\n",
                                           busy_s * ticks_per_s(), idle_s * ticks_per_s(),
                                           iowait_s * ticks_per_s()));
  }
  void write_storage_stall(double stalled_s) {
    folder_.write(
        "proc/pressure/io",
        fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={:.0f}\n", stalled_s * 1e6));
  }
  [[nodiscard]] SystemFiles files() const { return {folder_.path()}; }

 private:
  TemporaryFolder folder_{"proc"};
};

ProcessStat process(pid_t pid, pid_t parent, double own_cpu_s, double ended_children_cpu_s = 0.0) {
  ProcessStat stat;
  stat.id = {pid, 7};
  stat.parent = parent;
  stat.own_cpu_s = own_cpu_s;
  stat.cpu_s = own_cpu_s + ended_children_cpu_s;
  return stat;
}

TEST(ActivityWatch, SeesEightThreadsThatComputeOnTwoCpus) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 2, proc.files());
  for (const double at_s : {0.0, 1.0, 2.0}) {
    std::vector<FakeThread> threads;
    // Each of the eight threads gets a quarter of a CPU and waits three times as long for one.
    for (int i = 0; i < 8; ++i)
      threads.push_back({k_main + i, 0.25 * at_s, i < 6 ? 'R' : 'S', 0.75 * at_s});
    threads.push_back({k_main + 8, 0.001 * at_s, 'S', 0.0});  // a timer
    proc.write_process(k_main, "/usr/bin/trainer", threads);
    watch.sample(at_s, std::vector{process(k_main, 1, 2.0 * at_s)});
  }
  const auto seen = watch.activity();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->cpus, 2);
  EXPECT_EQ(seen->threads, 9);
  EXPECT_EQ(seen->trainer_threads, 9);
  EXPECT_EQ(seen->computing_threads, 8);
  EXPECT_EQ(seen->peak_runnable_threads, 6);
  EXPECT_DOUBLE_EQ(seen->runnable_threads_per_cpu(), 3.0);
  EXPECT_NEAR(seen->trainer_cpu_s, 4.0, 1e-6);
  EXPECT_THAT(seen->trainer_cpu_wait_s, Optional(DoubleNear(12.0, 1e-6)));
  EXPECT_EQ(seen->child_processes, 0);
}

TEST(ActivityWatch, DistinguishesTrainerShellAndWorkers) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 2, proc.files());
  constexpr pid_t k_trainer = 200;
  for (const double at_s : {0.0, 2.0}) {
    proc.write_process(k_main, "/bin/bash", {{k_main, 0.0}});
    proc.write_process(k_trainer, "/usr/bin/python3", {{k_trainer, 0.002 * at_s}});
    proc.write_process(201, "/usr/bin/python3", {{201, 0.1 * at_s}});
    proc.write_process(202, "/usr/bin/python3", {{202, 0.1 * at_s}});
    watch.sample(
        at_s,
        std::vector{process(k_main, 1, 0.0), process(k_trainer, k_main, 0.002 * at_s),
                    process(201, k_trainer, 0.1 * at_s), process(202, k_trainer, 0.1 * at_s)});
  }
  const auto seen = watch.activity();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->processes, 4);
  EXPECT_EQ(seen->child_processes, 2);
  EXPECT_NEAR(seen->trainer_cpu_s, 0.004, 1e-9);
  EXPECT_NEAR(seen->children_cpu_s, 0.4, 1e-9);
  EXPECT_NEAR(seen->cpu_share_per_child(), 0.1, 1e-9);
}

TEST(ActivityWatch, CountsTheTimeOfChildrenThatEnded) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 1, proc.files());
  proc.write_process(k_main, "/a", {{k_main, 1.0}});
  watch.sample(0.0, std::vector{process(k_main, 1, 1.0, 5.0)});
  watch.sample(2.0, std::vector{process(k_main, 1, 1.5, 8.0)});
  const auto seen = watch.activity();
  ASSERT_TRUE(seen);
  EXPECT_NEAR(seen->trainer_cpu_s, 0.5, 1e-9);
  EXPECT_NEAR(seen->children_cpu_s, 3.0, 1e-9);
}

TEST(ActivityWatch, SeesIdleCpusAndWaitingForStorage) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 2, proc.files());
  proc.write_process(k_main, "/a", {{k_main, 0.0}});
  const std::vector processes{process(k_main, 1, 0.0)};
  proc.write_machine(100.0, 300.0, 1.0);
  proc.write_storage_stall(10.0);
  watch.sample(0.0, processes);
  proc.write_machine(101.0, 301.0, 3.0);
  proc.write_storage_stall(11.5);
  watch.sample(2.0, processes);
  const auto seen = watch.activity();
  ASSERT_TRUE(seen);
  EXPECT_THAT(seen->idle_cpu_share, Optional(DoubleNear(0.75, 1e-6)));
  EXPECT_THAT(seen->storage_wait_s, Optional(DoubleNear(1.5, 1e-6)));
}

TEST(ActivityWatch, UsesIowaitIfTheKernelHasNoPressure) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 2, proc.files());
  const std::vector processes{process(k_main, 1, 0.0)};
  proc.write_machine(100.0, 300.0, 1.0);
  watch.sample(0.0, processes);
  proc.write_machine(101.0, 301.0, 3.0);
  watch.sample(2.0, processes);
  ASSERT_TRUE(watch.activity());
  EXPECT_THAT(watch.activity()->storage_wait_s, Optional(DoubleNear(2.0, 1e-6)));
}

TEST(ActivityWatch, ForgetsHowTheProgramStarted) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 1, proc.files());
  const auto sample = [&](double at_s, double cpu_s, const std::vector<FakeThread>& threads) {
    proc.write_process(k_main, "/a", threads);
    watch.sample(at_s, std::vector{process(k_main, 1, cpu_s)});
  };
  sample(0.0, 0.0, {{k_main, 0.0}, {101, 0.0}});
  sample(10.0, 10.0, {{k_main, 10.0}, {101, 0.0}});
  watch.forget_start(10.0);
  sample(11.0, 10.1, {{k_main, 10.1}, {101, 0.1}});
  ASSERT_TRUE(watch.activity());
  EXPECT_NEAR(watch.activity()->trainer_cpu_s, 0.1, 1e-9);
  sample(20.0, 10.2, {{k_main, 10.2}, {101, 0.2}});
  sample(21.0, 10.3, {{k_main, 10.3}, {101, 0.3}});
  ASSERT_TRUE(watch.activity());
  EXPECT_THAT(watch.activity()->span_s, Eq(10.0));
}

TEST(ActivityWatch, ReportsNothingAfterOneSample) {
  FakeProc proc;
  ActivityWatch watch(k_main, {}, 1, proc.files());
  watch.sample(0.0, std::vector{process(k_main, 1, 0.0)});
  EXPECT_FALSE(watch.activity());
}

TEST(ThreadsOfAProcess, AreReadFromTheRealKernel) {
  std::jthread other([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
    }
  });
  const auto threads = threads_of(SystemFiles{}, ::getpid());
  EXPECT_GE(threads.size(), 2U);
  EXPECT_TRUE(std::ranges::any_of(threads, &ThreadStat::is_runnable));
}

}  // namespace
}  // namespace steptune::local

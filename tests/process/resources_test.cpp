// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/process/local_runner_fixture.hpp"
#include "tests/support/sanitized.hpp"

namespace steptune::process_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double k_mib = 1024.0 * 1024.0;

using ResourcesTest = LocalRunnerTest;

bool lives_in_memory(const std::filesystem::path& path) {
  struct statfs system {};
  return ::statfs(path.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST_F(ResourcesTest, MemoryLimitEndsTheTrial) {
  TrialSpec spec = fake({"hog", "2000000000"});
  spec.limits.memory_bytes = 64 * k_mib;
  const TrialRun done = run(spec);
  EXPECT_EQ(done.outcome().kind, OutcomeKind::out_of_memory);
  EXPECT_THAT(done.outcome().detail, HasSubstr("memory limit of 64 MiB"));
  EXPECT_GT(done.outcome().peak_memory_bytes.value_or(0.0), 64 * k_mib);
}

TEST_F(ResourcesTest, PeakMemoryCountsTheTrialOnly) {
  const TrialSpec spec = fake({"hog", "100000000"});
  start(spec);
  wait_for_output(spec, "full");
  clock_.skip(2.0);  // the next memory sample is due
  ASSERT_TRUE(runner().wait(clock_.now_s() + 0.02));
  runner().kill_all();
  const double peak = wait_for_end().outcome().peak_memory_bytes.value_or(0.0);
  EXPECT_GT(peak, 100'000'000.0);
  EXPECT_LT(peak, 400'000'000.0);
}

TEST_F(ResourcesTest, SharedMemoryCountsOnce) {
  TrialSpec spec = fake({"share", "100000000", "6"});
  spec.limits.memory_bytes = 300 * k_mib;
  start(spec);
  wait_for_output(spec, "full");
  clock_.skip(5.0);
  for (int i = 0; i < 5; ++i) {
    const auto events = runner().wait(clock_.now_s() + 0.05);
    ASSERT_TRUE(events);
    EXPECT_TRUE(std::ranges::none_of(*events, [](const TrialEvent& event) {
      return std::holds_alternative<TrialFinished>(event);
    }));
    clock_.skip(2.0);
  }
  runner().kill_all();
  const double peak = wait_for_end().outcome().peak_memory_bytes.value_or(0.0);
  EXPECT_GT(peak, 100'000'000.0);
  EXPECT_LT(peak, 300 * k_mib);
}

TEST_F(ResourcesTest, AFailedAllocationDiffersFromACrash) {
  // Under a limit of address space, the allocation fails as on an exhausted machine.
  const TrialRun cpp =
      run(shell("ulimit -v 100000; exec " STEPTUNE_BINARY_DIR "/bin/fake_trial hog 2000000000"));
  EXPECT_EQ(cpp.outcome().kind, OutcomeKind::out_of_memory) << cpp.outcome().detail;
  const TrialRun crash = run(shell("kill -ABRT $$"));
  EXPECT_EQ(crash.outcome().kind, OutcomeKind::failed);
}

/// A new memory cgroup with a limit, of the version that this machine has.
class LimitedCgroup {
 public:
  explicit LimitedCgroup(std::uint64_t bytes) {
    for (const auto& [top, limit] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                     std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      path_ = std::filesystem::path(top) / ("steptune-test-" + std::to_string(::getpid()));
      std::error_code error;
      if (!std::filesystem::create_directory(path_, error)) continue;
      std::ofstream file(path_ / limit);
      usable_ = std::filesystem::exists(path_ / limit) && (file << bytes << std::flush).good();
      if (usable_) return;
      ::rmdir(path_.c_str());
    }
  }
  LimitedCgroup(const LimitedCgroup&) = delete;
  LimitedCgroup& operator=(const LimitedCgroup&) = delete;
  ~LimitedCgroup() {
    if (usable_) ::rmdir(path_.c_str());
  }
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] std::string processes() const { return (path_ / "cgroup.procs").string(); }

 private:
  std::filesystem::path path_;
  bool usable_ = false;
};

TEST_F(ResourcesTest, AKernelKillDiffersFromAKillByHand) {
  const TrialRun by_hand = run(shell("kill -KILL $$"));
  EXPECT_EQ(by_hand.outcome().kind, OutcomeKind::failed) << by_hand.outcome().detail;

  const LimitedCgroup cgroup(std::uint64_t{40} << 20);
  if (!cgroup.usable()) GTEST_SKIP() << "may not create a memory cgroup";
  const TrialRun by_kernel = run(shell("echo $$ > " + cgroup.processes() + "; exec " +
                                       STEPTUNE_BINARY_DIR "/bin/fake_trial hog 400000000"));
  EXPECT_EQ(by_kernel.outcome().kind, OutcomeKind::out_of_memory) << by_kernel.outcome().detail;
  EXPECT_THAT(by_kernel.outcome().detail, HasSubstr("the kernel killed it because memory ran out"));
}

TEST_F(ResourcesTest, OthersLoadIsSeen) {
  const TrialSpec spec = shell("sleep 3.4");
  start(spec);
  std::thread other([] {
    const SystemClock clock;
    const double end_s = clock.now_s() + 3.3;
    while (clock.now_s() < end_s) {
    }
  });
  const TrialRun done = wait_for_end();
  other.join();
  ASSERT_TRUE(done.outcome().disturbance);
  const double one_cpu = 1.0 / static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(done.outcome().disturbance->other_load, 0.2 * one_cpu);
  EXPECT_LE(done.outcome().disturbance->other_load, 1.0);
  ASSERT_FALSE(done.disturbed.empty()) << "the disturbed seconds are reported";
  for (const TrialDisturbed& span : done.disturbed) {
    EXPECT_LT(span.from_s, span.to_s);
    EXPECT_TRUE(is_disturbing(span.disturbance));
  }
}

TEST_F(ResourcesTest, AComputingTrialDiffersFromAWaitingOne) {
  const std::string reports = "echo '[steptune] {\"v\":1,\"step\":1,\"samples\":1}'; ";
  const TrialRun busy = run(shell(reports + "timeout 3 sh -c 'while :; do :; done'; true"));
  TrialSpec waits = shell(reports + "sleep 3");
  ++waits.key.trial;
  const TrialRun idle = run(waits);
  ASSERT_TRUE(busy.outcome().cpu_busy);
  ASSERT_TRUE(idle.outcome().cpu_busy);
  EXPECT_GT(*busy.outcome().cpu_busy, 0.1) << "one CPU is busy, unless other programs took it";
  EXPECT_LE(*busy.outcome().cpu_busy, 1.0);
  EXPECT_LT(*idle.outcome().cpu_busy, 0.03);
  ASSERT_FALSE(busy.outcome().machine.empty());
  for (const MachineSecond& second : busy.outcome().machine) {
    EXPECT_LT(second.from_s, second.to_s);
    EXPECT_TRUE(std::isnan(second.other_load) || second.other_load <= 1.0);
  }
  EXPECT_TRUE(std::ranges::any_of(busy.outcome().machine, [](const MachineSecond& second) {
    return std::isfinite(second.other_load) && std::isfinite(second.steal);
  }));
  const bool was_reported =
      std::filesystem::exists("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
  const auto clock = cpu_clock_between(busy.outcome().machine, 0.0, 10.0);
  EXPECT_EQ(clock.has_value(), was_reported);
  if (clock) {
    EXPECT_GT(clock->lowest_hz, 1e8);
    EXPECT_LT(clock->mean_hz, 1e10);
  }
  TrialSpec silent = shell("sleep 1.5");
  silent.key.trial = 9;
  EXPECT_FALSE(run(silent).outcome().cpu_busy) << "start-up does not count as training";
}

TEST_F(ResourcesTest, ReadsFromStorageDifferFromCachedReads) {
  const auto data = folder() / "data.bin";
  std::ofstream(data, std::ios::binary) << std::string(8U << 20, 'x');
  TrialSpec spec = shell("cat " + data.string() + " > /dev/null");
  spec.data = {data};
  spec.page_cache = PageCache::cold;
  const TrialRun cold = run(spec);
  EXPECT_EQ(cold.started.at(0).placement.at("page_cache"), "cold");
  EXPECT_EQ(cold.started.at(0).placement.at("page_cache_dropped"), "1 file of 8.0 MiB");
  EXPECT_FALSE(cold.started.at(0).placement.contains("page_cache_not_dropped"));
  TrialSpec lacking = spec;
  lacking.data.push_back(folder() / "absent");
  ++spec.key.trial;
  ++lacking.key.trial;
  EXPECT_THAT(run(lacking).started.at(0).placement.at("page_cache_not_dropped"),
              ::testing::HasSubstr("absent"));
  if (lives_in_memory(data)) GTEST_SKIP() << "no storage behind the temporary folder";
  EXPECT_GE(cold.outcome().storage_read_bytes.value_or(0.0), 8.0 * k_mib);
  for (const PageCache kept : {PageCache::warm, PageCache::automatic}) {
    spec.page_cache = kept;
    ++spec.key.trial;
    const TrialRun warm = run(spec);
    EXPECT_EQ(warm.started.at(0).placement.at("page_cache"), "warm") << "8 MiB fit into memory";
    ASSERT_TRUE(warm.outcome().storage_read_bytes);
    EXPECT_LT(*warm.outcome().storage_read_bytes, 1.0 * k_mib);
  }
}

TEST_F(ResourcesTest, ManyTrialsLeakNothing) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  use();
  run(shell("exit 0"));
  const std::size_t descriptors = open_descriptors();
  for (std::int64_t i = 0; i < 200; ++i) {
    TrialSpec spec = i % 20 == 0 ? trial({"no-such-program"}) : trial({"/bin/true"});
    spec.key = {i, 1};
    const TrialRun done = run(spec);
    ASSERT_EQ(done.outcome().kind, i % 20 == 0 ? OutcomeKind::not_started : OutcomeKind::completed);
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_THAT(own_children(), IsEmpty());
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(ResourcesTest, AStartWithoutDescriptorsIsATemporaryError) {
  if (k_sanitized) GTEST_SKIP() << "the sanitizers need descriptors of their own";
  use();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{3, before.rlim_max};
  TrialSpec spec = shell("true");
  spec.log_path.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto refused = runner().start(spec);
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::completed);
}

TEST_F(ResourcesTest, ChildrenOfOtherPartsOfTheProgramAreLeftToThem) {
  FILE* pipe = ::popen("exit 7", "r");
  ASSERT_NE(pipe, nullptr);
  ASSERT_TRUE(eventually([] {
    const auto children = own_children();
    return children.size() == 1 && !is_alive(children.front());
  }));
  EXPECT_EQ(run(shell("exit 0")).outcome().kind, OutcomeKind::completed);
  EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 7);
}

}  // namespace
}  // namespace steptune::process_tests

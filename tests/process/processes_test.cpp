// SPDX-License-Identifier: Apache-2.0
//
// Tests the search for processes, subreaper, memory tracker, watchdog and trial tokens, with real
// children of this program.
#include "common/machine/processes.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/clock.hpp"
#include "tests/process/local_runner_fixture.hpp"
#include "trial_runner/local/memory_tracker.hpp"
#include "trial_runner/local/orphaned_trials.hpp"
#include "trial_runner/local/process_tags.hpp"
#include "trial_runner/local/spawn.hpp"
#include "trial_runner/local/subreaper.hpp"
#include "trial_runner/local/watchdog.hpp"

namespace steptune::process_tests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// A child of this process, which the destructor kills and reaps.
class Child {
 public:
  explicit Child(std::vector<std::string> argv, const local::Environment& added = {}) {
    local::SpawnRequest request;
    request.argv = std::move(argv);
    request.environment = process_variables();
    for (const auto& [name, value] : added)
      request.environment.insert_or_assign(name, value);
    const auto pid = local::spawn(request);
    if (!pid) throw std::runtime_error(pid.error().text());
    pid_ = *pid;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(-pid_, SIGKILL);
    reap();
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] ProcessId id() const { return read_stat(pid_)->id; }
  void reap() {
    if (!reaped_) ::waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  pid_t pid_ = 0;
  bool reaped_ = false;
};

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

std::vector<pid_t> pids_of(const std::vector<ProcessStat>& processes) {
  std::vector<pid_t> pids;
  for (const auto& process : processes)
    pids.push_back(process.id.pid);
  return pids;
}

std::vector<pid_t> pids_of(const std::vector<ProcessId>& processes) {
  std::vector<pid_t> pids;
  for (const ProcessId& process : processes)
    pids.push_back(process.pid);
  return pids;
}

TEST(Processes, AStatHasParentGroupAndState) {
  const Child child({"/bin/sleep", "1000"});
  const auto stat = read_stat(child.pid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->id.pid, child.pid());
  EXPECT_EQ(stat->parent, ::getpid());
  EXPECT_EQ(stat->group, child.pid()) << "a spawned process leads its own group";
  EXPECT_GT(stat->id.start_ticks, 0U);
  EXPECT_FALSE(stat->is_zombie());
  ::kill(child.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return read_stat(child.pid())->is_zombie(); }));
}

TEST(Processes, AProgramsNameMayContainBlanksAndParentheses) {
  const TemporaryFolder folder("names");
  const auto program = folder.path() / "a) R (1 2";
  std::filesystem::copy_file("/bin/sleep", program);
  const Child child({program.string(), "1000"});
  EXPECT_TRUE(eventually([&] {
    return read_file("/proc/" + std::to_string(child.pid()) + "/comm") == "a) R (1 2\n";
  }));
  const auto stat = read_stat(child.pid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getpid());
}

TEST(Processes, AReapedProcessHasNoStatAndNoChildren) {
  Child child({"/bin/true"});
  const ProcessId id = child.id();
  child.reap();
  EXPECT_FALSE(read_stat(id.pid));
  EXPECT_THAT(children_of(id.pid), IsEmpty());
  EXPECT_THAT(process_tree(id.pid), IsEmpty());
  EXPECT_FALSE(send_signal(id, SIGKILL));
}

TEST(Processes, ATreeHasEveryDescendantWhoseParentsLive) {
  const Child child(shell("sleep 1000 & (sleep 1000 & wait) & wait"));
  EXPECT_TRUE(eventually([&] { return process_tree(child.pid()).size() == 4; }));
  EXPECT_THAT(children_of(child.pid()), SizeIs(2));
  EXPECT_THAT(children_of(::getpid()), Contains(child.pid()));
  EXPECT_THAT(pids_of(process_tree(::getpid())), Contains(child.pid()));
}

TEST(Processes, ASignalIsNotSentIfTheStartTimeDiffers) {
  Child child({"/bin/sleep", "1000"});
  ProcessId other = child.id();
  ++other.start_ticks;
  EXPECT_FALSE(send_signal(other, SIGKILL)) << "another process with the same number";
  EXPECT_TRUE(is_alive(child.pid()));
  EXPECT_TRUE(send_signal(child.id(), SIGKILL));
  EXPECT_TRUE(eventually([&] { return !is_alive(child.pid()); }));
  EXPECT_FALSE(send_signal(child.id(), SIGKILL)) << "a zombie needs no signal";
}

TEST(Processes, APidfdIsReadableOnceTheProcessHasEnded) {
  Child child({"/bin/sleep", "1000"});
  const UniqueFd handle = open_pidfd(child.pid());
  if (!handle) GTEST_SKIP() << "this kernel has no pidfd";
  pollfd waiting{handle.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  ::kill(child.pid(), SIGKILL);
  EXPECT_EQ(::poll(&waiting, 1, 10'000), 1);
}

TEST(Processes, OnlyWholeEntriesOfTheEnvironmentMatch) {
  const Child child({"/bin/sleep", "1000"}, {{"STEPTUNE_RUN", "abc"}, {"OTHER", "1"}});
  const auto has = [&](const std::vector<std::string>& entries) {
    return environment_has(child.pid(), entries);
  };
  EXPECT_TRUE(eventually([&] { return has({"STEPTUNE_RUN=abc"}); }));
  EXPECT_TRUE(has({"OTHER=1", "STEPTUNE_RUN=abc"}));
  EXPECT_FALSE(has({"STEPTUNE_RUN=ab"}));
  EXPECT_FALSE(has({"STEPTUNE_RUN=abcd"}));
  EXPECT_FALSE(has({"RUN=abc"}));
  EXPECT_FALSE(has({"STEPTUNE_RUN=abc", "OTHER=2"}));
}

TEST(ProcessTags, FindEveryTaggedProcessAndItsDescendants) {
  const std::string entry = local::run_tag_entry("tags-test");
  EXPECT_EQ(entry, "STEPTUNE_RUN=tags-test");
  EXPECT_EQ(local::trial_tag_entry({7, 2}), "STEPTUNE_TRIAL=7.2");
  const Child tagged(shell("sleep 1000 & env -i sleep 1000 & wait"),
                     {{"STEPTUNE_RUN", "tags-test"}});
  const Child other({"/bin/sleep", "1000"}, {{"STEPTUNE_RUN", "tags-test-2"}});
  const auto find = [&] { return local::find_tagged_processes({&entry, 1}, {}); };
  EXPECT_TRUE(eventually([&] { return find().size() == 3; }));
  EXPECT_THAT(pids_of(find()), Contains(tagged.pid()));
  EXPECT_THAT(pids_of(find()), Not(Contains(other.pid())));
}

TEST(ProcessTags, FindAProcessGroupByItsLeader) {
  const std::string entry = local::run_tag_entry("no-such-run");
  const Child child(shell("sleep 1000 & wait"));
  ProcessId leader = child.id();
  const auto find = [&] { return local::find_tagged_processes({&entry, 1}, {&leader, 1}); };
  EXPECT_TRUE(eventually([&] { return find().size() == 2; }));
  ++leader.start_ticks;
  EXPECT_THAT(find(), IsEmpty()) << "the group of another process with the same number";
}

TEST(Subreaper, InheritsTheOrphansOfATrialAndReapsThem) {
  local::Subreaper subreaper;
  const std::vector<std::string> tags{local::run_tag_entry("subreaper-test")};
  // The shell ends at once, and its child loses its parent.
  Child trial(shell("sleep 1000 & exit 0"), {{"STEPTUNE_RUN", "subreaper-test"}});
  subreaper.add_trial(trial.pid(), tags);
  EXPECT_EQ(subreaper.tags_of(trial.pid()), tags);
  ASSERT_TRUE(eventually([&] { return subreaper.orphans_of(trial.pid()).size() == 1; }));
  const pid_t orphan = subreaper.orphans_of(trial.pid()).front().id.pid;
  ::kill(orphan, SIGKILL);
  EXPECT_TRUE(eventually([&] {
    return subreaper.orphans_of(trial.pid()).empty() && !read_stat(orphan);
  })) << "a dead orphan is reaped";
  EXPECT_GT(subreaper.reaped_usage(trial.pid()).cpu_s, 0.0);
  subreaper.remove_trial(trial.pid());
  EXPECT_EQ(subreaper.reaped_usage(trial.pid()).cpu_s, 0.0);
}

TEST(Subreaper, AnOrphanWithoutTagsBelongsToTheOnlyTrial) {
  local::Subreaper subreaper;
  Child first(shell("setsid env -i sleep 1000 & exit 0"));
  const Child second({"/bin/sleep", "1000"});
  subreaper.add_trial(first.pid(), {local::run_tag_entry("first")});
  subreaper.add_trial(second.pid(), {local::run_tag_entry("second")});
  ASSERT_TRUE(eventually([&] { return own_children().size() == 3; }));
  EXPECT_TRUE(eventually([&] { return subreaper.orphans_of(first.pid()).empty(); }))
      << "two trials run, and the orphan has neither a trial's group nor its tags";
  EXPECT_THAT(subreaper.orphans_of(second.pid()), IsEmpty());
  subreaper.remove_trial(second.pid());
  ASSERT_TRUE(eventually([&] {
    const auto orphans = subreaper.orphans_of(first.pid());
    return std::ranges::any_of(orphans, [&](const auto& orphan) {
      return orphan.id.pid != second.pid() && orphan.id.pid != first.pid();
    });
  }));
  for (const auto& orphan : subreaper.orphans_of(first.pid())) {
    if (orphan.id.pid != second.pid()) ::kill(orphan.id.pid, SIGKILL);
  }
  subreaper.add_trial(second.pid(), {});
  EXPECT_TRUE(eventually([&] {
    static_cast<void>(subreaper.orphans_of(first.pid()));
    return own_children().size() == 2;
  }));
}

TEST(Subreaper, EarlierChildrenAreNoOrphans) {
  // The tuner inherits the jobs of a shell that became the tuner by exec.
  const Child job({"/bin/sleep", "1000"});
  const SystemClock clock;
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double started_s = static_cast<double>(job.id().start_ticks) * tick_s;
  ASSERT_TRUE(eventually([&] { return clock.now_s() >= started_s + tick_s; }));
  local::Subreaper subreaper;
  const Child trial({"/bin/sleep", "1000"});
  subreaper.add_trial(trial.pid(), {local::run_tag_entry("job-test")});
  EXPECT_THAT(subreaper.orphans_of(trial.pid()), IsEmpty());
}

TEST(MemoryTracker, UsesTheKernelsPeakForASingleProcess) {
  const Child child({STEPTUNE_BINARY_DIR "/bin/fake_trial", "hog", "50000000"});
  local::MemoryTracker memory(40e6);
  EXPECT_TRUE(eventually([&] { return memory.sample(process_tree(child.pid()), 0.0); }));
  EXPECT_GT(memory.peak_bytes().value_or(0.0), 40e6);
  EXPECT_LT(memory.peak_bytes().value_or(0.0), 150e6);
}

TEST(MemoryTracker, AVanishedProcessHasNoMemory) {
  local::MemoryTracker memory(1e6);
  EXPECT_FALSE(memory.sample({}, 0.0));
  EXPECT_EQ(memory.peak_bytes(), std::nullopt);
}

TEST(MemoryTracker, CountsSharedPagesOnce) {
  const Child child({STEPTUNE_BINARY_DIR "/bin/fake_trial", "share", "50000000", "3"});
  std::vector<ProcessStat> processes;
  ASSERT_TRUE(eventually([&] {
    processes = process_tree(child.pid());
    double sum = 0.0;
    for (const auto& process : processes)
      sum += static_cast<double>(process.resident_bytes);
    return processes.size() == 4 && sum > 150e6;
  }));
  local::MemoryTracker memory(100e6);  // below the plain sum, above the real use
  EXPECT_FALSE(memory.sample(processes, 0.0));
  EXPECT_GT(memory.peak_bytes().value_or(0.0), 45e6);
  EXPECT_LT(memory.peak_bytes().value_or(0.0), 100e6);
}

TEST(Watchdog, IsReadyOnceStartedAndEndsOnDestruction) {
  pid_t pid = 0;
  {
    auto watchdog = local::Watchdog::start(k_watchdog, "watchdog-test");
    ASSERT_TRUE(watchdog) << watchdog.error().text();
    pid = watchdog->pid();
    EXPECT_TRUE(watchdog->alive());
    EXPECT_TRUE(is_alive(pid));
    EXPECT_EQ(::getpgid(pid), pid) << "signals of a terminal must not reach it";
  }
  EXPECT_FALSE(read_stat(pid)) << "ended and reaped";
}

TEST(Watchdog, KillsNothingOnAQuitMessage) {
  const Child tagged({"/bin/sleep", "1000"}, {{"STEPTUNE_RUN", "quit-test"}});
  {
    auto watchdog = local::Watchdog::start(k_watchdog, "quit-test");
    ASSERT_TRUE(watchdog);
    watchdog->watch(tagged.id());
  }
  EXPECT_TRUE(is_alive(tagged.pid()));
}

TEST(Watchdog, ADeadWatchdogIsNoticed) {
  auto watchdog = local::Watchdog::start(k_watchdog, "dead-test");
  ASSERT_TRUE(watchdog);
  ::kill(watchdog->pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !watchdog->alive(); }));
  watchdog->watch({1, 1});  // a dead watchdog must not end this program by SIGPIPE
}

TEST(Watchdog, MovesWithoutEnding) {
  auto started = local::Watchdog::start(k_watchdog, "move-test");
  ASSERT_TRUE(started);
  const pid_t pid = started->pid();
  local::Watchdog watchdog;
  EXPECT_FALSE(watchdog.alive());
  watchdog = *std::move(started);
  EXPECT_EQ(watchdog.pid(), pid);
  EXPECT_TRUE(watchdog.alive());
}

TEST(Watchdog, StartedByHandItExplainsItself) {
  const std::string command = std::string(k_watchdog) + " 2>&1";
  FILE* const output = ::popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::array<char, 200> text{};
  EXPECT_NE(std::fgets(text.data(), static_cast<int>(text.size()), output), nullptr);
  EXPECT_THAT(text.data(), HasSubstr("started by steptune"));
  EXPECT_EQ(WEXITSTATUS(::pclose(output)), 2);
}

TEST(TrialToken, ReadsBack) {
  const local::TrialToken token{{4711, 123456789}, "boot", "run-1"};
  const auto read = local::parse_token(local::to_text(token));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->main, token.main);
  EXPECT_EQ(read->boot, token.boot);
  EXPECT_EQ(read->run_tag, token.run_tag);
}

TEST(TrialToken, TextsThatAreNoTokensAreErrors) {
  for (const char* text : {"", "no JSON", "[]", "{}", R"({"pid": "x", "start": 1})",
                           R"({"pid": 1, "start": 2, "boot": "b"})"}) {
    const auto read = local::parse_token(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().where, HasSubstr("trial token")) << text;
  }
}

TEST(OrphanedTrials, TokensOfAnotherBootAreSkipped) {
  const Child child({"/bin/sleep", "1000"}, {{"STEPTUNE_RUN", "boot-test"}});
  Runner::Orphan orphan;
  orphan.token = local::to_text({child.id(), "another boot", "boot-test"});
  const SystemClock clock;
  EXPECT_TRUE(local::end_orphaned_trials({&orphan, 1}, clock));
  orphan.token.clear();
  EXPECT_TRUE(local::end_orphaned_trials({&orphan, 1}, clock));
  EXPECT_TRUE(is_alive(child.pid()));
}

}  // namespace
}  // namespace steptune::process_tests

// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/child_process.hpp"
#include "common/machine/processes.hpp"
#include "tests/process/local_runner_fixture.hpp"
#include "trial_runner/local/orphaned_trials.hpp"
#include "trial_runner/local/spawn.hpp"

namespace steptune::process_tests {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* k_fake_trial = STEPTUNE_BINARY_DIR "/bin/fake_trial";

/// A tuner in a separate process, and its output.
class TunerDeathTest : public LocalRunnerTest {
 protected:
  ~TunerDeathTest() override { kill_tuner(); }

  void start_tuner(const std::string& tag, std::vector<std::string> program,
                   const std::string& count = "1") {
    local::SpawnRequest request;
    request.argv = {(STEPTUNE_BINARY_DIR "/bin/tuner_driver"), tag, k_watchdog, folder().string(),
                    count};
    request.argv.insert(request.argv.end(), program.begin(), program.end());
    request.environment = process_variables();
    const std::string output = folder() / "tuner.out";
    const UniqueFd file(::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    request.output_fd = file.get();
    const auto pid = local::spawn(request);
    ASSERT_TRUE(pid) << pid.error().text();
    tuner_ = *pid;
    ASSERT_TRUE(eventually([&] { return read_file(output).find("ready") != std::string::npos; }))
        << read_file(output);
  }

  void kill_tuner() {
    if (tuner_ == 0) return;
    ::kill(tuner_, SIGKILL);
    ::waitpid(tuner_, nullptr, 0);
    tuner_ = 0;
  }

  [[nodiscard]] std::string log(int trial) const {
    return read_file(folder() / ("trial-" + std::to_string(trial) + ".log"));
  }
  [[nodiscard]] std::vector<pid_t> wait_for_pids(int trial, std::size_t count) const {
    EXPECT_TRUE(eventually([&] { return log(trial).find("ready") != std::string::npos; }));
    std::vector<pid_t> pids = pids_in(log(trial));
    EXPECT_THAT(pids, SizeIs(count));
    return pids;
  }
  [[nodiscard]] std::vector<Runner::Orphan> orphans() const {
    std::istringstream lines(read_file(folder() / "tuner.out"));
    std::vector<Runner::Orphan> found;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("token ")) continue;
      Runner::Orphan orphan{trial({"true"}), line.substr(6)};
      orphan.spec.key = {static_cast<std::int64_t>(found.size()) + 1, 1};
      found.push_back(orphan);
    }
    return found;
  }
  /// Returns the processes with the run's tag, found independently of the runner.
  [[nodiscard]] static std::string carriers(const std::string& tag) {
    FILE* pipe = ::popen(
        ("grep -lzx 'STEPTUNE_RUN=" + tag + "' /proc/[0-9]*/environ 2>/dev/null").c_str(), "r");
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;)
      text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }
  [[nodiscard]] std::size_t number_of_polls() const {
    std::istringstream lines(read_file(folder() / "tuner.out"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line == "polled") ++count;
    }
    return count;
  }
  [[nodiscard]] pid_t watchdog_of_tuner() const {
    for (const pid_t child : children_of(tuner_)) {
      if (read_file("/proc/" + std::to_string(child) + "/comm").starts_with(k_watchdog_comm)) {
        return child;
      }
    }
    return 0;
  }
  /// Kills the tuner and its watchdog, so that its trials are left.
  void kill_tuner_and_guard() {
    const pid_t watchdog = watchdog_of_tuner();
    ASSERT_GT(watchdog, 0);
    ::kill(watchdog, SIGKILL);
    kill_tuner();
  }

 private:
  pid_t tuner_ = 0;
};

TEST_F(TunerDeathTest, NoProcessSurvivesAKilledTuner) {
  start_tuner("death-test", {k_fake_trial, "marked-brood", "stay"}, "2");
  std::vector<pid_t> pids = wait_for_pids(1, 4);
  for (const pid_t pid : wait_for_pids(2, 4))
    pids.push_back(pid);
  EXPECT_THAT(alive(pids), SizeIs(8));
  kill_tuner();
  EXPECT_TRUE(eventually([&] { return alive(pids).empty() && carriers("death-test").empty(); }))
      << carriers("death-test");
}

TEST_F(TunerDeathTest, ATrialThatIsStoppedWhileAnotherRunsDies) {
  // "2i" starts two trials that take turns: one is always suspended while the other runs.
  start_tuner("turns-test",
              {"/bin/sh", "-c",
               "echo pid $$; echo ready; i=0; while :; do i=$((i + 1)); "
               "echo \"[steptune] {\\\"v\\\":1,\\\"step\\\":$i}\"; sleep 0.02; done"},
              "2i");
  std::vector<pid_t> pids = wait_for_pids(1, 1);
  pids.push_back(wait_for_pids(2, 1).at(0));
  kill_tuner();
  EXPECT_TRUE(eventually([&] { return alive(pids).empty() && carriers("turns-test").empty(); }));
}

TEST_F(TunerDeathTest, ATrialWithAClearedEnvironmentDies) {
  start_tuner("bare-test", {"/usr/bin/env", "-i", "/bin/sh", "-c",
                            "echo pid $$; sleep 1000 & echo pid $!; echo ready; wait"});
  const std::vector<pid_t> pids = wait_for_pids(1, 2);
  kill_tuner();
  EXPECT_TRUE(eventually([&] { return alive(pids).empty(); }));
}

TEST_F(TunerDeathTest, SharedMemoryOfATrialIsRemoved) {
  start_tuner("memory-test", {"/bin/sh", "-c",
                              "umask 077; echo tensor > /dev/shm/torch_$$_78_1; echo pid $$; "
                              "echo ready; exec sleep 1000"});
  const pid_t pid = wait_for_pids(1, 1).at(0);
  const std::string file = "/dev/shm/torch_" + std::to_string(pid) + "_78_1";
  EXPECT_TRUE(std::filesystem::exists(file));
  kill_tuner();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(file); }));
}

TEST_F(TunerDeathTest, ADaemonWithItsOwnSessionDies) {
  // A daemon: forked twice, so its parent is gone and it leads no group.
  start_tuner("daemon-test",
              {"/bin/sh", "-c",
               "echo pid $$; setsid env -i /bin/sh -c 'sleep 1000 > /dev/null & echo pid $!' & "
               "wait; echo ready; exec sleep 1000"});
  const std::vector<pid_t> pids = wait_for_pids(1, 2);
  const std::size_t polls = number_of_polls();
  // The current poll may have begun too early to see the daemon, so wait for two more polls.
  ASSERT_TRUE(eventually([&] { return number_of_polls() >= polls + 2; }));
  kill_tuner();
  EXPECT_TRUE(eventually([&] { return alive(pids).empty(); }));
  for (const pid_t pid : alive(pids))
    ::kill(pid, SIGKILL);
}

TEST_F(TunerDeathTest, TheWatchdogLeavesWithItsTuner) {
  start_tuner("watchdog-test", {"/bin/sleep", "1000"});
  const pid_t watchdog = watchdog_of_tuner();
  ASSERT_GT(watchdog, 0);
  kill_tuner();
  EXPECT_TRUE(eventually([&] { return !is_alive(watchdog); }));
}

TEST_F(TunerDeathTest, AWatchdogThatDiedIsReplacedBeforeTheNextTrial) {
  use();
  const auto watchdog_pid = [] {
    for (const pid_t child : children_of(::getpid())) {
      if (read_file("/proc/" + std::to_string(child) + "/comm").starts_with(k_watchdog_comm) &&
          is_alive(child)) {
        return child;
      }
    }
    return pid_t{0};
  };
  const pid_t first = watchdog_pid();
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return !is_alive(first); }));
  EXPECT_EQ(run(shell("exit 0")).outcome().kind, OutcomeKind::completed);
  EXPECT_GT(watchdog_pid(), 0);
  EXPECT_NE(watchdog_pid(), first);
}

TEST_F(TunerDeathTest, AdoptEndsRemainingTrialsAndKeepsNone) {
  start_tuner("adopt-test", {k_fake_trial, "marked-brood", "stay"}, "2");
  std::vector<pid_t> pids = wait_for_pids(1, 4);
  for (const pid_t pid : wait_for_pids(2, 4))
    pids.push_back(pid);
  kill_tuner_and_guard();
  EXPECT_THAT(alive(pids), SizeIs(8));

  std::vector<Runner::Orphan> left = orphans();
  ASSERT_THAT(left, SizeIs(2));
  for (Runner::Orphan& orphan : left)
    orphan.spec.limits.grace_s = 0.1;
  left.push_back({trial({"true"}), ""});  // its start was never recorded
  use();
  const auto adopted = runner().adopt(left);
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_THAT(*adopted, IsEmpty());
  EXPECT_THAT(alive(pids), IsEmpty());
  EXPECT_EQ(carriers("adopt-test"), "");
}

TEST_F(TunerDeathTest, AdoptGivesRemainingTrialsTimeToEnd) {
  const std::string saved = folder() / "saved";
  // No tuner reads the trial's output when it ends, so it closes its output before.
  start_tuner("order-test", {"/bin/sh", "-c",
                             "trap 'echo checkpoint > " + saved +
                                 "; exit 0' TERM; echo ready; exec > /dev/null 2>&1; "
                                 "while :; do sleep 0.01; done"});
  ASSERT_TRUE(eventually([&] { return log(1).find("ready") != std::string::npos; }));
  kill_tuner_and_guard();
  std::vector<Runner::Orphan> left = orphans();
  ASSERT_THAT(left, SizeIs(1));
  left[0].spec.limits.grace_s = 1000.0;
  use();
  ASSERT_TRUE(runner().adopt(left)) << "does not wait for the whole grace time";
  EXPECT_EQ(read_file(saved), "checkpoint\n");
  EXPECT_EQ(carriers("order-test"), "");
}

TEST_F(TunerDeathTest, AdoptSparesALaterProcessWithTheSameNumber) {
  use();
  const auto bystander = local::spawn({{"/bin/sleep", "1000"}, {}, {}, true, -1, -1});
  ASSERT_TRUE(bystander);
  local::TrialToken token;
  token.main = read_stat(*bystander)->id;
  token.main.start_ticks -= 1;
  token.boot = boot_id();
  token.run_tag = "former";
  std::vector<Runner::Orphan> orphans{{shell("true"), local::to_text(token)}};
  ASSERT_TRUE(runner().adopt(orphans));
  EXPECT_TRUE(is_alive(*bystander));

  token.main.start_ticks += 1;
  token.boot = "another boot";
  orphans[0].token = local::to_text(token);
  ASSERT_TRUE(runner().adopt(orphans));
  EXPECT_TRUE(is_alive(*bystander));

  token.boot = boot_id();
  orphans[0].token = local::to_text(token);
  orphans[0].spec.limits.grace_s = 0.0;
  ASSERT_TRUE(runner().adopt(orphans));
  EXPECT_FALSE(is_alive(*bystander))
      << "same process number and start time: it is the trial's process";
  ::waitpid(*bystander, nullptr, 0);
}

TEST_F(TunerDeathTest, AForeignTokenIsAnError) {
  use();
  const std::vector<Runner::Orphan> orphans{{shell("true"), "{\"job\": \"arn:aws\"}"}};
  const auto adopted = runner().adopt(orphans);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error().kind, ErrorKind::store);
}

}  // namespace
}  // namespace steptune::process_tests

// SPDX-License-Identifier: Apache-2.0
// Kills the tuner with SIGKILL at random moments and restarts it until the study is finished.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "common/rng.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/history/history.hpp"

extern char** environ;

namespace steptune {
namespace {

// Ten runs of at most 0.75 s cannot finish this many trials.
constexpr int k_trials = 40;
constexpr int k_kills = 10;

class KillResume : public testing::Test {
 protected:
  void SetUp() override {
    marker_ = folder_.path().filename().string();
    study_ = folder_.write("study.json",
                           fmt::format(R"({{
      "name": "kill",
      "command": ["{bin}/fake_trainer", "--batch", "{{batch}}", "--workers", "{{workers}}",
                  "--steps", "120"],
      "env": {{"KILL_RESUME_MARKER": "{marker}"}},
      "parameters": {{
        "batch": {{"type": "int", "low": 1, "high": 64, "scale": "log2"}},
        "workers": {{"type": "int", "low": 0, "high": 7}}
      }},
      "baseline": {{"batch": 8, "workers": 0}},
      "planned_run": {{"samples": 1e6, "batch_size": "batch"}},
      "objectives": ["time"],
      "search": {{"searcher": "sobol", "scheduler": "none", "seed": 3}},
      "budget": {{"trials": {trials}}},
      "measure": {{"target_half_width": 0.001, "min_window": 0.05, "max_trial": 10, "confirm_pairs": 1}},
      "runner": {{"type": "local", "parallel": 2, "cpus_per_trial": 1, "pin": false}}
    }})",
                                       fmt::arg("bin", STEPTUNE_BINARY_DIR "/bin"),
                                       fmt::arg("marker", marker_), fmt::arg("trials", k_trials)));
  }

  void TearDown() override {
    if (HasFailure()) folder_.keep();
  }

  pid_t start_tuner(const std::string& database) {
    const std::string program = STEPTUNE_BINARY_DIR "/bin/steptune";
    const std::string db_path = (folder_.path() / database).string();
    std::vector<std::string> words{program, "--db", db_path, "run", study_.string()};
    std::vector<char*> argv;
    std::transform(words.begin(), words.end(), std::back_inserter(argv),
                   [](std::string& word) { return word.data(); });
    argv.push_back(nullptr);
    const std::string log = (folder_.path() / (database + ".output")).string();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }

  /// Waits for at most `seconds`. Returns true if the process has ended, with its status.
  static bool wait_for(pid_t pid, double seconds, int* status) {
    const SystemClock clock;
    const double deadline_s = clock.now_s() + seconds;
    while (clock.now_s() < deadline_s) {
      if (waitpid(pid, status, WNOHANG) == pid) return true;
      poll(nullptr, 0, 5);
    }
    return false;
  }

  int run_to_end(const std::string& database) {
    const pid_t pid = start_tuner(database);
    int status = 0;
    EXPECT_TRUE(wait_for(pid, 90, &status)) << "the tuner does not end";
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// Returns the descendants of this test's trials, which have its marker in their environment.
  [[nodiscard]] std::vector<std::string> processes_left() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string environment{std::istreambuf_iterator<char>(file), {}};
      if (environment.find("KILL_RESUME_MARKER=" + marker_) != std::string::npos) {
        left.push_back(entry.path().filename().string());
      }
    }
    return left;
  }

  [[nodiscard]] std::vector<TrialRecord> trials(const std::string& database) const {
    const auto history = History::open_for_reading(folder_.path() / database);
    // The kill came after the database was created and before the study was.
    if (!history && history.error().kind == ErrorKind::not_found) return {};
    if (!history) {
      ADD_FAILURE() << history.error().text();
      return {};
    }
    const auto study = history->study("kill");
    if (!study && study.error().kind == ErrorKind::not_found) return {};
    if (!study) {
      ADD_FAILURE() << study.error().text();
      return {};
    }
    return history->trials(study->id).value_or(std::vector<TrialRecord>{});
  }

  TemporaryFolder folder_{"kill"};
  std::filesystem::path study_;
  std::string marker_;
};

std::vector<std::string> searched_configurations(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> texts;
  for (const TrialRecord& trial : trials) {
    if (trial.purpose == TrialPurpose::search || trial.purpose == TrialPurpose::baseline) {
      texts.push_back(trial.configuration.text());
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

TEST_F(KillResume, TenKillsLoseNothingAndRepeatNothing) {
  Rng rng(11, "kill_resume_test");
  std::map<std::int64_t, double> ended_at;  // final trials seen after each kill
  for (int i = 0; i < k_kills; ++i) {
    const pid_t pid = start_tuner("killed.db");
    int status = 0;
    ASSERT_FALSE(wait_for(pid, 0.05 + 0.7 * rng.uniform(), &status)) << "ended before the kill";
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    waitpid(pid, &status, 0);
    if (!std::filesystem::exists(folder_.path() / "killed.db")) continue;
    for (const TrialRecord& trial : trials("killed.db")) {
      if (!is_final(trial.status)) continue;
      const auto [known, fresh] = ended_at.emplace(trial.number, trial.ended_wall_s);
      EXPECT_EQ(known->second, trial.ended_wall_s) << "trial " << trial.number << " ran again";
    }
  }
  ASSERT_EQ(run_to_end("killed.db"), 0);
  ASSERT_EQ(run_to_end("whole.db"), 0);

  const auto killed = trials("killed.db");
  const auto whole = trials("whole.db");
  // The speeds differ a little, and so does the number of confirming runs.
  for (std::size_t i = 0; i < killed.size(); ++i) {
    EXPECT_EQ(killed[i].number, static_cast<std::int64_t>(i) + 1);
    EXPECT_TRUE(is_final(killed[i].status)) << killed[i].number;
  }
  for (const auto& [number, ended_wall_s] : ended_at) {
    EXPECT_EQ(killed.at(static_cast<std::size_t>(number) - 1).ended_wall_s, ended_wall_s);
  }
  const auto configurations = searched_configurations(killed);
  EXPECT_FALSE(configurations.empty());
  EXPECT_EQ(configurations, searched_configurations(whole));
  EXPECT_EQ(std::set<std::string>(configurations.begin(), configurations.end()).size(),
            configurations.size());
  EXPECT_EQ(processes_left(), std::vector<std::string>{});
}

TEST_F(KillResume, NoProcessOutlivesAKilledTuner) {
  const pid_t pid = start_tuner("history.db");
  int status = 0;
  const SystemClock clock;
  const double deadline_s = clock.now_s() + 30;
  while (processes_left().empty() && clock.now_s() < deadline_s)
    poll(nullptr, 0, 5);
  ASSERT_FALSE(processes_left().empty()) << "no trial was ever started";
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  while (!processes_left().empty() && clock.now_s() < deadline_s)
    poll(nullptr, 0, 5);
  EXPECT_EQ(processes_left(), std::vector<std::string>{});
}

}  // namespace
}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
// Measures the tuner's own cost per trial in a study of no-op trials. For comparison, also measures
// the bare cost of running the same process, and of one durable SQLite commit.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "common/json.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using steptune::Json;

/// Runs a program to its end with output to /dev/null. Returns its exit status, or -1.
int run_quietly(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Returns the seconds of each of `repetitions` calls of `run`, sorted.
template <typename Run>
std::vector<double> timed_s(int repetitions, Run run) {
  const steptune::SystemClock clock;
  std::vector<double> times_s;
  for (int i = 0; i < repetitions; ++i) {
    const double start_s = clock.now_s();
    run();
    times_s.push_back(clock.now_s() - start_s);
  }
  std::sort(times_s.begin(), times_s.end());
  return times_s;
}

double median(const std::vector<double>& sorted) {
  return sorted[sorted.size() / 2];
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

void write_study(const std::filesystem::path& file, const std::string& noop, int trials) {
  const Json study = {
      {"name", "overhead"},
      {"command", {noop, "{batch}"}},
      {"parameters", {{"batch", {{"type", "int"}, {"low", 1}, {"high", 1'000'000}}}}},
      {"baseline", {{"batch", 1}}},
      {"planned_run", {{"samples", 1e6}, {"batch_size", "batch"}}},
      {"objectives", {"time"}},
      {"search", {{"searcher", "random"}, {"scheduler", "none"}}},
      {"budget", {{"trials", trials}}},
      {"measure", {{"min_window", 0.01}, {"confirm_pairs", 0}}},
      {"runner", {{"type", "local"}, {"pin", false}}}};
  std::ofstream(file) << steptune::dump_json(study, 2);
}

/// Returns the mean seconds of one durable commit in the journal mode that the history uses.
double commit_s(const std::filesystem::path& folder, int commits) {
  SQLite::Database database((folder / "commits.db").string(),
                            SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("PRAGMA journal_mode=WAL");
  database.exec("PRAGMA synchronous=FULL");
  database.exec("CREATE TABLE t(x INTEGER)");
  SQLite::Statement insert(database, "INSERT INTO t VALUES (1)");
  return mean(timed_s(commits, [&] {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    insert.exec();
    insert.reset();
    transaction.commit();
  }));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tuner overhead per no-op trial, beside bare process start and one durable commit"};
  int trials = 1000;
  std::string json_path;
  app.add_option("--trials", trials, "No-op trials to run")->capture_default_str();
  app.add_option("--json", json_path, "Write the figures to this file");
  CLI11_PARSE(app, argc, argv);

  const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string steptune = (programs / "steptune").string();
  const std::string noop = (programs / "noop_trial").string();
  // /tmp may be in memory, and a durable commit needs a disk, so the folder lies beside the
  // programs.
  steptune::TemporaryFolder temporary("overhead", programs);
  const std::filesystem::path& folder = temporary.path();
  const std::string database = (folder / "history.db").string();
  write_study(folder / "study.json", noop, trials);

  const double bare_s = mean(timed_s(trials, [&] { run_quietly({noop, "1"}); }));
  const double one_commit_s = commit_s(folder, trials);
  int status = 0;
  const double study_s = timed_s(1, [&] {
    status = run_quietly({steptune, "--db", database, "run", (folder / "study.json").string()});
  })[0];
  if (status != 0) {
    fmt::print(stderr, "the study ended with exit status {}; its files are in {}\n", status,
               folder.string());
    temporary.keep();
    return 1;
  }
  const double help_s = median(timed_s(31, [&] { run_quietly({steptune, "--help"}); }));
  const double leaderboard_s = median(timed_s(31, [&] {
    run_quietly({steptune, "--db", database, "leaderboard"});
  }));

  const double per_trial_s = study_s / trials;
  const double overhead_s = per_trial_s - bare_s - one_commit_s;
  const auto line = [](const char* what, double seconds, const char* target) {
    fmt::print("{:<44} {:8.2f} ms   {}\n", what, seconds * 1e3, target);
  };
  fmt::print("{} no-op trials\n", trials);
  line("study, per trial", per_trial_s, "");
  line("bare start and reap of the same process", bare_s, "");
  line("one durable commit (WAL, synchronous=FULL)", one_commit_s, "");
  line("overhead per trial above these two", overhead_s, "target: under 5 ms");
  line("steptune --help, median of 31", help_s, "target: under 20 ms");
  line("steptune leaderboard, median of 31", leaderboard_s, "target: under 20 ms");
  if (!json_path.empty()) {
    const Json figures = {{"schema_version", 1},        {"trials", trials},
                          {"per_trial_s", per_trial_s}, {"bare_process_s", bare_s},
                          {"commit_s", one_commit_s},   {"overhead_s", overhead_s},
                          {"help_s", help_s},           {"leaderboard_s", leaderboard_s}};
    std::ofstream(json_path) << steptune::dump_json(figures, 2) << '\n';
  }
  return 0;
}

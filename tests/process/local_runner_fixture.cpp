// SPDX-License-Identifier: Apache-2.0
#include "tests/process/local_runner_fixture.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <variant>

#include <poll.h>
#include <unistd.h>

#include "tests/support/read_file.hpp"

namespace steptune::process_tests {

namespace fs = std::filesystem;

LocalRunnerTest::~LocalRunnerTest() {
  runner_.reset();
  EXPECT_TRUE(own_children().empty()) << "a child was left behind";
}

LocalRunnerOptions LocalRunnerTest::unpinned() {
  LocalRunnerOptions options;
  options.pin = false;
  options.watchdog_program = STEPTUNE_BINARY_DIR "/bin/steptune-watchdog";
  return options;
}

Runner& LocalRunnerTest::use(LocalRunnerOptions options) {
  runner_.reset();
  auto made = make_local_runner(clock_, std::move(options));
  if (!made) throw std::runtime_error(made.error().text());
  runner_ = *std::move(made);
  if (auto begun = runner_->begin_study("process test", "1"); !begun) {
    throw std::runtime_error(begun.error().text());
  }
  return *runner_;
}

TrialSpec LocalRunnerTest::trial(std::vector<std::string> argv) const {
  TrialSpec spec;
  spec.key = {1, 1};
  spec.argv = std::move(argv);
  spec.log_path = folder() / "trial.log";
  spec.limits.grace_s = 5.0;
  return spec;
}

TrialSpec LocalRunnerTest::shell(const std::string& script) const {
  return trial({"/bin/sh", "-c", script});
}

TrialSpec LocalRunnerTest::fake(std::vector<std::string> arguments) const {
  arguments.emplace(arguments.begin(), STEPTUNE_BINARY_DIR "/bin/fake_trial");
  return trial(std::move(arguments));
}

void LocalRunnerTest::start(const TrialSpec& spec) {
  if (!runner_) use();
  const auto started = runner_->start(spec);
  if (!started) throw std::runtime_error(started.error().text());
}

TrialRun LocalRunnerTest::run(const TrialSpec& spec) {
  start(spec);
  return wait_for_end();
}

void LocalRunnerTest::wait_for_output(const TrialSpec& spec, const std::string& text) {
  const SystemClock clock;
  const double give_up_s = clock.now_s() + 60.0;
  while (log_of(spec).find(text) == std::string::npos) {
    ASSERT_LT(clock.now_s(), give_up_s) << "no \"" << text << "\" in: " << log_of(spec);
    auto events = runner_->wait(clock_.now_s() + 0.02);
    ASSERT_TRUE(events) << events.error().text();
    for (const TrialEvent& event : *events) {
      if (const auto* end = std::get_if<TrialFinished>(&event)) {
        FAIL() << "ended early: " << end->outcome.detail;
      }
    }
  }
}

TrialRun LocalRunnerTest::wait_for_end(std::size_t count) {
  TrialRun run;
  const SystemClock clock;
  const double give_up_s = clock.now_s() + 60.0;
  while (run.finished.size() < count) {
    auto events = runner_->wait(clock_.now_s() + 5.0);
    if (!events) throw std::runtime_error(events.error().text());
    if (clock.now_s() > give_up_s) throw std::runtime_error("the trial does not end");
    for (TrialEvent& event : *events) {
      if (auto* begin = std::get_if<TrialStarted>(&event)) run.started.push_back(*begin);
      if (auto* report = std::get_if<TrialReported>(&event)) run.reports.push_back(report->report);
      if (auto* span = std::get_if<TrialDisturbed>(&event)) run.disturbed.push_back(*span);
      if (auto* end = std::get_if<TrialFinished>(&event)) run.finished.push_back(*end);
    }
  }
  return run;
}

std::string LocalRunnerTest::log_of(const TrialSpec& spec) {
  return read_file(spec.log_path);
}

std::vector<pid_t> pids_in(const std::string& text) {
  std::vector<pid_t> pids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    pid_t pid = 0;
    if (words >> word >> pid && word == "pid") pids.push_back(pid);
  }
  return pids;
}

bool is_alive(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.size() > name_end + 2 && stat[name_end + 2] != 'Z' &&
         stat[name_end + 2] != 'X';
}

std::vector<pid_t> alive(const std::vector<pid_t>& pids) {
  std::vector<pid_t> living;
  std::ranges::copy_if(pids, std::back_inserter(living), is_alive);
  return living;
}

std::vector<pid_t> own_children() {
  std::istringstream numbers(
      read_file("/proc/self/task/" + std::to_string(::getpid()) + "/children"));
  std::vector<pid_t> children;
  for (pid_t pid = 0; numbers >> pid;) {
    const std::string name = read_file("/proc/" + std::to_string(pid) + "/comm");
    if (!name.starts_with(k_watchdog_comm)) children.push_back(pid);
  }
  return children;
}

bool eventually(const std::function<bool()>& condition) {
  const SystemClock clock;
  const double give_up_s = clock.now_s() + 60.0;
  while (!condition()) {
    if (clock.now_s() > give_up_s) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

}  // namespace steptune::process_tests

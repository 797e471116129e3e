// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "tests/contract/runner_contract.hpp"
#include "trial_runner/local/local_runner.hpp"

namespace steptune::contract {
namespace {

/// A word on a trial's command line that stands on no other one of the machine.
std::string mark_of(TrialKey key) {
  return fmt::format("contract-{}-{}-{}", ::getpid(), key.trial, key.attempt);
}

class LocalBench final : public RunnerBench {
 public:
  explicit LocalBench(int parallel) {
    options_.parallel = parallel;
    options_.pin = false;  // the machine may have fewer CPUs than the test has trials
    options_.watchdog_program = STEPTUNE_BINARY_DIR "/bin/steptune-watchdog";
  }

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    auto made = make_local_runner(clock_, options_);
    if (made) return *std::move(made);
    ADD_FAILURE() << made.error().text();
    return nullptr;
  }
  [[nodiscard]] double now_s() const override { return clock_.now_s(); }

  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    return shell_trial(key, k_reports);
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    // The shell stays: its command line tells whose process it is.
    return shell_trial(key, fmt::format("{}sleep 1000; exit 1\n", k_reports));
  }

  [[nodiscard]] bool is_running(TrialKey key) const override {
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(process.path() / "cmdline", std::ios::binary);
      const std::string words{std::istreambuf_iterator<char>(file), {}};  // each ends with NUL
      if (words.find('\0' + mark_of(key) + '\0') != std::string::npos) return true;
    }
    return false;
  }

 private:
  static constexpr const char* k_reports =
      "echo '[steptune] {\"v\":1,\"step\":1}'\n"
      "echo '[steptune] {\"v\":1,\"step\":2}'\n";

  static TrialSpec shell_trial(TrialKey key, const std::string& script) {
    TrialSpec spec;
    spec.key = key;
    spec.argv = {"/bin/sh", "-c", script, mark_of(key)};
    return spec;
  }

  SystemClock clock_;
  LocalRunnerOptions options_;
};

std::unique_ptr<RunnerBench> make_local_bench(int parallel) {
  return std::make_unique<LocalBench>(parallel);
}

INSTANTIATE_TEST_SUITE_P(Local, RunnerContract, testing::Values(BenchMaker{make_local_bench}));

}  // namespace
}  // namespace steptune::contract

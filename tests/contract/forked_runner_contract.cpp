// SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "tests/contract/python_bench.hpp"
#include "trial_runner/forked/forked_runner.hpp"

namespace steptune::contract {
namespace {

/// The program itself writes the hook's events. Its torch is a module of the test.
constexpr const char* k_forked_program = R"(
import os
import signal
import sys

import torch

with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
print('[steptune] {"v":1,"hook":{"event":"losses","first":["2.25"]}}')
print('[steptune] {"v":1,"step":1}')
print('[steptune] {"v":1,"step":2}', flush=True)
while sys.argv[2] == "endless":
    signal.pause()
)";

/// State of the runner when a test begins.
enum class Stage {
  at_the_first_trial,  ///< the first trial, which a new interpreter runs
  before_the_check,    ///< the next trial waits for a check of forked starts
  forking,             ///< the check has passed
};

class ForkedBench final : public PythonBench {
 public:
  ForkedBench(int parallel, Stage stage) : PythonBench(parallel, k_forked_program), stage_(stage) {
    folder().write("modules/torch/__init__.py", "from torch import cuda\n");
    folder().write("modules/torch/cuda.py", "def is_initialized():\n    return False\n");
  }

  [[nodiscard]] std::unique_ptr<Runner> make_runner() override {
    return make_forked_runner(clock(), make_local());
  }
  [[nodiscard]] TrialSpec quick_trial(TrialKey key) const override {
    return forked(PythonBench::quick_trial(key));
  }
  [[nodiscard]] TrialSpec endless_trial(TrialKey key) const override {
    return forked(PythonBench::endless_trial(key));
  }

  void settle(Runner& runner) override {
    if (stage_ == Stage::at_the_first_trial) return;
    EXPECT_FALSE(is_forked(run(runner, quick_trial({901, 1}))));
    if (stage_ == Stage::before_the_check) return;
    EXPECT_TRUE(is_forked(run(runner, quick_trial({902, 1}))));
    EXPECT_TRUE(std::filesystem::exists(folder().path() / "logs/fork-check.log"));
  }

 private:
  [[nodiscard]] TrialSpec forked(TrialSpec spec) const {
    spec.python_path = STEPTUNE_SOURCE_DIR "/trial_runner/hooks/python";
    spec.environment["PYTHONPATH"] = (folder().path() / "modules").string();
    spec.forked_modules.emplace();
    return spec;
  }
  [[nodiscard]] TrialStarted run(Runner& runner, const TrialSpec& spec) const {
    TrialStarted started;
    const auto accepted = runner.start(spec);
    EXPECT_TRUE(accepted) << accepted.error().text();
    const double deadline_s = now_s() + patience_s();
    while (accepted && now_s() < deadline_s) {
      const auto events = runner.wait(deadline_s);
      if (!events) {
        ADD_FAILURE() << events.error().text();
        break;
      }
      for (const TrialEvent& event : *events) {
        if (const auto* trial_started = std::get_if<TrialStarted>(&event)) started = *trial_started;
        if (std::holds_alternative<TrialFinished>(event)) return started;
      }
    }
    ADD_FAILURE() << "the trial does not end";
    return started;
  }
  static bool is_forked(const TrialStarted& started) {
    return started.placement.contains(k_start_fact);
  }

  Stage stage_;
};

BenchMaker at(Stage stage) {
  return {[stage](int parallel) { return std::make_unique<ForkedBench>(parallel, stage); }};
}

INSTANTIATE_TEST_SUITE_P(ForkedFirstTrial, RunnerContract,
                         testing::Values(at(Stage::at_the_first_trial)));
INSTANTIATE_TEST_SUITE_P(ForkedBeforeCheck, RunnerContract,
                         testing::Values(at(Stage::before_the_check)));
INSTANTIATE_TEST_SUITE_P(Forked, RunnerContract, testing::Values(at(Stage::forking)));

}  // namespace
}  // namespace steptune::contract

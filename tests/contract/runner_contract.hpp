// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "trial_runner/runner.hpp"

namespace steptune::contract {

/// A runner under test and trials that behave in known ways under it. The suite's tests stand in
/// runner_contract.cpp; a runner joins with one source of its own that instantiates the suite:
///
///   INSTANTIATE_TEST_SUITE_P(Local, RunnerContract,
///   testing::Values(BenchMaker{make_local_bench}));
class RunnerBench {
 public:
  virtual ~RunnerBench() = default;
  [[nodiscard]] virtual Runner& runner() = 0;
  /// The runner's clock.
  [[nodiscard]] virtual double now_s() const = 0;
  /// How long the runner's clock may go on before something must have happened.
  [[nodiscard]] virtual double patience_s() const { return 60.0; }
  /// Reports twice, with growing steps, then completes.
  [[nodiscard]] virtual TrialSpec quick_trial(TrialKey key) const = 0;
  /// Reports at least once, then goes on until it is stopped.
  [[nodiscard]] virtual TrialSpec endless_trial(TrialKey key) const = 0;
};

struct BenchMaker {
  std::function<std::unique_ptr<RunnerBench>(int parallel)> make;
};

class RunnerContract : public testing::TestWithParam<BenchMaker> {
 protected:
  void use(int parallel) {
    bench_ = GetParam().make(parallel);
    ASSERT_NE(bench_, nullptr);
  }
  [[nodiscard]] Runner& runner() { return bench_->runner(); }
  [[nodiscard]] RunnerBench& bench() { return *bench_; }

  /// Collects events until `done` says so; fails the test once the bench's patience is at its end.
  std::vector<TrialEvent> wait_until(const std::function<bool(const TrialEvent&)>& done);

  /// Until each of the keys has finished.
  std::vector<TrialEvent> wait_for_end(std::vector<TrialKey> keys);

 private:
  std::unique_ptr<RunnerBench> bench_;
};

[[nodiscard]] TrialKey key_of(const TrialEvent& event);

/// The only `TrialFinished` of a key; fails the test if there is none or more than one.
[[nodiscard]] TrialFinished finished(const std::vector<TrialEvent>& events, TrialKey key);

}  // namespace steptune::contract

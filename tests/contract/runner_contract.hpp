// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "trial_runner/machine_holder.hpp"
#include "trial_runner/runner.hpp"

namespace steptune::contract {

/// Runner under test, trials with known behaviour, and checks from outside of the runner. The
/// suites' tests are in runner_contract.cpp and machine_holder_contract.cpp. Each runner has one
/// source that instantiates them:
///
///   INSTANTIATE_TEST_SUITE_P(Local, RunnerContract,
///   testing::Values(BenchMaker{make_local_bench}));
///
/// and MachineHolderContract in the same way, if it offers that interface.
class RunnerBench {
 public:
  virtual ~RunnerBench() = default;
  /// Makes a runner without a study, in the same world as those before it.
  [[nodiscard]] virtual std::unique_ptr<Runner> make_runner() = 0;
  /// Returns the time of the runner's clock.
  [[nodiscard]] virtual double now_s() const = 0;
  /// Returns the seconds of the runner's clock after which an expected event counts as missing.
  [[nodiscard]] virtual double patience_s() const { return 60.0; }
  /// Returns the seconds to wait for forbidden events, or for kept machines to cost something.
  [[nodiscard]] virtual double a_while_s() const { return 30.0; }
  /// Returns a trial that reports twice, with growing steps, and completes.
  [[nodiscard]] virtual TrialSpec quick_trial(TrialKey key) const = 0;
  /// Returns a trial that reports at least once and runs until it is stopped.
  [[nodiscard]] virtual TrialSpec endless_trial(TrialKey key) const = 0;
  /// Brings a runner, on which a study has just begun, to the state under test.
  virtual void settle(Runner& /*runner*/) {}
  /// Called for each event, for benches whose trials exist only in the runner.
  virtual void on_event(const TrialEvent& /*event*/) {}
  /// True if the trial's program runs, seen without the runner.
  [[nodiscard]] virtual bool is_running(TrialKey key) const = 0;
  /// True if machines are held and paid for, seen without the runner.
  [[nodiscard]] virtual bool holds_machines() const { return false; }
};

/// Makes a bench whose runners run `parallel` trials at a time. A runner that holds machines
/// accepts one more trial, which waits.
struct BenchMaker {
  std::function<std::unique_ptr<RunnerBench>(int parallel)> make;
  int most_parallel = std::numeric_limits<int>::max();  ///< upper limit of `parallel`
};

class RunnerContract : public testing::TestWithParam<BenchMaker> {
 protected:
  /// Makes a runner with a study and `parallel` places, or as many as it can have.
  void use(int parallel);
  /// Makes a runner without a study.
  void make(int parallel);
  /// Returns a key for each trial that may run at the same time.
  [[nodiscard]] std::vector<TrialKey> key_for_each_place();
  /// Destroys the runner in its current state.
  void destroy() { runner_.reset(); }
  /// Makes another runner in the same world, for the same study.
  void restart();

  [[nodiscard]] Runner& runner() { return *runner_; }
  [[nodiscard]] RunnerBench& bench() { return *bench_; }
  /// Returns how many trials can be started at a time.
  [[nodiscard]] int places();

  void start(const TrialSpec& spec);

  /// Collects events until `done` returns true. Fails the test after the bench's patience. Checks
  /// that all events have the order that the interface promises.
  std::vector<TrialEvent> wait_until(const std::function<bool(const TrialEvent&)>& done);
  /// Collects events until each key has finished.
  std::vector<TrialEvent> wait_for_end(std::vector<TrialKey> keys);
  /// Collects events until each key has reported.
  std::vector<TrialEvent> wait_for_reports(std::vector<TrialKey> keys);
  /// Collects events for `seconds` of the runner's clock.
  std::vector<TrialEvent> wait_for(double seconds);

 private:
  enum class Heard { accepted, started, finished };

  void check_order(const TrialEvent& event);

  std::unique_ptr<RunnerBench> bench_;
  std::unique_ptr<Runner> runner_;
  std::map<TrialKey, Heard> heard_;
  std::map<TrialKey, double> last_s_;  ///< time of each trial's latest event
};

/// For runners that offer a `MachineHolder`.
class MachineHolderContract : public RunnerContract {
 protected:
  [[nodiscard]] MachineHolder& machines() { return runner().machine_holder(); }
};

/// Returns the only `TrialFinished` of a key. Fails the test if there is none or more than one.
[[nodiscard]] TrialFinished finished(const std::vector<TrialEvent>& events, TrialKey key);

/// Returns the token in a trial's start event. Fails the test if there was no start.
[[nodiscard]] std::string token_of(const std::vector<TrialEvent>& events, TrialKey key);

}  // namespace steptune::contract

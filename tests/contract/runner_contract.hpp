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

/// A runner under test, trials that behave in known ways under it, and an eye on the world outside.
/// The suites' tests stand in runner_contract.cpp and machine_holder_contract.cpp; a runner joins
/// with one source of its own that instantiates them:
///
///   INSTANTIATE_TEST_SUITE_P(Local, RunnerContract,
///   testing::Values(BenchMaker{make_local_bench}));
///
/// and likewise MachineHolderContract if it offers that interface.
class RunnerBench {
 public:
  virtual ~RunnerBench() = default;
  /// A runner that no study has begun on, in the same world as those before it.
  [[nodiscard]] virtual std::unique_ptr<Runner> make_runner() = 0;
  /// The runner's clock.
  [[nodiscard]] virtual double now_s() const = 0;
  /// How long the runner's clock may go on before something must have happened.
  [[nodiscard]] virtual double patience_s() const { return 60.0; }
  /// Long enough for something to happen that must not, or for kept machines to cost something.
  [[nodiscard]] virtual double a_while_s() const { return 30.0; }
  /// Reports twice, with growing steps, then completes.
  [[nodiscard]] virtual TrialSpec quick_trial(TrialKey key) const = 0;
  /// Reports at least once, then goes on until it is stopped.
  [[nodiscard]] virtual TrialSpec endless_trial(TrialKey key) const = 0;
  /// Brings a runner, on which a study has just begun, to the state that is under test.
  virtual void settle(Runner& /*runner*/) {}
  /// Told of each event, for benches whose trials are nowhere but in the runner.
  virtual void on_event(const TrialEvent& /*event*/) {}
  /// Whether the trial's program runs, seen without asking the runner.
  [[nodiscard]] virtual bool is_running(TrialKey key) const = 0;
  /// Whether machines are held and paid for, seen without asking the runner.
  [[nodiscard]] virtual bool holds_machines() const { return false; }
};

/// Makes a bench whose runners run `parallel` trials at a time. Those that hold machines take one
/// more that waits.
struct BenchMaker {
  std::function<std::unique_ptr<RunnerBench>(int parallel)> make;
  int most_parallel = std::numeric_limits<int>::max();  ///< more are never asked for
};

class RunnerContract : public testing::TestWithParam<BenchMaker> {
 protected:
  /// A runner on which a study has begun, of `parallel` places or the most that it can have.
  void use(int parallel);
  /// A runner on which none has.
  void make(int parallel);
  /// A key for each trial that may run at the same time.
  [[nodiscard]] std::vector<TrialKey> key_for_each_place();
  /// The runner is destroyed, as it is.
  void destroy() { runner_.reset(); }
  /// Another runner in the same world, for the same study.
  void restart();

  [[nodiscard]] Runner& runner() { return *runner_; }
  [[nodiscard]] RunnerBench& bench() { return *bench_; }
  /// How many trials may be handed over at a time.
  [[nodiscard]] int places();

  void start(const TrialSpec& spec);

  /// Collects events until `done` says so; fails the test once the bench's patience is at its end.
  /// All events are checked for the order that the interface promises.
  std::vector<TrialEvent> wait_until(const std::function<bool(const TrialEvent&)>& done);
  /// Until each of the keys has finished.
  std::vector<TrialEvent> wait_for_end(std::vector<TrialKey> keys);
  /// Until each of the keys has reported.
  std::vector<TrialEvent> wait_for_reports(std::vector<TrialKey> keys);
  /// All that comes within `seconds` of the runner's clock.
  std::vector<TrialEvent> wait_for(double seconds);

 private:
  enum class Heard { accepted, started, finished };

  void check_order(const TrialEvent& event);

  std::unique_ptr<RunnerBench> bench_;
  std::unique_ptr<Runner> runner_;
  std::map<TrialKey, Heard> heard_;
  std::map<TrialKey, double> last_s_;  ///< time of the latest event
};

/// For runners that offer a `MachineHolder`.
class MachineHolderContract : public RunnerContract {
 protected:
  [[nodiscard]] MachineHolder& machines() { return runner().machine_holder(); }
};

/// The only `TrialFinished` of a key; fails the test if there is none or more than one.
[[nodiscard]] TrialFinished finished(const std::vector<TrialEvent>& events, TrialKey key);

/// The token that a trial's start told; fails the test if there was no start.
[[nodiscard]] std::string token_of(const std::vector<TrialEvent>& events, TrialKey key);

}  // namespace steptune::contract

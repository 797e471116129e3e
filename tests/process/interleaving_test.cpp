// SPDX-License-Identifier: Apache-2.0
// Tests real programs that take turns on this machine.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "common/machine/processes.hpp"
#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

class InterleavingTest : public LocalRunnerTest {
 protected:
  /// Returns a trial of the first round that makes `steps` steps, some 50 per second.
  [[nodiscard]] TrialSpec stepping(std::int64_t number, int steps,
                                   const std::string& before = "") const {
    TrialSpec spec = shell(before + R"(
      echo "pid $$"; i=0
      while [ $i -lt )" + std::to_string(steps) +
                           R"( ]; do
        i=$((i + 1)); sleep 0.02
        echo "[steptune] {\"v\":1,\"step\":$i,\"samples\":$i}"
      done)");
    spec.key = {number, 1};
    spec.log_path = folder() / ("trial-" + std::to_string(number) + ".log");
    spec.interleaved_round = 1;
    return spec;
  }

  /// Waits for one more event of this trial and type; passes other events to `on_event`.
  template <typename Event>
  Event wait_for(std::int64_t number, const std::function<void(const TrialEvent&)>& on_event = {}) {
    const SystemClock clock;
    for (const double give_up_s = clock.now_s() + 60.0; clock.now_s() < give_up_s;) {
      auto events = runner().wait(clock_.now_s() + 5.0);
      if (!events) throw std::runtime_error(events.error().text());
      std::optional<Event> found;
      for (const TrialEvent& event : *events) {
        if (on_event) on_event(event);
        const auto* wanted = std::get_if<Event>(&event);
        if (wanted != nullptr && wanted->key.trial == number) found = *wanted;
      }
      if (found) return *found;
    }
    throw std::runtime_error("nothing came");
  }
};

std::map<std::int64_t, TrialFinished> by_trial(const TrialRun& run) {
  std::map<std::int64_t, TrialFinished> ends;
  for (const TrialFinished& end : run.finished)
    ends[end.key.trial] = end;
  return ends;
}

TEST_F(InterleavingTest, ATrialsTimeStopsWhileAnotherRuns) {
  start(stepping(1, 80));
  start(stepping(2, 80));
  const TrialRun done = wait_for_end(2);
  auto ends = by_trial(done);
  for (const std::int64_t number : {1, 2}) {
    EXPECT_EQ(ends[number].outcome.kind, OutcomeKind::completed) << ends[number].outcome.detail;
    EXPECT_FALSE(ends[number].outcome.disturbance);
  }
  // Each trial counts only its own turns, so both together have at most the passed time.
  const double first_s = std::min(done.started.at(0).time_s, done.started.at(1).time_s);
  const double passed_s = std::max(ends[1].time_s, ends[2].time_s) - first_s;
  EXPECT_THAT(ends[1].outcome.duration_s + ends[2].outcome.duration_s, Le(passed_s + 0.05));
  EXPECT_THAT(ends[1].outcome.duration_s, Ge(80 * 0.02 * 0.5));
  EXPECT_EQ(done.started.at(0).placement.at(k_interleaved_fact), "1");
}

TEST_F(InterleavingTest, TheSecondStartsAfterTheFirstReports) {
  start(stepping(1, 1000));
  start(stepping(2, 1000));
  std::vector<std::string> order;
  const auto note = [&](const TrialEvent& event) {
    const std::string trial = std::to_string(key_of(event).trial);
    if (std::holds_alternative<TrialStarted>(event)) order.push_back("start " + trial);
    if (const auto* pause = std::get_if<TrialPaused>(&event)) {
      order.push_back((pause->resumes ? "on " : "stop ") + trial);
    }
  };
  while (order.size() < 7)
    (void)wait_for<TrialPaused>(order.size() < 2 ? 1 : 2, note);
  order.resize(7);
  EXPECT_THAT(order,
              ElementsAre("start 1", "stop 1", "start 2", "stop 2", "on 1", "stop 1", "on 2"));
  runner().kill_all();
  (void)wait_for_end(2);
}

TEST_F(InterleavingTest, TrialsStartSideBySideOnceTheirMemoryIsKnown) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  start(stepping(1, 20));
  (void)wait_for_end(1);
  // Each of these trials waits at its start for the other one.
  const auto meeting = [&](std::int64_t number, const std::string& own, const std::string& other) {
    return stepping(number, 40,
                    "cd " + folder().string() + "; touch " + own + "; while [ ! -e " + other +
                        " ]; do sleep 0.01; done;");
  };
  start(meeting(2, "two", "three"));
  start(meeting(3, "three", "two"));
  const TrialRun done = wait_for_end(2);
  auto ends = by_trial(done);
  for (const std::int64_t number : {2, 3})
    EXPECT_EQ(ends[number].outcome.kind, OutcomeKind::completed) << ends[number].outcome.detail;
  // They pay for the time that passed, not for the common part of their starts twice.
  const double first_s = std::min(done.started.at(0).time_s, done.started.at(1).time_s);
  const double passed_s = std::max(ends[2].time_s, ends[3].time_s) - first_s;
  EXPECT_THAT(ends[2].outcome.billed_s + ends[3].outcome.billed_s, Le(passed_s + 0.05));
}

TEST_F(InterleavingTest, AllProcessesOfAWaitingTrialAreStopped) {
  // The trial reports only after its child has printed its own process id.
  const std::string ready = (folder() / "ready").string();
  start(stepping(1, 1000,
                 "mkfifo " + ready + "; setsid sh -c 'echo pid $$; echo >" + ready +
                     "; while :; do sleep 0.01; done' & read -r line <" + ready + ";"));
  start(stepping(2, 1000));
  (void)wait_for<TrialStarted>(2);
  const std::vector<pid_t> pids = pids_in(read_file(folder() / "trial-1.log"));
  ASSERT_THAT(pids, SizeIs(2));
  // Turns change only inside of `wait`.
  EXPECT_TRUE(eventually([&] {
    (void)runner().wait(clock_.now_s() + 0.02);
    return std::ranges::all_of(pids, [](pid_t pid) { return read_stat(pid).value().state == 'T'; });
  }));
  runner().kill_all();
  (void)wait_for_end(2);
  EXPECT_THAT(alive(pids), IsEmpty());
}

/// Each launcher has two ranks, which meet in each step and fail if they wait for 5 s. Each rank of
/// `mpirun` has its own process group, each rank of `torchrun` its own session.
TEST_F(InterleavingTest, RanksAreStoppedWithTheirLauncher) {
  const auto launched = [&](std::int64_t number, const std::string& launcher) {
    TrialSpec spec = trial({"/usr/bin/python3", STEPTUNE_SOURCE_DIR "/tests/fakes/launcher.py",
                            launcher, "0", "0.02", "100"});
    spec.key = {number, 1};
    spec.log_path = folder() / ("trial-" + std::to_string(number) + ".log");
    spec.interleaved_round = 1;
    return spec;
  };
  start(launched(1, "mpirun"));
  start(launched(2, "torchrun"));
  (void)wait_for<TrialStarted>(2);
  std::vector<pid_t> pids;
  EXPECT_TRUE(eventually([&] {
    (void)runner().wait(clock_.now_s() + 0.02);
    pids = pids_in(read_file(folder() / "trial-1.log"));
    return pids.size() == 3;
  }));
  // Turns change only inside of `wait`.
  EXPECT_TRUE(eventually([&] {
    (void)runner().wait(clock_.now_s() + 0.02);
    return std::ranges::all_of(pids, [](pid_t pid) { return read_stat(pid).value().state == 'T'; });
  }));
  auto ends = by_trial(wait_for_end(2));
  for (const std::int64_t number : {1, 2})
    EXPECT_EQ(ends[number].outcome.kind, OutcomeKind::completed) << ends[number].outcome.detail;
  EXPECT_THAT(alive(pids), IsEmpty());
}

TEST_F(InterleavingTest, ARunThatFailsLeavesTheMachineToTheOther) {
  start(stepping(1, 40, "exec 2>&1; trap 'echo no port; exit 3' EXIT;"));
  start(stepping(2, 60));
  auto ends = by_trial(wait_for_end(2));
  EXPECT_EQ(ends[1].outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(ends[1].outcome.detail, HasSubstr("no port"));
  EXPECT_EQ(ends[2].outcome.kind, OutcomeKind::completed);
}

TEST_F(InterleavingTest, ARunThatIsKilledWhileItWaitsLeavesTheMachineToTheOther) {
  start(stepping(1, 100'000, "sleep 1000 & echo \"pid $!\";"));
  start(stepping(2, 200));
  (void)wait_for<TrialStarted>(2);
  const std::vector<pid_t> pids = pids_in(read_file(folder() / "trial-1.log"));
  ASSERT_THAT(pids, SizeIs(2));
  const pid_t main = pids.back();
  // Turns change only inside of `wait`, so the run is still stopped when it is killed.
  ASSERT_TRUE(eventually([&] {
    (void)runner().wait(clock_.now_s() + 0.02);
    return read_stat(main).value().state == 'T';
  }));
  ::kill(main, SIGKILL);
  auto ends = by_trial(wait_for_end(2));
  EXPECT_EQ(ends[1].outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(ends[1].outcome.detail, HasSubstr("SIGKILL"));
  EXPECT_EQ(ends[2].outcome.kind, OutcomeKind::completed) << ends[2].outcome.detail;
  EXPECT_THAT(alive(pids), IsEmpty()) << "its child was stopped, too";
}

TEST_F(InterleavingTest, ProgramsMayHandleOrIgnoreTheResumingSignal) {
  start(stepping(1, 80, "trap 'echo again' CONT;"));
  start(stepping(2, 80, "trap '' CONT;"));
  auto ends = by_trial(wait_for_end(2));
  for (const std::int64_t number : {1, 2})
    EXPECT_EQ(ends[number].outcome.kind, OutcomeKind::completed) << ends[number].outcome.detail;
  EXPECT_THAT(read_file(folder() / "trial-1.log"), HasSubstr("again"));
}

TEST_F(InterleavingTest, AStopReachesATrialThatWaits) {
  start(stepping(1, 1000, "trap 'echo in order; exit 0' TERM;"));
  start(stepping(2, 1000));
  (void)wait_for<TrialStarted>(2);
  runner().stop({1, 1});
  const auto end = wait_for<TrialFinished>(1);
  EXPECT_EQ(end.outcome.kind, OutcomeKind::stopped);
  EXPECT_THAT(read_file(folder() / "trial-1.log"), HasSubstr("in order"));
  runner().kill_all();
  (void)wait_for_end(1);
}

TEST_F(InterleavingTest, AStopBeforeTheStartIsAnEnd) {
  start(stepping(1, 1000));
  start(stepping(2, 1000));
  runner().stop({2, 1});
  EXPECT_EQ(wait_for<TrialFinished>(2).outcome.kind, OutcomeKind::stopped);
  runner().kill_all();
  (void)wait_for_end(1);
}

TEST_F(InterleavingTest, AProgramThatPrintsWhileItIsStoppedIsFound) {
  start(stepping(1, 100'000));
  start(stepping(2, 100'000));
  (void)wait_for<TrialStarted>(1);
  const pid_t main = own_children().at(0);
  // As with `docker run`, the output comes from a process outside of the trial.
  std::atomic<bool> done = false;
  std::thread elsewhere([&] {
    std::ofstream output("/proc/" + std::to_string(main) + "/fd/1");
    while (!done) {
      output << "line" << std::endl;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  while (!wait_for<TrialPaused>(1).prints_while_paused) {
  }
  done = true;
  elsewhere.join();
  runner().kill_all();
  (void)wait_for_end(2);
}

TEST_F(InterleavingTest, OtherTrialsAndRoundsHaveNoPlaceBesideThem) {
  start(stepping(1, 1000));
  TrialSpec other = stepping(2, 10);
  other.interleaved_round = 2;
  EXPECT_EQ(runner().start(other).error().kind, ErrorKind::unavailable);
  other.interleaved_round = 0;
  EXPECT_EQ(runner().start(other).error().kind, ErrorKind::unavailable);
  runner().kill_all();
  (void)wait_for_end(1);
}

}  // namespace
}  // namespace steptune::process_tests

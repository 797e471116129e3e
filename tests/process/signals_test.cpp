// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <variant>

#include <gmock/gmock.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

volatile std::sig_atomic_t g_interrupts = 0;

class SignalsTest : public LocalRunnerTest {
 protected:
  SignalsTest() {
    g_interrupts = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupts = g_interrupts + 1; };
    ::sigaction(SIGINT, &action, &before_);
  }
  ~SignalsTest() override { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

TEST_F(SignalsTest, ASignalEndsAWait) {
  const TrialSpec spec = shell("kill -INT $PPID; exec sleep 1000");
  start(spec);
  const double deadline_s = clock_.now_s() + 500.0;
  while (g_interrupts == 0) {
    ASSERT_TRUE(runner().wait(deadline_s));
    ASSERT_LT(clock_.now_s(), deadline_s);
  }
  EXPECT_EQ(g_interrupts, 1);
}

TEST_F(SignalsTest, ASignalBetweenTwoWaitsIsNotMissed) {
  use();
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(g_interrupts, 0) << "held back until the tuner waits";
  const double deadline_s = clock_.now_s() + 500.0;
  ASSERT_TRUE(runner().wait(deadline_s));
  EXPECT_EQ(g_interrupts, 1);
  EXPECT_LT(clock_.now_s(), deadline_s);
}

TEST_F(SignalsTest, AChattyTrialDoesNotKeepSignalsOut) {
  start(shell("exec yes"));
  for (int i = 1; i <= 20; ++i) {
    ::kill(::getpid(), SIGINT);
    ASSERT_TRUE(runner().wait(clock_.now_s() + 10.0));
    ASSERT_EQ(g_interrupts, i);
  }
}

TEST_F(SignalsTest, TheMaskIsRestored) {
  sigset_t before;
  sigset_t after;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before);
  use();
  drop_runner();
  ::pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    EXPECT_EQ(::sigismember(&before, signal), ::sigismember(&after, signal));
  }
}

/// A terminal signals the tuner's process group.
TEST_F(SignalsTest, TheTrialIsInAnotherProcessGroupThanTheTuner) {
  TrialSpec spec = shell("echo ready; exec sleep 1000");
  start(spec);
  wait_for_output(spec, "ready");
  const std::vector<pid_t> children = own_children();
  ASSERT_EQ(children.size(), 1U);
  EXPECT_EQ(::getpgid(children.front()), children.front());
  EXPECT_NE(::getpgrp(), children.front());
}

SkippingClock* g_clock = nullptr;

TEST_F(SignalsTest, TimeInWhichTheMachineSleptCountsForNoLimit) {
  TrialSpec spec = shell("echo ready; exec sleep 1000");
  spec.limits.idle_s = 100.0;
  spec.limits.wall_s = 200.0;
  start(spec);
  wait_for_output(spec, "ready");
  // The clock jumps while the runner waits, as in a suspend.
  g_clock = &clock_;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { g_clock->skip(5000.0); };
  ::sigaction(SIGALRM, &action, &before);
  const itimerval soon{{}, {0, 20'000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  const auto slept = runner().wait(clock_.now_s() + 10.0);
  ::sigaction(SIGALRM, &before, nullptr);
  ASSERT_TRUE(slept);
  for (int i = 0; i < 3; ++i) {
    const auto events = runner().wait(clock_.now_s() + 0.02);
    ASSERT_TRUE(events);
    EXPECT_TRUE(std::ranges::none_of(*events, [](const TrialEvent& event) {
      return std::holds_alternative<TrialFinished>(event);
    }));
  }
  clock_.skip(150.0);
  EXPECT_EQ(wait_for_end().outcome().kind, OutcomeKind::hung)
      << "the limit applies while the machine is awake";
}

}  // namespace
}  // namespace steptune::process_tests

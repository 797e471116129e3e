// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/live/attached_runner.hpp"

#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/json.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/trial_runner/fake_hook.hpp"

namespace steptune::live {
namespace {

class AttachedRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    life_ = UniqueFd(ends[1]);
    LiveChannel channel = LiveChannel::open().value();
    path_ = channel.path();
    hook_.emplace(path_, world_size_);
    program_.emplace(clock_, std::move(channel), UniqueFd(ends[0]));
    ASSERT_TRUE(program_->steps(clock_.now_s()).empty());
    runner_ = make_attached_runner(clock_, *program_);
    ASSERT_TRUE(runner_->begin_study("s", "s@1"));
  }

  /// Returns a trial with 2 workers; with a level it takes turns.
  static TrialSpec trial(std::int64_t number, std::optional<double> level) {
    TrialSpec spec;
    spec.key = {number, 1};
    spec.live = LiveTrial{{{"num_workers", std::int64_t{2}}}, {}, level, {}};
    return spec;
  }
  [[nodiscard]] std::vector<TrialEvent> now() const {
    return runner_->wait(clock_.now_s()).value();
  }
  /// Ends the program.
  void end() { life_.reset(); }

  VirtualClock clock_;
  int world_size_ = 1;
  UniqueFd life_;
  std::filesystem::path path_;
  std::optional<FakeHook> hook_;
  std::optional<AttachedProgram> program_;
  std::unique_ptr<Runner> runner_;
};

template <typename Event>
std::vector<Event> only(const std::vector<TrialEvent>& events) {
  std::vector<Event> found;
  for (const TrialEvent& event : events) {
    if (const auto* held = std::get_if<Event>(&event)) found.push_back(*held);
  }
  return found;
}

Result<LiveChannel> opened_under(const std::filesystem::path& folder) {
  const char* given = ::getenv("TMPDIR");
  const std::string kept = given == nullptr ? "" : given;
  ::setenv("TMPDIR", folder.c_str(), 1);
  auto opened = LiveChannel::open();
  given == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  return opened;
}

TEST(LiveChannel, RemovesOnlyFilesOfKilledTuners) {
  const TemporaryFolder folder("live_channel");
  auto killed = opened_under(folder.path());
  ASSERT_TRUE(killed);
  const std::filesystem::path left = killed->path().parent_path();
  killed->abandon();
  killed = opened_under(folder.path());
  ASSERT_TRUE(killed);
  EXPECT_TRUE(std::filesystem::exists(left)) << "somebody listened";
  const std::filesystem::path other = folder.path() / "steptune-live-other";
  std::filesystem::create_directory(other);
  const auto next = opened_under(folder.path());
  ASSERT_TRUE(next);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(killed->path())) << "a socket with a listener is kept";
  EXPECT_TRUE(std::filesystem::exists(other)) << "its owner is unknown";
}

TEST(LiveChannel, AMissingTemporaryFolderSaysWhatToDo) {
  const auto opened = opened_under("/no/such/folder");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::runner);
  EXPECT_EQ(opened.error().hint, "set TMPDIR to a folder that can be written");
}

TEST_F(AttachedRunnerTest, MeasuresAloneWithoutABaselineLevel) {
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  ASSERT_TRUE(now().empty());
  const auto received = hook_->switches();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["knobs"], Json({{"num_workers", 2}}));
  clock_.advance_to(clock_.now_s() + 40.0);  // the program starts
  hook_->make_steps(30, 0.05);
  const auto events = now();
  const auto started = only<TrialStarted>(events);
  ASSERT_EQ(started.size(), 1U);
  EXPECT_TRUE(started[0].placement.contains(k_shared_program));
  EXPECT_DOUBLE_EQ(started[0].program_startup_s, 40.0);
  const auto reported = only<TrialReported>(events);
  ASSERT_GT(reported.size(), 2U);
  const Report& first = reported[1].report;
  const Report& last = reported.back().report;
  EXPECT_NEAR((*last.clock_s - *first.clock_s) / (*last.step - *first.step), 0.05, 1e-6);
  EXPECT_NEAR(*first.clock_s / *first.step, 0.05, 1e-6) << "a live trial has no start-up";
  EXPECT_DOUBLE_EQ(*last.samples, 8.0 * *last.step);
  runner_->stop({1, 1});
  EXPECT_EQ(only<TrialFinished>(now()).at(0).outcome.kind, OutcomeKind::stopped);
  const auto after = hook_->switches();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0]["knobs"], Json::object());
  EXPECT_FALSE(after[0].contains("last"));
}

TEST_F(AttachedRunnerTest, TakesTurnsWithTheBaselineAtItsLevel) {
  ASSERT_TRUE(runner_->start(trial(2, 0.05 / 8.0)));
  std::vector<Report> reports;
  std::vector<Json> knobs;
  for (int turn = 0; turn < 8; ++turn) {
    for (const TrialReported& event : only<TrialReported>(now()))
      reports.push_back(event.report);
    hook_->make_steps(2, 50.0);  // before it has read the switch, so they do not count
    for (const Json& change : hook_->switches())
      knobs.push_back(change["knobs"]);
    // Twice as fast, on a machine that is ten times slower than during the baseline's measurement.
    ASSERT_FALSE(knobs.empty());
    hook_->make_steps(12, knobs.back().empty() ? 0.5 : 0.25);
  }
  const Json baseline = Json::object();
  const Json trial = {{"num_workers", 2}};
  EXPECT_EQ(std::vector<Json>(knobs.begin(), knobs.begin() + 5),
            (std::vector<Json>{baseline, trial, baseline, trial, baseline}));
  ASSERT_GT(reports.size(), 3U);
  const double seconds = *reports.back().clock_s - *reports[1].clock_s;
  EXPECT_NEAR(seconds / (*reports.back().step - *reports[1].step), 0.025, 1e-6);
}

TEST_F(AttachedRunnerTest, ATrialIsLostWithItsProgram) {
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  end();
  EXPECT_EQ(only<TrialFinished>(now()).at(0).outcome.kind, OutcomeKind::lost);
  EXPECT_TRUE(program_->is_gone());
  ASSERT_TRUE(runner_->start(trial(2, std::nullopt)));
  EXPECT_EQ(only<TrialFinished>(now()).at(0).outcome.kind, OutcomeKind::lost);
}

TEST_F(AttachedRunnerTest, AHookThatDisconnectsCountsAsTheEndOfItsProgram) {
  hook_->make_steps(1, 0.1);
  hook_->leave();
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  EXPECT_EQ(only<TrialFinished>(now()).at(0).outcome.kind, OutcomeKind::lost);
  EXPECT_TRUE(program_->is_gone());
  EXPECT_FALSE(program_->ends_within(0.0));
}

TEST_F(AttachedRunnerTest, ATrialThatNeedsAProcessIsNotStarted) {
  TrialSpec spec = trial(1, std::nullopt);
  spec.live.reset();
  ASSERT_TRUE(runner_->start(spec));
  EXPECT_EQ(only<TrialFinished>(now()).at(0).outcome.kind, OutcomeKind::not_started);
  EXPECT_TRUE(hook_->switches().empty());
}

TEST_F(AttachedRunnerTest, RefusesASecondTrialAndASecondStudy) {
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  EXPECT_EQ(runner_->start(trial(1, std::nullopt)).error().kind, ErrorKind::conflict);
  EXPECT_EQ(runner_->start(trial(2, std::nullopt)).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(runner_->begin_study("t", "t@1").error().kind, ErrorKind::conflict);
}

TEST_F(AttachedRunnerTest, LeavesTheProgramWithTheLastSettings) {
  hook_->make_steps(4, 0.1);
  ASSERT_EQ(program_->steps(clock_.now_s()).size(), 4U);
  program_->leave({{"num_workers", std::int64_t{2}}});
  const auto received = hook_->switches();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["last"], true);
  EXPECT_EQ(received[0]["from_step"], 5);
}

TEST_F(AttachedRunnerTest, ProcessesThatTrainSideBySideAreNotSwitched) {
  const FakeHook other(path_);
  static_cast<void>(program_->steps(clock_.now_s()));
  ASSERT_TRUE(program_->unusable());
  EXPECT_EQ(*program_->unusable(), "several processes train without ranks");
}

class AttachedRanksTest : public AttachedRunnerTest {
 protected:
  AttachedRanksTest() { world_size_ = 2; }
};

TEST_F(AttachedRanksTest, HearOfASwitchAFewStepsBefore) {
  hook_->make_steps(5, 0.0625);
  ASSERT_EQ(program_->steps(clock_.now_s()).size(), 5U);
  static_cast<void>(program_->switch_to({}));
  EXPECT_EQ(hook_->switches().at(0)["from_step"], 9)
      << "a tenth of a second later, at 16 steps a second";
}

TEST_F(AttachedRanksTest, HearOfASwitchInTimeAfterASlowStart) {
  hook_->make_steps(1, 20.0);
  hook_->make_steps(40, 0.0078125);
  ASSERT_EQ(program_->steps(clock_.now_s()).size(), 41U);
  static_cast<void>(program_->switch_to({}));
  EXPECT_EQ(hook_->switches().at(0)["from_step"], 56)
      << "a tenth of a second later, at 128 steps a second";
}

TEST_F(AttachedRanksTest, ARefusalOfOneRankCounts) {
  const FakeHook second(path_, world_size_, /*rank=*/1);
  const auto row = [](const FakeHook& rank, const char* fields) {
    rank.say(
        fmt::format(R"({{"hook":{{"event":"knob","knob":"num_workers","today":0,{}}}}})", fields));
  };
  const auto why = [this] {
    static_cast<void>(program_->steps(clock_.now_s()));
    const KnobState& state = program_->log().knobs().at("num_workers");
    return state.may ? "may" : state.why;
  };
  row(second, R"("may":true,"value":2)");
  row(*hook_, R"("may":true,"value":2)");
  EXPECT_EQ(why(), "may");
  row(second, R"("may":false,"value":0,"why":"a worker was killed")");
  EXPECT_EQ(why(), "on rank 1: a worker was killed");
  row(*hook_, R"("may":true,"value":0)");
  EXPECT_EQ(why(), "on rank 1: a worker was killed") << "whatever rank 0 says of itself";
  row(*hook_, R"("may":false,"value":0,"why":"its own")");
  EXPECT_EQ(why(), "its own");
  row(*hook_, R"("may":true,"value":0)");
  row(second, R"("may":true,"value":0)");
  EXPECT_EQ(why(), "may");
}

TEST_F(AttachedRanksTest, EventsOfAllRanksPrecedeTheFirstSwitchedStep) {
  const FakeHook second(path_, world_size_, /*rank=*/1);
  const auto row = [](const FakeHook& rank, const char* fields) {
    rank.say(
        fmt::format(R"({{"hook":{{"event":"knob","knob":"num_workers","today":0,{}}}}})", fields));
  };
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  static_cast<void>(hook_->switches());
  row(*hook_, R"("may":true,"value":2)");
  row(second, R"("may":false,"value":0,"why":"no memory")");
  hook_->make_steps(10, 0.05);
  const auto reports = only<TrialReported>(now());
  ASSERT_FALSE(reports.empty());
  ASSERT_EQ(reports[0].report.hook_events.size(), 2U) << "each rank's row";
  HookLog received;
  for (const std::string& event : reports[0].report.hook_events)
    received.add(event);
  EXPECT_EQ(received.knobs().at("num_workers").why, "on rank 1: no memory");
}

TEST_F(AttachedRunnerTest, AnInfiniteLossRestoresTheProgramsSettings) {
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  ASSERT_TRUE(now().empty());
  static_cast<void>(hook_->switches());
  hook_->make_steps(1, 0.05, R"(,"loss":0.5)");
  hook_->make_steps(1, 0.05, R"(,"not_finite":["loss"])");
  const auto finished = only<TrialFinished>(now());
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(finished[0].outcome.detail, testing::HasSubstr("infinite or NaN"));
  EXPECT_THAT(program_->unusable().value(), testing::HasSubstr("in trial 1"));
  const auto received = hook_->switches();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["knobs"], Json::object());
}

TEST_F(AttachedRunnerTest, TrialsAreLostIfTheHookWithdraws) {
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  hook_->say(R"({"hook":{"event":"disabled","why":"two optimisers"}})");
  const auto finished = only<TrialFinished>(now());
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].outcome.kind, OutcomeKind::lost);
  EXPECT_EQ(finished[0].outcome.detail, "the hook switched itself off: two optimisers");
}

TEST_F(AttachedRunnerTest, ALaterRefusalOfSettingsIsReported) {
  const auto row = [this](const char* fields) {
    hook_->say(
        fmt::format(R"({{"hook":{{"event":"knob","knob":"num_workers","today":0,{}}}}})", fields));
  };
  const auto received = [this] {
    std::vector<std::string> events;
    for (const TrialReported& reported : only<TrialReported>(now()))
      events.insert(events.end(), reported.report.hook_events.begin(),
                    reported.report.hook_events.end());
    return events;
  };
  ASSERT_TRUE(runner_->start(trial(1, std::nullopt)));
  static_cast<void>(hook_->switches());
  row(R"("may":true,"value":2)");
  hook_->make_steps(10, 0.05);
  EXPECT_EQ(received().size(), 1U);
  row(R"("may":false,"value":0,"why":"a worker was killed")");
  hook_->make_steps(10, 0.05);
  const auto refusals = received();
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_THAT(refusals[0], testing::HasSubstr("a worker was killed"));
  hook_->make_steps(10, 0.05);
  EXPECT_TRUE(received().empty()) << "once";
}

TEST_F(AttachedRunnerTest, TheTunerSendsASignOfLifeAtTheStartAndEverySecond) {
  EXPECT_EQ(hook_->signs_of_life(), 1) << "a program waits for the first message";
  clock_.advance_to(clock_.now_s() + 1.0);
  const auto reported_after = [this](double seconds) {
    clock_.advance_to(clock_.now_s() + seconds);
    hook_->make_steps(1, 0.1);
    static_cast<void>(program_->steps(clock_.now_s()));
    return hook_->signs_of_life();
  };
  EXPECT_EQ(reported_after(0.0), 1);
  EXPECT_EQ(reported_after(0.5), 0);
  EXPECT_EQ(reported_after(0.5), 1);
  clock_.advance_to(clock_.now_s() + 60.0);
  static_cast<void>(program_->steps(clock_.now_s()));
  EXPECT_EQ(hook_->signs_of_life(), 0) << "a program that makes no steps reads no messages";
}

}  // namespace
}  // namespace steptune::live

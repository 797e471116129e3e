// SPDX-License-Identifier: Apache-2.0
// Tests single faults of a cluster under a virtual clock.
#include "trial_runner/slurm/virtual_cluster.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/outcome_text.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/job_names.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"

namespace steptune::slurm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class SlurmRunnerOnAVirtualCluster : public ::testing::Test {
 protected:
  void use(SlurmOptions options = {}) {
    runner_ = std::make_unique<SlurmRunner>(clock_, cluster_.make_host(), std::move(options));
    const auto begun = runner_->begin_study("virtual", "1");
    ASSERT_TRUE(begun) << begun.error().text();
  }
  static TrialSpec spec_of(std::int64_t trial, const AllocationSpec& requested = {},
                           int attempt = 1, Configuration configuration = {}) {
    TrialSpec spec;
    spec.configuration = std::move(configuration);
    spec.key = {trial, attempt};
    spec.argv = {"train"};
    spec.resources = to_resources(requested);
    spec.limits.wall_s = 600.0;
    return spec;
  }
  void start(std::int64_t trial, const AllocationSpec& requested = {}, int attempt = 1,
             Configuration configuration = {}) {
    const auto started =
        runner_->start(spec_of(trial, requested, attempt, std::move(configuration)));
    ASSERT_TRUE(started) << started.error().text();
  }
  /// Waits until this many trials have ended, or the time is over.
  void wait_for(std::size_t trials, double patience_s = 7200.0) {
    const double until_s = clock_.now_s() + patience_s;
    while (ended_.size() < trials && clock_.now_s() < until_s && !HasFailure())
      take_events(until_s);
    EXPECT_GE(ended_.size(), trials) << "not ended in time";
  }
  void let_pass(double seconds) {
    const double until_s = clock_.now_s() + seconds;
    while (clock_.now_s() < until_s && !HasFailure())
      take_events(until_s);
  }
  void take_events(double until_s) {
    const auto events = runner_->wait(until_s);
    ASSERT_TRUE(events) << events.error().text();
    for (const TrialEvent& event : *events) {
      const auto* start = std::get_if<TrialStarted>(&event);
      if (start != nullptr) placements_[start->key.trial] = start->placement;
      const auto* end = std::get_if<TrialFinished>(&event);
      if (end != nullptr) ended_[end->key.trial] = end->outcome;
    }
  }
  void release() {
    const auto released = runner_->release(300.0);
    ASSERT_TRUE(released) << released.error().text();
    EXPECT_EQ(cluster_.live_jobs(), 0) << "an allocation is left";
  }
  [[nodiscard]] int count(const std::string& command, const std::string& word = "") const {
    return static_cast<int>(std::ranges::count_if(cluster_.commands(), [&](const auto& entry) {
      const auto& argv = entry.second;
      return argv.front() == command &&
             (word.empty() || std::ranges::find(argv, word) != argv.end());
    }));
  }
  void expect_end(std::int64_t trial, OutcomeKind kind) {
    EXPECT_EQ(to_text(ended_[trial].kind), to_text(kind)) << trial << ": " << ended_[trial].detail;
  }
  /// Loses trial 1 with its nodes or its job. Then runs trial 2, which requests an equal
  /// allocation.
  void lose_one_and_run_another(const AllocationSpec& requested = {}) {
    start(1, requested);
    wait_for(1);
    expect_end(1, OutcomeKind::lost);
    start(2, requested);
    wait_for(2);
    expect_end(2, OutcomeKind::completed);
    release();
  }
  /// Ends the cluster's first job in this way, and lets others run.
  void end_first_job(double after_s, const std::string& as, double grace_s = 0.0) {
    cluster_.fate = [=, this](const VirtualJob&) {
      JobFate fate;
      if (!cluster_.jobs().empty()) return fate;
      fate.ends_after_s = after_s;
      fate.ends_as = as;
      fate.grace_s = grace_s;
      return fate;
    };
  }
  static VirtualProgram runs_for(double seconds) { return {0.1, seconds, 0, 143}; }
  static VirtualProgram quick(const StepRequest&) { return {0.1, 5.0, 0, 143}; }
  static bool is(const std::vector<std::string>& argv, const char* command) {
    return argv.front() == command;
  }
  static constexpr const char* k_port_taken =
      "RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address "
      "already in use).";
  /// Returns the port at which the tasks are to meet; empty if there is none.
  static std::string port_in(const StepRequest& request) {
    constexpr std::string_view k_before = "MASTER_PORT=";
    const std::string& script = request.argv.back();
    const std::size_t found = script.find(k_before);
    if (found == std::string::npos) return {};
    const std::size_t begin = found + k_before.size();
    return script.substr(begin, script.find('\n', begin) - begin);
  }

  VirtualClock clock_{1'795'000'000.0};
  VirtualCluster cluster_{clock_};
  std::unique_ptr<SlurmRunner> runner_;
  std::map<std::int64_t, Outcome> ended_;
  std::map<std::int64_t, std::map<std::string, std::string>> placements_;
};

TEST_F(SlurmRunnerOnAVirtualCluster, RunsTrialsOneAfterAnotherInOneAllocation) {
  cluster_.program = quick;
  use();
  start(1);
  start(2);
  wait_for(2);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  EXPECT_EQ(count("sbatch"), 1);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, StepsOfOneAllocationMayHaveDifferentTasks) {
  SlurmOptions options;
  options.tasks_per_node = {
      "tasks", [](const Configuration& configuration) {
        return static_cast<double>(std::get<std::int64_t>(configuration.values().at("tasks")));
      }};
  std::vector<StepRequest> steps;
  cluster_.program = [&](const StepRequest& request) {
    steps.push_back(request);
    return quick(request);
  };
  use(options);
  Configuration configuration;
  for (std::int64_t tasks = 1; tasks <= 2; ++tasks) {
    configuration.set("tasks", tasks);
    start(tasks, AllocationSpec{2, {}}, 1, configuration);
  }
  wait_for(2);
  EXPECT_EQ(count("sbatch"), 1);
  EXPECT_EQ(count("sbatch", "--ntasks-per-node=1"), 1) << "whole nodes have room for all";
  ASSERT_EQ(steps.size(), 2U);
  for (const int tasks : {1, 2}) {
    const StepRequest& step = tasks == 1 ? steps.front() : steps.back();
    EXPECT_EQ(step.tasks, 2 * tasks);
    EXPECT_THAT(step.argv, Contains(fmt::format("--ntasks-per-node={}", tasks)));
  }
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, RequestsAllMemoryOfTheNodesUnlessTheSpecNamesSome) {
  std::vector<StepRequest> steps;
  cluster_.program = [&](const StepRequest& request) {
    steps.push_back(request);
    return quick(request);
  };
  use();
  start(1);
  start(2, AllocationSpec{1, {"mem=8G"}});
  wait_for(2);
  start(3, AllocationSpec{1, {std::string(k_site_memory)}});
  wait_for(3);
  EXPECT_EQ(count("sbatch"), 3) << "other memory, another allocation";
  EXPECT_EQ(count("sbatch", "--mem=0"), 1);
  EXPECT_EQ(count("sbatch", "--mem=8G"), 1);
  EXPECT_EQ(count("sbatch", "--mem=site"), 0);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_THAT(steps[0].argv, Contains("--mem=0")) << "a step would get the site's default";
  for (const std::size_t step : {1U, 2U})
    EXPECT_THAT(steps[step].argv, Not(Contains(HasSubstr("--mem")))) << step;
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, RecordsTheNodesOnWhichATrialRan) {
  cluster_.program = quick;
  use();
  start(1, AllocationSpec{2, {}});
  wait_for(1);
  EXPECT_EQ(placements_[1]["hosts"], "n1 n2");
  EXPECT_EQ(placements_[1]["cpu"], "EPYC 7763");
  EXPECT_EQ(placements_[1]["kernel"], "6.1.1, 6.1.2");
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, MissingMemoryIsSeenInTheOutput) {
  const char* const printed[] = {
      "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory", "OOM when allocating tensor",
      "failed to alloc 8589934592 bytes: CUDA_ERROR_OUT_OF_MEMORY", "KeyError: 'memory'"};
  std::size_t next = 0;
  cluster_.program = [&](const StepRequest&) {
    VirtualProgram program{0.1, 5.0, 1, 143};
    program.last_words = printed[next++];
    return program;
  };
  use();
  for (int trial = 1; trial <= 4; ++trial) {
    start(trial);
    wait_for(static_cast<std::size_t>(trial));
  }
  for (int trial = 1; trial <= 3; ++trial)
    expect_end(trial, OutcomeKind::out_of_memory);
  expect_end(4, OutcomeKind::failed);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ALaterErrorReplacesASurvivedLackOfMemory) {
  cluster_.program = [](const StepRequest&) {
    VirtualProgram program{0.1, 5.0, 1, 143};
    program.last_words =
        "CUDA out of memory: the next batch is half as large\n"
        "[steptune] {\"v\":1,\"step\":1001,\"samples\":16016}\n"
        "[steptune] {\"v\":1,\"step\":1002,\"samples\":16032}\n"
        "KeyError: 'label'";
    return program;
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::failed);
  EXPECT_THAT(ended_[1].detail, HasSubstr("KeyError"));
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ATakenPortIsReplacedInTheNextAttempt) {
  std::vector<std::string> ports;
  cluster_.program = [&ports](const StepRequest& request) {
    ports.push_back(port_in(request));
    VirtualProgram program{0.1, 0.5, ports.size() == 1 ? 1 : 0, 143};
    if (ports.size() == 1) program.last_words = k_port_taken;
    return program;
  };
  use();
  start(1, AllocationSpec{2, {}});
  wait_for(1);
  expect_end(1, OutcomeKind::lost);
  EXPECT_THAT(ended_[1].detail, HasSubstr("port at which its tasks were to meet is in use"));
  ended_.clear();
  start(1, AllocationSpec{2, {}}, 2);
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_FALSE(ports[0].empty());
  EXPECT_NE(ports[0], ports[1]);
  EXPECT_EQ(count("sbatch"), 1) << "the nodes are still usable";
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, APortThatTheProgramChoseItselfIsItsOwnFailure) {
  // A single task meets nobody, so it got no port.
  cluster_.program = [](const StepRequest& request) {
    EXPECT_EQ(port_in(request), "");
    VirtualProgram program{0.1, 0.5, 1, 143};
    program.last_words = k_port_taken;
    return program;
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::failed);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, APortErrorAfterProgressIsTheProgramsFailure) {
  cluster_.program = [](const StepRequest&) {
    VirtualProgram program{0.1, 5.0, 1, 143};
    program.last_words = k_port_taken;
    return program;
  };
  use();
  start(1, AllocationSpec{2, {}});
  wait_for(1);
  expect_end(1, OutcomeKind::failed);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AnAllocationThatIsAlwaysTooShortIsRequestedOnce) {
  cluster_.fate = [](const VirtualJob&) {
    JobFate fate;
    fate.limit_s = 300.0;
    return fate;
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::not_started);
  EXPECT_THAT(ended_[1].detail, HasSubstr("too short"));
  EXPECT_THAT(ended_[1].detail, HasSubstr("\"time\" of \"runner\""));
  EXPECT_THAT(ended_[1].detail, HasSubstr("\"max_trial\""));
  EXPECT_EQ(count("sbatch"), 1);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, EndedAllocationsAreRequestedThreeTimes) {
  cluster_.program = quick;
  cluster_.fate = [](const VirtualJob&) {
    JobFate fate;
    fate.ends_after_s = 0.0;
    fate.ends_as = "FAILED";
    return fate;
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::not_started);
  EXPECT_THAT(ended_[1].detail, HasSubstr("3 allocations"));
  EXPECT_THAT(ended_[1].detail, HasSubstr("folder visible on the nodes"));
  EXPECT_EQ(count("sbatch"), 3);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ASlowStartOfAStepIsWaitedFor) {
  cluster_.program = [](const StepRequest&) { return VirtualProgram{200.0, 5.0, 0, 143}; };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  EXPECT_EQ(cluster_.programs_started().size(), 1U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ATooSlowStartIsReportedWithItsLimit) {
  cluster_.program = [](const StepRequest&) { return VirtualProgram{200.0, 5.0, 0, 143}; };
  SlurmOptions options;
  options.launch_limit_s = 60.0;
  use(options);
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::not_started);
  EXPECT_THAT(ended_[1].detail, HasSubstr("\"launch_limit\""));
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ARefusedFurtherAllocationFailsNoTrial) {
  cluster_.program = [](const StepRequest&) { return runs_for(300.0); };
  cluster_.refuse = [this](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
    if (!is(argv, "sbatch") || cluster_.live_jobs() == 0) return std::nullopt;
    return CommandResult{1,
                         false,
                         {},
                         "sbatch: error: Batch job submission failed: Job violates accounting/QOS "
                         "policy (job submit limit, user's size and/or time limits)\n"};
  };
  SlurmOptions options;
  options.parallel = 3;
  use(options);
  for (std::int64_t trial = 1; trial <= 4; ++trial)
    start(trial);
  wait_for(4);
  for (const auto& [trial, outcome] : ended_)
    EXPECT_EQ(outcome.kind, OutcomeKind::completed) << trial << ": " << outcome.detail;
  EXPECT_EQ(cluster_.jobs().size(), 1U);
  EXPECT_LE(count("sbatch"), 8) << "asked for again, but not all the time";
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AFurtherAllocationThatCannotStartFailsNoTrial) {
  cluster_.program = [](const StepRequest&) { return runs_for(100.0); };
  cluster_.fate = [this](const VirtualJob&) {
    JobFate fate;
    if (cluster_.live_jobs() > 0) fate = {1e9, "QOSMaxNodePerJobLimit", {}, {}, "", 0.0, false};
    return fate;
  };
  SlurmOptions options;
  options.parallel = 2;
  use(options);
  start(1);
  start(2);
  wait_for(2);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AnInvalidPartitionFailsAtOnce) {
  cluster_.refuse = [](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
    if (!is(argv, "sbatch")) return std::nullopt;
    return CommandResult{
        1, false, {}, "sbatch: error: Batch job submission failed: Invalid partition name\n"};
  };
  use();
  start(1);
  wait_for(1, 60.0);
  expect_end(1, OutcomeKind::not_started);
  EXPECT_THAT(ended_[1].detail, HasSubstr("Invalid partition"));
  EXPECT_EQ(count("sbatch"), 1);
}

TEST_F(SlurmRunnerOnAVirtualCluster, APreemptedTrialIsLostAndItsAllocationIsNotReused) {
  cluster_.program = [](const StepRequest& request) {
    // When asked to end, a program exits with status 1.
    return VirtualProgram{0.1, launch_of(request.name, {1, 1}) ? 100.0 : 5.0, 0, 1};
  };
  end_first_job(90.0, "PREEMPTED", 60.0);
  use();
  lose_one_and_run_another();
  EXPECT_EQ(cluster_.jobs().size(), 2U);
}

TEST_F(SlurmRunnerOnAVirtualCluster, ALostAnswerMakesNoSecondAllocation) {
  cluster_.program = quick;
  bool lost = false;
  cluster_.lose_answer =
      [&lost](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
    if (!is(argv, "sbatch") || std::exchange(lost, true)) return std::nullopt;
    return CommandResult{137, false, {}, {}};
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  EXPECT_EQ(cluster_.jobs().size(), 1U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AJobThatIsListedBeforeSbatchAnswersIsKept) {
  cluster_.program = [](const StepRequest&) { return runs_for(60.0); };
  // The second sbatch prints the job's id only after some seconds.
  cluster_.lose_answer =
      [this](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
    if (!is(argv, "sbatch") || cluster_.jobs().size() != 2) return std::nullopt;
    return CommandResult{0, false, fmt::format("{}\n", cluster_.jobs().back().id), {}};
  };
  SlurmOptions two;
  two.parallel = 2;
  use(two);
  start(1);
  start(2);
  wait_for(2);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  EXPECT_EQ(cluster_.jobs().size(), 2U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AnAdoptionThatFailsAdoptsNothingAndMayBeRepeated) {
  cluster_.program = [](const StepRequest&) { return runs_for(300.0); };
  SlurmOptions two;
  two.parallel = 2;
  use(two);
  start(1);
  start(2);
  let_pass(60.0);
  ASSERT_EQ(placements_.size(), 2U);
  use(two);  // another tuner
  std::vector<Runner::Orphan> orphans = {{spec_of(1), ""}, {spec_of(2), ""}};
  orphans[1].spec.log_path = "/proc/none/trial-2.log";
  EXPECT_FALSE(runner_->adopt(orphans));
  EXPECT_EQ(runner_->open_places(), 2);
  orphans[1].spec.log_path.clear();
  const auto adopted = runner_->adopt(orphans);
  ASSERT_TRUE(adopted) << adopted.error().text();
  EXPECT_EQ(*adopted, (std::vector<TrialKey>{{1, 1}, {2, 1}}));
  wait_for(2);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  EXPECT_EQ(cluster_.programs_started().size(), 2U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, UnreadOutputDoesNotJudgeAnAdoptedTrial) {
  cluster_.program = [](const StepRequest&) { return runs_for(450.0); };
  TrialSpec spec = spec_of(1);
  spec.limits.idle_s = 100.0;
  use();
  ASSERT_TRUE(runner_->start(spec));
  let_pass(20.0);
  runner_.reset();
  cluster_.pass_to(clock_.now_s() + 400.0);
  use();
  const std::vector<Runner::Orphan> orphans = {{spec, ""}};
  ASSERT_TRUE(runner_->adopt(orphans));
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  EXPECT_EQ(cluster_.programs_started().size(), 1U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ATrialThatEndedWithoutATunerPaysUntilItsEnd) {
  cluster_.program = [](const StepRequest&) { return runs_for(50.0); };
  SlurmOptions priced;
  priced.usd_per_node_hour = NodePrices(36.0);
  use(priced);
  start(1);
  let_pass(20.0);
  runner_.reset();
  cluster_.pass_to(clock_.now_s() + 36'000.0);
  use(priced);
  const std::vector<Runner::Orphan> orphans = {{spec_of(1), ""}};
  ASSERT_TRUE(runner_->adopt(orphans));
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  EXPECT_NEAR(ended_[1].billed_s, 50.0, 1.0);
  EXPECT_NEAR(ended_[1].billed_usd.value_or(0.0), 0.5, 0.01);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AStuckStepIsGivenUpBeforeTheLoopGivesUp) {
  cluster_.program = [](const StepRequest&) {
    VirtualProgram program;
    program.is_stuck = true;
    return program;
  };
  use();
  start(1);
  let_pass(20.0);
  ASSERT_EQ(placements_.size(), 1U);
  runner_->kill_all();
  wait_for(1, k_forced_end_s);
  expect_end(1, OutcomeKind::stopped);
  EXPECT_EQ(cluster_.live_jobs(), 0) << "its nodes are given back";
}

TEST_F(SlurmRunnerOnAVirtualCluster, AStuckStepBeyondItsLimitHasTimedOut) {
  cluster_.program = [](const StepRequest&) {
    VirtualProgram program;
    program.is_stuck = true;
    return program;
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::timed_out);
  EXPECT_THAT(ended_[1].detail, HasSubstr("its step does not end"));
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, HeldNodesArePaidForOnce) {
  // The runner looks at its trials once a second, so it sees each start almost a second late.
  cluster_.program = [](const StepRequest&) { return runs_for(4.85); };
  SlurmOptions priced;
  priced.usd_per_node_hour = NodePrices(36.0);
  use(priced);
  for (std::int64_t trial = 1; trial <= 10; ++trial) {
    start(trial);
    wait_for(static_cast<std::size_t>(trial));
  }
  release();
  double usd = total_usd(runner_->take_unused());
  for (const auto& [trial, outcome] : ended_)
    usd += outcome.billed_usd.value_or(0.0);
  EXPECT_NEAR(usd, 36.0 * cluster_.use().held_node_s / 3600.0, 0.03);
}

TEST_F(SlurmRunnerOnAVirtualCluster, AJobThatAppearsAfterItWasGivenUpIsGivenBack) {
  cluster_.program = quick;
  // sbatch fails, and its job reaches the controller only a minute later.
  std::vector<std::string> late;
  cluster_.refuse = [&](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
    if (!is(argv, "sbatch") || !late.empty()) return std::nullopt;
    late = argv;
    return CommandResult{1, false, {}, "sbatch: error: Socket timed out on send/recv operation\n"};
  };
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  const auto host = cluster_.make_host();
  host->run(late, {}, [](const CommandResult&) {});
  host->wait_until(clock_.now_s() + 1.0);
  EXPECT_EQ(cluster_.live_jobs(), 2);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ACancellationThatIsLostIsRepeatedAtAPolitePace) {
  cluster_.program = quick;
  int lost = 0;
  cluster_.refuse = [&lost](const std::vector<std::string>& argv) -> std::optional<CommandResult> {
    if (!is(argv, "scancel") || ++lost > 3) return std::nullopt;
    return CommandResult{0, false, {}, {}};
  };
  // The lease is the second way to end a job; here it does not arrive, either.
  use();
  start(1);
  wait_for(1);
  release();
  EXPECT_LE(count("scancel"), 4);
}

TEST_F(SlurmRunnerOnAVirtualCluster, TheQueueIsPolledAtAPolitePace) {
  cluster_.program = quick;
  cluster_.fate = [](const VirtualJob&) {
    JobFate fate;
    fate.queue_s = 7200.0;
    return fate;
  };
  use();
  start(1);
  wait_for(1, 7300.0);
  expect_end(1, OutcomeKind::completed);
  release();
  EXPECT_LE(count("squeue"), 7200 / 30 + 20);
  double last_s = -10.0;
  for (const auto& [time_s, argv] : cluster_.commands()) {
    if (argv.front() != "squeue") continue;
    EXPECT_GE(time_s - last_s, 0.999);
    last_s = time_s;
  }
}

TEST_F(SlurmRunnerOnAVirtualCluster, WaitingJobsTakeNoPlaceFromOthers) {
  cluster_.program = quick;
  cluster_.fate = [](const VirtualJob& job) {
    JobFate fate;
    if (job.partition == "busy") fate.queue_s = 7200.0;
    return fate;
  };
  const AllocationSpec busy{1, {"partition=busy"}};
  use();
  start(1);
  wait_for(1);
  const int backlog = runner_->backlog();
  start(2, busy);
  EXPECT_EQ(runner_->open_places(), 0) << "the nodes may be granted soon";
  let_pass(60.0);
  EXPECT_EQ(runner_->open_places(), 1);
  EXPECT_EQ(runner_->backlog(), backlog + 1);
  EXPECT_GE(runner_->expected_start_s(to_resources(busy)), 60.0);
  EXPECT_LT(runner_->expected_start_s(to_resources(AllocationSpec{})), 10.0);
  start(3);
  EXPECT_EQ(runner_->open_places(), 0);
  wait_for(2);
  expect_end(3, OutcomeKind::completed);
  EXPECT_LT(clock_.now_s(), 120.0);
  wait_for(3);
  expect_end(2, OutcomeKind::completed);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, NoTrialIsRequestedWhileAllWait) {
  cluster_.program = quick;
  cluster_.fate = [this](const VirtualJob&) {
    JobFate fate;
    if (!cluster_.jobs().empty()) fate.queue_s = 7200.0;
    return fate;
  };
  SlurmOptions options;
  options.default_time_s = 1000.0;  // enough for one trial
  use(options);
  start(1);
  wait_for(1);
  let_pass(400.0);
  start(2);
  let_pass(60.0);
  EXPECT_EQ(runner_->open_places(), 0)
      << "a further trial would wait as well, and would be chosen too early";
  EXPECT_EQ(runner_->expected_start_s(to_resources(AllocationSpec{})),
            std::numeric_limits<double>::infinity());
  wait_for(2, 8000.0);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AnOutageIsBorneAtAGrowingPace) {
  cluster_.program = [](const StepRequest&) { return runs_for(300.0); };
  use();
  start(1);
  let_pass(20.0);
  EXPECT_TRUE(runner_->wait(clock_.now_s() + 10.0));
  const int before = count("squeue");
  cluster_.outages.emplace_back(clock_.now_s(), clock_.now_s() + 600.0);
  start(2);  // a reason to query the queue
  wait_for(1);
  expect_end(1, OutcomeKind::completed);
  wait_for(2);
  expect_end(2, OutcomeKind::completed);
  EXPECT_LE(count("squeue") - before, 30);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AnAllocationThatTakesLongToEndIsNotWaitedFor) {
  cluster_.program = [](const StepRequest&) { return runs_for(100.0); };
  end_first_job(50.0, "COMPLETING");  // a node does not answer
  use();
  start(1);
  wait_for(1);
  expect_end(1, OutcomeKind::lost);
  const double lost_s = clock_.now_s();
  start(2);
  wait_for(2);
  expect_end(2, OutcomeKind::completed);
  EXPECT_LT(clock_.now_s() - lost_s, 110.0);
  EXPECT_EQ(cluster_.programs_started().size(), 2U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AnEmptyAnswerIsNotAnEmptyQueue) {
  cluster_.program = [](const StepRequest&) { return runs_for(300.0); };
  use();
  start(1);
  let_pass(20.0);
  const double from_s = clock_.now_s();
  cluster_.lose_answer = [&](const auto& argv) -> std::optional<CommandResult> {
    if (!is(argv, "squeue") || clock_.now_s() > from_s + 200.0) return std::nullopt;
    return CommandResult{0, false, "maintenance until noon\n", {}};
  };
  start(2, AllocationSpec{2, {}});  // so that the queue is queried
  wait_for(2);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  EXPECT_EQ(cluster_.jobs().size(), 2U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AFolderThatCannotBeWrittenForAMomentEndsNothing) {
  cluster_.program = [](const StepRequest&) { return runs_for(300.0); };
  use();
  start(1);
  let_pass(20.0);
  cluster_.unwritable_times.emplace_back(clock_.now_s(), clock_.now_s() + 50.0);
  start(2, AllocationSpec{2, {}});
  wait_for(2);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  cluster_.unwritable_times.emplace_back(clock_.now_s(), clock_.now_s() + 1000.0);
  const double from_s = clock_.now_s();
  Result<std::vector<TrialEvent>> events;
  while (events && clock_.now_s() < from_s + 500.0)
    events = runner_->wait(from_s + 500.0);
  EXPECT_FALSE(events) << "leases run out";
  EXPECT_LE(clock_.now_s() - from_s, 110.0);
  cluster_.unwritable_times.clear();
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, AFailureBeforeAllTasksStartIsLostIfItsNodeFails) {
  // One of two tasks never starts. The other one fails without it, and the job loses its node.
  cluster_.program = [this](const StepRequest&) {
    VirtualProgram program{0.1, 20.0, 0, 143};
    if (cluster_.programs_started().empty()) program = {0.1, std::nullopt, 0, 143, 1};
    return program;
  };
  end_first_job(20.0, "NODE_FAIL");
  use();
  start(1, AllocationSpec{2, {}});
  wait_for(1);
  expect_end(1, OutcomeKind::lost);
  EXPECT_LT(ended_[1].duration_s, 30.0);
  EXPECT_EQ(cluster_.programs_started().size(), 1U);
  release();
}

TEST_F(SlurmRunnerOnAVirtualCluster, ATrialOfARequeuedJobIsLost) {
  cluster_.program = [](const StepRequest& request) {
    return VirtualProgram{0.1, launch_of(request.name, {1, 1}) ? 100.0 : 5.0, 0, 143};
  };
  cluster_.fate = [](const VirtualJob&) {
    JobFate fate;
    fate.ends_after_s = 50.0;
    fate.ends_as = "RESTARTED";
    return fate;
  };
  use();
  lose_one_and_run_another();
  EXPECT_EQ(cluster_.jobs().size(), 1U) << "the allocation is still usable";
}

TEST_F(SlurmRunnerOnAVirtualCluster, ALostNodeIsAvoidedIfThereAreOthers) {
  cluster_.program = [](const StepRequest&) { return runs_for(100.0); };
  end_first_job(50.0, "NODE_FAIL");
  use();
  lose_one_and_run_another(AllocationSpec{2, {"exclude=n7"}});
  EXPECT_EQ(count("sbatch"), 2);
  EXPECT_EQ(count("sbatch", "--exclude=n7,n2"), 1);
}

TEST_F(SlurmRunnerOnAVirtualCluster, ALostNodeIsUsedIfThereAreNoOthers) {
  cluster_.program = [](const StepRequest&) { return runs_for(100.0); };
  end_first_job(50.0, "NODE_FAIL");
  cluster_.refuse = [](const auto& argv) -> std::optional<CommandResult> {
    if (std::ranges::find(argv, "--exclude=n2") == argv.end()) return std::nullopt;
    return CommandResult{1,
                         false,
                         {},
                         "sbatch: error: Batch job submission failed: Requested node "
                         "configuration is not available\n"};
  };
  use();
  lose_one_and_run_another(AllocationSpec{2, {}});
  EXPECT_EQ(count("sbatch", "--exclude=n2"), 1);
}

}  // namespace
}  // namespace steptune::slurm

// SPDX-License-Identifier: Apache-2.0
// Causes faults of clusters on a real Slurm: run under tests/slurm/with-slurm.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "common/clock.hpp"
#include "tests/slurm/slurm_world.hpp"
#include "tests/support/outcome_text.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/machine_holder.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"

namespace steptune::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double k_patience_s = 60.0;

void write_program(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

std::string program_in_path(const std::string& name) {
  std::istringstream folders(std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(program)) return program.string();
  }
  return {};
}

/// While this object exists, PATH begins with a folder. The folder's programs then replace
/// programs of the same names.
class PathBefore {
 public:
  explicit PathBefore(const std::filesystem::path& folder) : path_(std::getenv("PATH")) {
    ::setenv("PATH", (folder.string() + ":" + path_).c_str(), 1);
  }
  PathBefore(const PathBefore&) = delete;
  PathBefore& operator=(const PathBefore&) = delete;
  ~PathBefore() { ::setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
};

class SlurmDrill : public ::testing::Test {
 protected:
  ~SlurmDrill() override { cancel_all_jobs(); }

  /// Checks after every drill that all allocations were given back.
  void TearDown() override {
    if (runner_ == nullptr || HasFatalFailure()) return;
    runner_->kill_all();
    const auto released = runner_->machine_holder().release(k_patience_s);
    EXPECT_TRUE(released) << released.error().text();
    // Jobs that drills submit themselves end soon.
    EXPECT_TRUE(queue_becomes_empty(k_patience_s)) << slurm_output({"squeue"});
  }

  void use(SlurmOptions options = {}) { use_folder(folder_.path(), std::move(options)); }
  void use_folder(const std::filesystem::path& folder, SlurmOptions options = {}) {
    runner_ = make_test_runner(clock_, folder, std::move(options));
    ASSERT_NE(runner_, nullptr);
    const auto begun = runner_->begin_study("drill", "1");
    ASSERT_TRUE(begun) << begun.error().text();
  }

  static TrialSpec shell_trial(std::int64_t trial, const std::string& script) {
    TrialSpec spec;
    spec.key = {trial, 1};
    spec.argv = {"/bin/sh", "-c", script};
    spec.resources = to_resources({});
    spec.limits.grace_s = 1.0;
    return spec;
  }
  void start(const TrialSpec& spec) {
    const auto started = runner_->start(spec);
    ASSERT_TRUE(started) << started.error().text();
  }
  /// Waits until the trial has started, or ended.
  void wait_for(std::int64_t trial, bool end) {
    const double until_s = clock_.now_s() + k_patience_s;
    while (!(end ? ended_.contains(trial) : started_.contains(trial))) {
      take_events(until_s);
      ASSERT_FALSE(HasFatalFailure());
      ASSERT_LT(clock_.now_s(), until_s)
          << "trial " << trial << " does not " << (end ? "end" : "start");
    }
  }
  void let_pass(double seconds) {
    const double until_s = clock_.now_s() + seconds;
    while (clock_.now_s() < until_s)
      take_events(until_s);
  }
  /// Waits until an allocation was requested.
  void wait_for_a_job() {
    const double until_s = clock_.now_s() + k_patience_s;
    while (queue_becomes_empty(0.0)) {
      ASSERT_LT(clock_.now_s(), until_s) << "no job";
      take_events(clock_.now_s() + 0.05);
    }
  }
  void take_events(double until_s) {
    auto events = runner_->wait(until_s);
    ASSERT_TRUE(events) << events.error().text();
    for (const TrialEvent& event : *events) {
      if (const auto* started = std::get_if<TrialStarted>(&event)) {
        started_[started->key.trial] = *started;
      } else if (const auto* finished = std::get_if<TrialFinished>(&event)) {
        ended_[finished->key.trial] = finished->outcome;
      }
    }
  }
  Outcome run(const TrialSpec& spec) {
    start(spec);
    wait_for(spec.key.trial, true);
    return ended_[spec.key.trial];
  }
  void expect_end(std::int64_t trial, OutcomeKind kind) {
    EXPECT_EQ(to_text(ended_[trial].kind), to_text(kind)) << ended_[trial].detail;
  }
  void run_well(const TrialSpec& spec) {
    run(spec);
    expect_end(spec.key.trial, OutcomeKind::completed);
  }
  /// Submits a job that preempts all others.
  static void submit_an_urgent_job() {
    slurm_output({"sbatch", "--partition=urgent", "--nodes=4", "--exclusive", "--time=5",
                  "--output=/dev/null", "--wrap=sleep 1"});
  }
  std::string placement(std::int64_t trial, const std::string& what) {
    return started_[trial].placement[what];
  }
  std::string job_of(std::int64_t trial) {
    const std::string step = placement(trial, "step");
    return step.substr(0, step.find('.'));
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    std::ifstream stream(folder_.path() / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  SystemClock clock_;
  TemporaryFolder folder_{"drill"};
  std::unique_ptr<Runner> runner_;
  std::map<std::int64_t, TrialStarted> started_;
  std::map<std::int64_t, Outcome> ended_;
};

TEST_F(SlurmDrill, ArgumentsAndVariablesReachTheProgramUnchanged) {
  use();
  const std::vector<std::string> nasty = {"$(touch /tmp/steptune-canary)",
                                          "`id`",
                                          "it's",
                                          "\"",
                                          "a b",
                                          "line\nline",
                                          "\r\n",
                                          ":",
                                          "",
                                          "*",
                                          "-N4",
                                          "--help",
                                          "%j %%",
                                          "\\",
                                          "#SBATCH -N9",
                                          "\x01\xff",
                                          "{}",
                                          "&& exit 3",
                                          "\x1e"};
  TrialSpec spec =
      shell_trial(1, "printf '%s\\0' \"$@\" \"$NASTY\" > " + (folder_.path() / "words").string());
  spec.argv.emplace_back("sh");
  spec.argv.insert(spec.argv.end(), nasty.begin(), nasty.end());
  spec.environment["NASTY"] = "a,b=c\n'$HOME'";
  spec.environment["SLURM_NTASKS"] = "7";  // must not affect srun
  run_well(spec);
  std::string expected;
  for (const std::string& word : nasty)
    expected += word + '\0';
  EXPECT_EQ(content("words"), expected + spec.environment["NASTY"] + '\0');
}

TEST_F(SlurmDrill, TheNextTrialIsAStepInTheSameAllocation) {
  use();
  run_well(shell_trial(1, "true"));
  run_well(shell_trial(2, "true"));
  EXPECT_EQ(job_of(1), job_of(2)) << "the second trial is a step in the same allocation";
  EXPECT_NE(placement(1, "step"), placement(2, "step"));
}

TEST_F(SlurmDrill, EndsOfProgramsAreDistinguished) {
  use();
  TrialSpec missing = shell_trial(1, "");
  missing.argv = {"/no/such/program"};
  EXPECT_EQ(run(missing).kind, OutcomeKind::not_started);
  TrialSpec nowhere = shell_trial(2, "true");
  nowhere.working_directory = "/no/such/folder";
  EXPECT_EQ(run(nowhere).kind, OutcomeKind::not_started);
  EXPECT_THAT(ended_[2].detail, HasSubstr("folder"));
  EXPECT_EQ(run(shell_trial(3, "echo why; exit 3")).kind, OutcomeKind::failed);
  EXPECT_EQ(ended_[3].exit_code, 3);
  EXPECT_THAT(ended_[3].detail, HasSubstr("why"));
  EXPECT_EQ(run(shell_trial(4, "exit 137")).kind, OutcomeKind::failed);
  EXPECT_EQ(run(shell_trial(5, "kill -SEGV $$")).exit_code, 139);
  EXPECT_EQ(run(shell_trial(6, "echo 'RuntimeError: CUDA out of memory.'; exit 1")).kind,
            OutcomeKind::out_of_memory);
  const char* const survivor =
      "echo 'CUDA out of memory: the next batch is half as large'\n"
      "echo '[steptune] {\"v\":1,\"step\":1}'\n"
      "echo '[steptune] {\"v\":1,\"step\":2}'\n"
      "echo KeyError\nexit 1\n";
  EXPECT_EQ(run(shell_trial(8, survivor)).kind, OutcomeKind::failed);
  const auto data = folder_.path() / "data";
  std::ofstream(data) << "no program\n";
  TrialSpec not_executable = shell_trial(9, "");
  not_executable.argv = {data.string()};
  EXPECT_EQ(run(not_executable).kind, OutcomeKind::not_started);
  EXPECT_THAT(ended_[9].detail, HasSubstr("cannot be executed"));
  const auto orphan = folder_.path() / "orphan";
  write_program(orphan, "#!/no/such/interpreter\n");
  TrialSpec no_interpreter = shell_trial(10, "");
  no_interpreter.argv = {orphan.string()};
  EXPECT_EQ(run(no_interpreter).kind, OutcomeKind::not_started);
  TrialSpec builtin = shell_trial(7, "");
  builtin.argv = {"exit", "0"};
  EXPECT_EQ(run(builtin).kind, OutcomeKind::not_started)
      << "exit is a command of the shell, not a program";
}

TEST_F(SlurmDrill, LimitsAreEnforced) {
  use();
  TrialSpec slow = shell_trial(1, "while :; do echo x; sleep 0.1; done");
  slow.limits.wall_s = 1.0;
  EXPECT_EQ(run(slow).kind, OutcomeKind::timed_out);
  TrialSpec silent = shell_trial(2, "trap '' TERM; sleep 1000; sleep 1000");
  silent.limits.idle_s = 0.5;
  EXPECT_EQ(run(silent).kind, OutcomeKind::hung);
  EXPECT_LT(ended_[2].duration_s, 5.0)
      << "a program that ignores SIGTERM is killed after the grace time";
  run_well(shell_trial(3, "true"));
}

TEST_F(SlurmDrill, CancelledTrialsAreLostAndTheStudyContinues) {
  use();
  start(shell_trial(1, "sleep 1000"));
  wait_for(1, false);
  slurm_output({"scancel", placement(1, "step")});
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);

  start(shell_trial(2, "sleep 1000"));
  wait_for(2, false);
  EXPECT_EQ(job_of(2), job_of(1));
  slurm_output({"scancel", job_of(2)});
  wait_for(2, true);
  expect_end(2, OutcomeKind::lost);
  EXPECT_THAT(ended_[2].detail, HasSubstr("cancelled by someone else"));

  start(shell_trial(3, "sleep 1000"));
  wait_for(3, false);
  EXPECT_NE(job_of(3), job_of(2));
  slurm_output({"scontrol", "suspend", job_of(3)});
  wait_for(3, true);
  expect_end(3, OutcomeKind::lost);
}

TEST_F(SlurmDrill, APreemptedTrialIsLost) {
  use();
  TrialSpec spec = shell_trial(1, "sleep 1000");
  spec.resources = to_resources({4, {}});
  start(spec);
  wait_for(1, false);
  submit_an_urgent_job();
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);
  EXPECT_THAT(ended_[1].detail, HasSubstr("preempted"));
}

/// Some sites requeue preempted jobs. A placeholder job must not be requeued: its trial would be
/// gone, and nobody would wait for the nodes.
TEST_F(SlurmDrill, ARequeuedTrialDoesNotRestartByItself) {
  use();
  const std::string tell = "echo x >> " + (folder_.path() / "runs").string();
  TrialSpec spec = shell_trial(1, tell + "; sleep 1000");
  spec.resources = to_resources({4, {"partition=requeued"}});
  start(spec);
  wait_for(1, false);
  const std::string preempted = job_of(1);
  submit_an_urgent_job();
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);
  EXPECT_THAT(ended_[1].detail, HasSubstr("preempted"));
  TrialSpec again = shell_trial(1, tell);
  again.key.attempt = 2;
  again.resources = spec.resources;
  started_.clear();
  ended_.clear();
  run_well(again);
  EXPECT_NE(job_of(1), preempted);
  const std::string runs = content("runs");
  EXPECT_EQ(std::ranges::count(runs, '\n'), 2 * 4) << "each attempt was run once on each node";
}

/// Slurm samples the memory of the processes, since cgroups are not available everywhere.
TEST_F(SlurmDrill, ATrialBeyondItsNodesMemoryIsOutOfMemory) {
  use();
  TrialSpec greedy = shell_trial(1, "");
  greedy.resources = to_resources({1, {"mem=100"}});
  greedy.argv = {"/usr/bin/python3", "-c", "import time; text = 'x' * (300 << 20); time.sleep(50)"};
  EXPECT_EQ(to_text(run(greedy).kind), to_text(OutcomeKind::out_of_memory)) << ended_[1].detail;
  EXPECT_THAT(ended_[1].detail, HasSubstr("memory limit"));
  TrialSpec modest = shell_trial(2, "true");
  modest.resources = greedy.resources;
  run_well(modest);
  EXPECT_EQ(job_of(2), job_of(1)) << "the allocation is still usable";
}

/// A small file system in memory, mounted while the object exists.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& folder) : folder_(folder) {
    std::filesystem::create_directory(folder);
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=512k") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool is_mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

class SlurmDrillOnASmallDisk : public SlurmDrill {
 protected:
  void TearDown() override {
    SlurmDrill::TearDown();
    runner_.reset();
  }
  SmallDisk disk_{folder_.path() / "small"};
};

TEST_F(SlurmDrillOnASmallDisk, ATrialThatFillsItIsLostAndTheNextRuns) {
  if (!disk_.is_mounted()) GTEST_SKIP() << "no file system may be mounted here";
  use_folder(folder_.path() / "small");
  const Outcome full = run(shell_trial(1, "head -c 2000000 /dev/zero | tr '\\0' x; echo"));
  EXPECT_EQ(to_text(full.kind), "lost") << full.detail;
  EXPECT_THAT(full.detail, HasSubstr("how it ended is not known"));
  EXPECT_THAT(full.detail, HasSubstr("No space left on device"));
  run_well(shell_trial(2, "true"));
  EXPECT_EQ(job_of(2), job_of(1));
}

/// Slurm checks time limits every half minute.
TEST_F(SlurmDrill, ATimeLimitLosesOnlyItsRunningTrial) {
  use();
  const std::string tell = "echo x >> " + (folder_.path() / "runs").string();
  start(shell_trial(1, tell + "; trap 'exit 0' TERM; while :; do sleep 0.1; done"));
  wait_for(1, false);
  const std::string cut_short = job_of(1);
  slurm_output({"scontrol", "update", "jobid=" + cut_short, "endtime=now+1"});
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);  // although its exit status was 0
  EXPECT_THAT(ended_[1].detail, HasSubstr("time limit"));
  TrialSpec again = shell_trial(1, tell);
  again.key.attempt = 2;
  ended_.clear();
  run_well(again);
  EXPECT_NE(job_of(1), cut_short);
  EXPECT_EQ(content("runs"), "x\nx\n") << "each attempt was run once";
}

TEST_F(SlurmDrill, ATrialDoesNotStartIfItCannotEndInTime) {
  SlurmOptions options;
  options.default_time_s = 60.0;
  options.launch_limit_s = 5.0;
  use(options);
  const auto short_trial = [](std::int64_t trial) {
    TrialSpec spec = shell_trial(trial, "true");
    spec.limits.wall_s = 5.0;  // 41 s with the time to start and to end
    return spec;
  };
  run_well(short_trial(1));
  run_well(short_trial(2));
  EXPECT_EQ(job_of(2), job_of(1));
  let_pass(20.0);
  run_well(short_trial(3));
  EXPECT_NE(job_of(3), job_of(1));
}

TEST_F(SlurmDrill, ImpossibleNeedsAreReportedAndWaitingOnesBlockNothing) {
  use();
  TrialSpec many = shell_trial(1, "true");
  many.resources = to_resources({9, {}});
  EXPECT_EQ(run(many).kind, OutcomeKind::not_started);
  EXPECT_FALSE(ended_[1].detail.empty());
  TrialSpec nowhere = shell_trial(2, "true");
  nowhere.resources = to_resources({1, {"partition=nope"}});
  EXPECT_EQ(run(nowhere).kind, OutcomeKind::not_started);
  EXPECT_THAT(ended_[2].detail, HasSubstr("partition"));

  TrialSpec later = shell_trial(3, "true");
  later.resources = to_resources({1, {"partition=closed"}});
  start(later);
  run_well(shell_trial(4, "true"));
  EXPECT_FALSE(started_.contains(3));
  slurm_output({"scontrol", "update", "partitionname=closed", "state=up"});
  wait_for(3, true);
  expect_end(3, OutcomeKind::completed);
  slurm_output({"scontrol", "update", "partitionname=closed", "state=down"});
}

TEST_F(SlurmDrill, EveryTaskKnowsItsRank) {
  SlurmOptions options;
  options.tasks_per_node = document::Formula::constant(2.0, "2");
  use(options);
  TrialSpec spec =
      shell_trial(1, "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK >> " +
                         (folder_.path() / "ranks").string() +
                         "; test $MASTER_PORT -gt 1024 && test -n $MASTER_ADDR");
  spec.resources = to_resources({2, {}});
  run_well(spec);
  std::ifstream file(folder_.path() / "ranks");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  std::ranges::sort(lines);
  EXPECT_THAT(lines, ElementsAre("0 4 0 2 0", "1 4 1 2 0", "2 4 0 2 1", "3 4 1 2 1"));

  const Outcome failed = run([this] {
    TrialSpec one = shell_trial(2, "test $RANK = 1 && exit 5; sleep 1000");
    one.resources = to_resources({2, {}});
    return one;
  }());
  EXPECT_EQ(failed.kind, OutcomeKind::failed) << "one task's failure ends all: " << failed.detail;
  EXPECT_EQ(failed.exit_code, 5);
}

TEST_F(SlurmDrill, AControllerThatDiesLosesNothing) {
  use();
  run_well(shell_trial(1, "true"));
  pause_for(6.0);  // the controller saves its state every 5 s
  start(shell_trial(2, "sleep 3; echo done"));
  wait_for(2, false);
  signal_daemon("slurmctld", SIGKILL);
  wait_for(2, true);
  expect_end(2, OutcomeKind::completed);
  start_daemon("slurmctld");
  run_well(shell_trial(3, "true"));
  EXPECT_EQ(job_of(3), job_of(1));
}

TEST_F(SlurmDrill, PreemptionWithAGraceTimeIsNoFailureOfTheProgram) {
  use();
  // When asked to end, the program saves its state and exits with status 1.
  TrialSpec spec = shell_trial(1, "trap 'echo saved; exit 1' TERM; while :; do sleep 0.1; done");
  spec.resources = to_resources({4, {"partition=patient"}});
  start(spec);
  wait_for(1, false);
  submit_an_urgent_job();
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);
  EXPECT_THAT(ended_[1].detail, HasSubstr("preempt"));
}

TEST_F(SlurmDrill, TrialsOfOneAllocationMayHaveDifferentTasks) {
  SlurmOptions options;
  options.tasks_per_node = {
      "tasks", [](const Configuration& configuration) {
        return static_cast<double>(std::get<std::int64_t>(configuration.values().at("tasks")));
      }};
  use(options);
  for (std::int64_t tasks = 1; tasks <= 2; ++tasks) {
    const std::string name = fmt::format("ranks-of-{}", tasks);
    TrialSpec spec = shell_trial(
        tasks, fmt::format("echo $RANK/$WORLD_SIZE >>{}", (folder_.path() / name).string()));
    spec.resources = to_resources({2, {}});
    spec.configuration.set("tasks", tasks);
    run_well(spec);
    EXPECT_EQ(std::ranges::count(content(name), '\n'), 2 * tasks) << content(name);
    EXPECT_THAT(content(name), HasSubstr(fmt::format("{}/{}\n", 2 * tasks - 1, 2 * tasks)));
  }
  EXPECT_EQ(job_of(2), job_of(1));
}

TEST_F(SlurmDrill, MarksOfManyTasksAreFoundInMixedOutput) {
  SlurmOptions options;
  options.tasks_per_node = document::Formula::constant(4.0, "4");
  use(options);
  TrialSpec spec =
      shell_trial(1, "i=0; while [ $i -lt 300 ]; do printf '%0900d' $i; i=$((i+1)); done; exit 0");
  spec.resources = to_resources({4, {}});
  run_well(spec);
}

TEST_F(SlurmDrill, AStepThatIsSlowToStartIsNotMistakenForABlockedOne) {
  SlurmOptions options;
  const auto slow = folder_.path() / "slow";
  write_program(
      slow, "#!/bin/sh\necho x >> " + (folder_.path() / "prologs").string() + "\nexec sleep 9\n");
  options.step_options = {
      document::StringTemplate::parse("--task-prolog=" + slow.string()).value()};
  use(options);
  run_well(shell_trial(1, "true"));
  EXPECT_EQ(content("prologs"), "x\n") << "launched once";
}

/// Slurm's commands take effect, but their answers are lost.
TEST_F(SlurmDrill, LostAnswersRunNothingTwiceAndLeaveNoAllocation) {
  const auto programs = folder_.path() / "programs";
  std::filesystem::create_directory(programs);
  for (const char* name : {"sbatch", "srun", "scancel"}) {
    const std::string real = program_in_path(name);
    ASSERT_FALSE(real.empty()) << name;
    const std::string calls = (folder_.path() / name).string();
    write_program(programs / name,
                  fmt::format("#!/bin/sh\necho x >> {0}\n{1} \"$@\" {2}\n"
                              "echo '{3}: error: Socket timed out on send/recv operation' >&2\n"
                              "exit 1\n",
                              calls, real, name == std::string("srun") ? "" : ">/dev/null", name));
  }
  const PathBefore path(programs);
  use();
  const std::string script = "echo $$ >> " + (folder_.path() / "runs").string();
  run_well(shell_trial(1, script));
  run_well(shell_trial(2, script));
  const auto lines = [this](const char* file) {
    const std::string text = content(file);
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(lines("runs"), 2) << "each trial was run once";
  EXPECT_EQ(lines("sbatch"), 1) << "the job was found by its name";
  EXPECT_EQ(lines("srun"), 2);
}

TEST_F(SlurmDrill, AControllerThatHangsDelaysAStartOnly) {
  use();
  start(shell_trial(1, "sleep 2; echo done"));
  wait_for(1, false);
  signal_daemon("slurmctld", SIGSTOP);
  wait_for(1, true);
  expect_end(1, OutcomeKind::completed);
  start(shell_trial(2, "true"));
  let_pass(3.0);
  EXPECT_FALSE(ended_.contains(2));
  signal_daemon("slurmctld", SIGCONT);
  wait_for(2, true);
  expect_end(2, OutcomeKind::completed);
  EXPECT_EQ(job_of(2), job_of(1));
}

TEST_F(SlurmDrill, ANodesDaemonThatDiesEndsNoTrial) {
  use();
  start(shell_trial(1, "sleep 3; echo done"));
  wait_for(1, false);
  const std::string node = placement(1, "hosts");
  signal_daemon(node, SIGKILL);
  pause_for(1.0);
  start_daemon(node);
  wait_for(1, true);
  expect_end(1, OutcomeKind::completed);
  run_well(shell_trial(2, "true"));
}

TEST_F(SlurmDrill, ANodeThatIsSetDownLosesItsTrialAndAnotherIsUsed) {
  use();
  start(shell_trial(1, "sleep 1000"));
  wait_for(1, false);
  const std::string node = placement(1, "hosts");
  slurm_output({"scontrol", "update", "nodename=" + node, "state=down", "reason=drill"});
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);
  run_well(shell_trial(2, "true"));
  EXPECT_NE(placement(2, "hosts"), node);
  slurm_output({"scontrol", "update", "nodename=" + node, "state=resume"});
}

/// The node's daemon is gone, so nobody there can end the trial.
TEST_F(SlurmDrill, ANodeThatFailsForGoodLosesItsTrialAndIsLeftOut) {
  use();
  start(shell_trial(1, "sleep 1000"));
  wait_for(1, false);
  const std::string node = placement(1, "hosts");
  signal_daemon(node, SIGKILL);
  slurm_output({"scontrol", "update", "nodename=" + node, "state=down", "reason=drill"});
  wait_for(1, true);
  expect_end(1, OutcomeKind::lost);
  run_well(shell_trial(2, "true"));
  EXPECT_NE(placement(2, "hosts"), node);
  start_daemon(node);
  slurm_output({"scontrol", "update", "nodename=" + node, "state=resume"});
  const double until_s = clock_.now_s() + k_patience_s;
  while (slurm_output({"sinfo", "-h", "-n", node, "-p", "main", "-o", "%t"}) != "idle\n") {
    ASSERT_LT(clock_.now_s(), until_s) << slurm_output({"sinfo", "-N"});
    pause_for(0.1);
  }
}

/// The controller saves its state every 5 s. If it is killed, it forgets jobs that it has accepted
/// since the last save.
TEST_F(SlurmDrill, AControllerThatForgetsAJobIsQueriedAgain) {
  use();
  TrialSpec spec = shell_trial(1, "echo $$ >> " + (folder_.path() / "runs").string());
  spec.resources = to_resources({1, {"partition=closed"}});
  start(spec);
  wait_for_a_job();
  signal_daemon("slurmctld", SIGKILL);
  start_daemon("slurmctld");
  // The restarted controller may not answer yet.
  const double patience_until_s = clock_.now_s() + k_patience_s;
  while (clock_.now_s() < patience_until_s &&
         slurm_output({"scontrol", "show", "partition", "closed"}).find("State=UP") ==
             std::string::npos) {
    slurm_output({"scontrol", "update", "partitionname=closed", "state=up"});
  }
  wait_for(1, true);
  expect_end(1, OutcomeKind::completed);
  const std::string runs = content("runs");
  EXPECT_EQ(std::ranges::count(runs, '\n'), 1) << "the trial was run once";
  slurm_output({"scontrol", "update", "partitionname=closed", "state=down"});
}

TEST_F(SlurmDrill, AControllerThatForgetsAStartLosesATrialAtTheMost) {
  use();
  start(shell_trial(1, "echo $$ >> " + (folder_.path() / "runs").string() + "; sleep 5; exit 0"));
  wait_for(1, false);
  signal_daemon("slurmctld", SIGKILL);
  start_daemon("slurmctld");
  wait_for(1, true);
  EXPECT_THAT(ended_[1].kind, testing::AnyOf(OutcomeKind::completed, OutcomeKind::lost))
      << ended_[1].detail;
  const std::string runs = content("runs");
  EXPECT_EQ(std::ranges::count(runs, '\n'), 1) << "a further run counts as another attempt";
  run_well(shell_trial(2, "true"));
}

TEST_F(SlurmDrill, ATunerThatDiesBeforeItKnowsOfItsJobFindsItAgain) {
  const auto programs = folder_.path() / "programs";
  std::filesystem::create_directory(programs);
  write_program(programs / "sbatch", "#!/bin/sh\n" + program_in_path("sbatch") +
                                         " \"$@\" >/dev/null\nexec sleep 1000\n");
  {
    const PathBefore path(programs);
    use();
    start(shell_trial(1, "true"));
    wait_for_a_job();
    runner_.reset();
  }
  const std::string jobs = slurm_output({"squeue", "--noheader", "--format=%i"});
  use();
  run_well(shell_trial(1, "true"));
  EXPECT_EQ(job_of(1) + "\n", jobs);
}

TEST_F(SlurmDrill, TrialsSideBySideOnANodeHaveGpusOfTheirOwn) {
  SlurmOptions options;
  options.parallel = 2;
  options.exclusive = false;
  options.cpus_per_task = document::Formula::constant(1.0, "1");
  use(options);
  for (std::int64_t trial = 1; trial <= 2; ++trial) {
    const std::string folder = folder_.path().string();
    TrialSpec spec = shell_trial(
        trial, fmt::format("echo $SLURMD_NODENAME:$CUDA_VISIBLE_DEVICES >{0}/gpu{1}\n"
                           "until test -s {0}/gpu1 && test -s {0}/gpu2; do sleep 0.1; done\n",
                           folder, trial));
    spec.resources = to_resources({1, {"nodelist=n1", "mem=500", "gpus-per-node=1"}});
    start(spec);
  }
  wait_for(1, true);
  wait_for(2, true);
  expect_end(1, OutcomeKind::completed);
  expect_end(2, OutcomeKind::completed);
  EXPECT_THAT((std::vector{content("gpu1"), content("gpu2")}),
              testing::UnorderedElementsAre("n1:0\n", "n1:1\n"));
}

}  // namespace
}  // namespace steptune::slurm

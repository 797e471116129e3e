// SPDX-License-Identifier: Apache-2.0
// Tests the runner on real child processes, some of which misbehave; no Slurm is needed.
#include "trial_runner/slurm/process_host.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.hpp"
#include "common/pause.hpp"
#include "common/unique_fd.hpp"
#include "tests/support/notice_texts.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"

namespace steptune::slurm {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class SlurmCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    fs::create_directories(folder() / "bin");
    fs::create_directories(folder() / "state");
    for (const char* command : {"sbatch", "srun", "squeue", "scancel"})
      fs::create_symlink(STEPTUNE_FAKE_SLURM, folder() / "bin" / command);
    ::setenv("PATH", ((folder() / "bin").string() + ":" + path_).c_str(), 1);
    ::setenv("FAKE_SLURM_DIR", (folder() / "state").c_str(), 1);
    make_runner();
  }
  void make_runner(const std::optional<std::vector<std::string>>& inherited = std::nullopt) {
    ProcessHostOptions options;
    options.folder = folder() / "runner";
    options.supervisor_program = STEPTUNE_BINARY_DIR "/bin/steptune-slurm-supervisor";
    options.command_limit_s = 3.0;
    options.holder_poll_s = 1;
    options.inherited = inherited;
    auto host = ProcessHost::create(clock_, options);
    ASSERT_TRUE(host) << host.error().text();
    SlurmOptions slurm;
    slurm.poll_s = 1.0;
    runner_ = std::make_unique<SlurmRunner>(clock_, *std::move(host), slurm);
  }
  void TearDown() override {
    for (const char* command : {"sbatch", "srun", "squeue", "scancel"})
      mend(command);
    if (runner_ != nullptr) {
      EXPECT_TRUE(runner_->release(20.0));
      EXPECT_THAT(texts_of(runner_->take_notices()),
                  Not(Contains(HasSubstr("still being given back"))));
    }
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("FAKE_SLURM_DIR");
  }
  [[nodiscard]] const fs::path& folder() const { return directory_.path(); }
  /// From now on, the command first takes effect, then runs the shell text in place of its answer.
  void spoil(const std::string& command, const std::string& text) const {
    std::ofstream(folder() / "state" / (command + ".fault")) << text;
  }
  void mend(const std::string& command) const {
    fs::remove(folder() / "state" / (command + ".fault"));
  }
  void begin() {
    const auto begun = runner_->begin_study("fake", "1");
    ASSERT_TRUE(begun) << begun.error().text();
  }
  void start(std::int64_t trial, const std::string& script, const fs::path& hook = {}) {
    TrialSpec spec;
    spec.key = {trial, 1};
    spec.argv = {"/bin/sh", "-c", script};
    spec.working_directory = folder();
    spec.python_path = hook;
    spec.resources = to_resources(AllocationSpec{});
    spec.limits.wall_s = 60.0;
    const auto started = runner_->start(spec);
    ASSERT_TRUE(started) << started.error().text();
  }
  void wait_for(std::size_t trials, double patience_s) {
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
      const auto* end = std::get_if<TrialFinished>(&event);
      if (end != nullptr) ended_[end->key.trial] = end->outcome;
    }
  }
  [[nodiscard]] int jobs() const {
    int found = 0;
    while (fs::exists(folder() / "state" / fmt::format("job.{}", found + 1)))
      ++found;
    return found;
  }

  SystemClock clock_;
  TemporaryFolder directory_{"fake-slurm"};
  std::string path_;
  std::unique_ptr<SlurmRunner> runner_;
  std::map<std::int64_t, Outcome> ended_;
};

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(SlurmCommands, StepsFindACopyOfTheHookThatGoesWithTheStudy) {
  directory_.write("hook/sitecustomize.py", "# of the hook");
  directory_.write("hook/steptune_hook/__init__.py", "");
  directory_.write("hook/__pycache__/sitecustomize.pyc", "of this machine's Python");
  begin();
  start(1,
        "echo \"$PYTHONPATH\" > place; cat \"${PYTHONPATH%%:*}/sitecustomize.py\" > seen; "
        "ls -A \"${PYTHONPATH%%:*}\" > names",
        folder() / "hook");
  wait_for(1, 30.0);
  EXPECT_EQ(ended_[1].kind, OutcomeKind::completed) << ended_[1].detail;
  EXPECT_EQ(content_of(folder() / "seen"), "# of the hook");
  EXPECT_EQ(content_of(folder() / "names"), "sitecustomize.py\nsteptune_hook\n");
  EXPECT_THAT(content_of(folder() / "place"), HasSubstr((folder() / "runner").string()));
  ASSERT_TRUE(runner_->release(20.0));
  for (const auto& entry : fs::recursive_directory_iterator(folder() / "runner"))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

TEST(SharedFiles, HaveOneFolderForOneContentAndAreMadeWholeAgain) {
  const SystemClock clock;
  const TemporaryFolder folder{"shared"};
  ProcessHostOptions options;
  options.folder = folder.path();
  options.supervisor_program = "/bin/true";
  const auto host = ProcessHost::create(clock, options);
  ASSERT_TRUE(host);
  ASSERT_TRUE((*host)->open_folder("study"));
  const std::map<std::string, std::string> files = {{"a.py", "1"}, {"b/c.py", "2"}};
  const auto first = (*host)->share_files(files);
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ(content_of(*first / "b/c.py"), "2");
  // A correct file is left alone, since trials of a former tuner may be reading it.
  std::ofstream(*first / "a.pyc") << "compiled";
  EXPECT_EQ((*host)->share_files(files).value(), *first);
  EXPECT_EQ(content_of(*first / "a.pyc"), "compiled");
  for (const char* fault : {"changed", ""}) {
    if (*fault != 0) {
      std::ofstream(*first / "b/c.py") << fault;
    } else {
      fs::remove(*first / "a.py");
    }
    EXPECT_EQ((*host)->share_files(files).value(), *first);
    EXPECT_EQ(content_of(*first / "a.py") + content_of(*first / "b/c.py"), "12") << fault;
  }
  const auto other = (*host)->share_files({{"a.py", "1"}, {"b/c.py", "3"}});
  EXPECT_NE(other.value(), *first);
  EXPECT_TRUE(fs::exists(*first)) << "trials of the former version may still read it";
  (*host)->remove_shared_files();
  EXPECT_TRUE(fs::is_empty(folder.path() / "study"));
}

TEST_F(SlurmCommands, StepsGetTheCpusThatThePlaceholderSees) {
  begin();
  start(1, "exit 0");
  wait_for(1, 30.0);
  start(2, "echo \"$SLURM_CPUS_PER_TASK\" > cpus");
  wait_for(2, 30.0);
  EXPECT_EQ(content_of(folder() / "cpus"), "6\n") << "SLURM_JOB_CPUS_PER_NODE of fake-slurm";
  EXPECT_EQ(jobs(), 1);
}

TEST_F(SlurmCommands, StepsSeeListedVariablesOnly) {
  const std::map<std::string, std::string> variables = {{"STEPTUNE_TEST_KEPT_A", "a"},
                                                        {"STEPTUNE_TEST_KEPT_B", "b, c"},
                                                        {"STEPTUNE_TEST_SECRET", "d"}};
  for (const auto& [name, value] : variables)
    ::setenv(name.c_str(), value.c_str(), 1);
  const std::string script =
      "echo \"${STEPTUNE_TEST_KEPT_A-} ${STEPTUNE_TEST_KEPT_B-} ${STEPTUNE_TEST_SECRET-}"
      " ${PATH:+path} ${HOME:+home} $STUDY\" >> seen";
  ::setenv("HOME", "/root", 0);
  make_runner();
  begin();
  start(1, "STUDY=s; " + script);
  wait_for(1, 20.0);
  EXPECT_TRUE(runner_->release(20.0));
  make_runner(std::vector<std::string>{"FAKE_SLURM_DIR", "STEPTUNE_TEST_KEPT_*"});
  begin();
  start(2, "STUDY=s; " + script);
  wait_for(2, 20.0);
  EXPECT_EQ(content_of(folder() / "seen"), "a b, c d path home s\na b, c  path home s\n");
  for (const auto& [name, value] : variables)
    ::unsetenv(name.c_str());
}

TEST_F(SlurmCommands, HangingCommandsAreKilled) {
  begin();
  start(1, "sleep 4; exit 3");
  let_pass(1.0);
  spoil("squeue", "sleep 60");
  const double from_s = clock_.now_s();
  const auto events = runner_->wait(from_s + 0.2);
  EXPECT_TRUE(events);
  EXPECT_LT(clock_.now_s() - from_s, 1.0) << "a hanging command must not block the wait";
  let_pass(4.0);
  mend("squeue");
  wait_for(1, 30.0);
  EXPECT_EQ(ended_[1].kind, OutcomeKind::failed) << ended_[1].detail;
  EXPECT_EQ(ended_[1].exit_code, 3);
  EXPECT_EQ(jobs(), 1);
}

TEST_F(SlurmCommands, AHangingSbatchSubmitsOnce) {
  begin();
  spoil("sbatch", "sleep 60");
  start(1, "exit 0");
  wait_for(1, 30.0);
  EXPECT_EQ(ended_[1].kind, OutcomeKind::completed) << ended_[1].detail;
  EXPECT_EQ(jobs(), 1);
}

TEST_F(SlurmCommands, NodesAreGivenBackEvenIfTheUserDoesNotWait) {
  begin();
  start(1, "exit 0");
  wait_for(1, 30.0);
  const fs::path cancelled = folder() / "cancelled";
  spoil("scancel", fmt::format("sleep 0.3; touch '{}'", cancelled.string()));
  ASSERT_TRUE(runner_->release(0.0));
  runner_.reset();
  const double until_s = clock_.now_s() + 20.0;
  while (!fs::exists(cancelled) && clock_.now_s() < until_s)
    pause_thread(0.02);
  EXPECT_TRUE(fs::exists(cancelled));
}

TEST_F(SlurmCommands, ErrorsInInvalidUtf8ArePrintedAsText) {
  begin();
  spoil("sbatch",
        "# refuse\nprintf 'sbatch: error: Batch job submission failed: \\377\\033[2J no\\n' >&2; "
        "exit 1");
  start(1, "exit 0");
  wait_for(1, 30.0);
  EXPECT_EQ(ended_[1].kind, OutcomeKind::not_started);
  EXPECT_THAT(ended_[1].detail, HasSubstr("Batch job submission failed"));
  EXPECT_THAT(ended_[1].detail, Not(HasSubstr("\377")));
  EXPECT_THAT(ended_[1].detail, Not(HasSubstr("\033")));
  EXPECT_EQ(jobs(), 0);
}

TEST_F(SlurmCommands, GarbageFromCommandsEndsNoTrial) {
  begin();
  start(1, "touch began; sleep 5");
  const double until_s = clock_.now_s() + 30.0;
  while (!fs::exists(folder() / "began") && clock_.now_s() < until_s)
    ASSERT_TRUE(runner_->wait(clock_.now_s() + 0.1));
  spoil("squeue",
        "touch \"$FAKE_SLURM_DIR/asked\"; head -c 100000 /dev/zero; "
        "printf '7|RUNNING\\n||||||||||\\377\\n'");
  wait_for(1, 30.0);
  EXPECT_EQ(ended_[1].kind, OutcomeKind::completed) << ended_[1].detail;
  EXPECT_TRUE(fs::exists(folder() / "state" / "asked"));
  EXPECT_EQ(jobs(), 1);
}

TEST_F(SlurmCommands, AnSrunThatEndsWellWithoutAProgramIsNoSuccess) {
  begin();
  spoil("srun", "echo 'srun: error: Slurmd could not connect IO' >&2; exit 0");
  start(1, "exit 0");
  wait_for(1, 60.0);
  EXPECT_EQ(ended_[1].kind, OutcomeKind::not_started);
  EXPECT_THAT(ended_[1].detail, HasSubstr("could not connect IO"));
}

constexpr const char* k_supervisor = STEPTUNE_BINARY_DIR "/bin/steptune-slurm-supervisor";

/// True if a child ends by itself in that time. The child is gone afterwards in any case.
bool ends_within(pid_t child, double seconds) {
  const SystemClock clock;
  const double until_s = clock.now_s() + seconds;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) != child) {
    if (clock.now_s() > until_s) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    pause_thread(0.005);
  }
  return true;
}

TEST(Supervisor, AnEarlySignalEndsSrunToo) {
  const TemporaryFolder folder{"supervisor"};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  // The supervisor has its lock but not yet started srun when it opens this file. A pipe blocks it
  // there until somebody reads.
  const auto status_file =
      folder.path() / ("status.new" + std::to_string(child > 0 ? child : ::getpid()));
  if (child == 0) {
    if (::mkfifo(status_file.c_str(), 0600) == 0) {
      ::execl(k_supervisor, k_supervisor, folder.path().c_str(), "/nonexistent", "60", "sleep",
              "60", nullptr);
    }
    ::_exit(125);
  }
  const SystemClock clock;
  const double until_s = clock.now_s() + 20.0;
  while (content_of(folder.path() / "lock").empty() && clock.now_s() < until_s)
    pause_thread(0.002);
  ::kill(child, SIGTERM);
  const UniqueFd reader(::open(status_file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(ends_within(child, 10.0));
}

TEST(Supervisor, RunsItsStepWithoutFileLocks) {
  const TemporaryFolder folder{"supervisor"};
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::array<sock_filter, 4> rules{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{static_cast<unsigned short>(rules.size()), rules.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0) {
      ::execl(k_supervisor, k_supervisor, folder.path().c_str(), "/nonexistent", "60", "true",
              nullptr);
    }
    ::_exit(125);
  }
  EXPECT_TRUE(ends_within(child, 20.0));
  EXPECT_THAT(content_of(folder.path() / "status"), ::testing::StartsWith("exit 0 "));
}

TEST_F(SlurmCommands, AnUnreadableQueueIsReportedAtOnce) {
  spoil("squeue", "exit 1");
  const auto begun = runner_->begin_study("fake", "1");
  ASSERT_FALSE(begun);
  EXPECT_THAT(begun.error().text(), HasSubstr("cannot read Slurm's queue"));
  runner_.reset();
}

}  // namespace
}  // namespace steptune::slurm

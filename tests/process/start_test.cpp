// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "common/machine/cpus.hpp"
#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StartTest : public LocalRunnerTest {
 protected:
  void write_program(const fs::path& path, const std::string& text,
                     fs::perms permissions = fs::perms::owner_all) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    fs::permissions(path, permissions);
  }
  [[nodiscard]] std::string output_of(const TrialSpec& spec) {
    const TrialRun done = run(spec);
    EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
    return log_of(spec);
  }
};

int count_of(const std::string& part, const std::string& text) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++count;
  return count;
}

TEST_F(StartTest, ArgumentsArriveUnchanged) {
  const std::vector<std::string> nasty{"",     "a b",         "$(touch x)", "; touch x",   "\"'`\\",
                                       "--x=", "new\nline\t", "*",          "\xC3\xA4\xFF"};
  std::vector<std::string> argv{"printf", "<%s>"};
  argv.insert(argv.end(), nasty.begin(), nasty.end());
  std::string expected;
  for (const std::string& argument : nasty)
    expected += "<" + argument + ">";
  EXPECT_EQ(output_of(trial(argv)), expected);
}

TEST_F(StartTest, TheProcessGetsACleanState) {
  sigset_t term;
  sigset_t before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto pipe_handler = std::signal(SIGPIPE, SIG_IGN);
  const std::ofstream held_open(folder() / "held_open");

  TrialSpec spec = trial({STEPTUNE_SOURCE_DIR "/tests/fakes/print_state.sh"});
  spec.working_directory = folder();
  const std::string state = output_of(spec);

  std::signal(SIGPIPE, pipe_handler);
  drop_runner();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(state, HasSubstr("cwd=" + fs::canonical(folder()).string() + "\n"));
  EXPECT_THAT(state, HasSubstr("stdin=/dev/null\n"));
  EXPECT_EQ(count_of(" -> ", state), 4) << "0, 1, 2 and the script:\n" << state;
  EXPECT_EQ(count_of("held_open", state), 0) << state;
  EXPECT_THAT(state, HasSubstr("SigBlk=0000000000000000\n"));
  // Two signals belong to the C library, which leaves them as inherited.
  EXPECT_THAT(state, testing::ContainsRegex("SigIgn=0000000[018]{2}0000000\n"));
  EXPECT_THAT(state, HasSubstr("group=own\n"));
}

TEST_F(StartTest, ATunerWithoutStandardStreamsStartsTrials) {
  std::vector<int> kept;
  for (int fd = 0; fd < 3; ++fd) {
    kept.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, 10));
    ::close(fd);
  }
  const TrialSpec spec = shell("cat; echo out; echo err >&2");
  const TrialRun done = run(spec);
  drop_runner();
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(kept[static_cast<std::size_t>(fd)], fd);
    ::close(kept[static_cast<std::size_t>(fd)]);
  }
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
  EXPECT_EQ(log_of(spec), "out\nerr\n");
}

TEST_F(StartTest, TheStudysPathFindsTheProgram) {
  write_program(folder() / "bin" / "my-trainer", "#!/bin/sh\necho found\n");
  TrialSpec spec = trial({"my-trainer"});
  spec.environment["PATH"] = (folder() / "bin").string() + ":/usr/bin:/bin";
  EXPECT_EQ(output_of(spec), "found\n");
}

TEST_F(StartTest, RelativeProgramsAreFoundInTheWorkingDirectory) {
  write_program(folder() / "work" / "train.sh", "#!/bin/sh\necho relative\n");
  TrialSpec spec = trial({"./train.sh"});
  spec.working_directory = folder() / "work";
  EXPECT_EQ(output_of(spec), "relative\n");
}

TEST_F(StartTest, AFailedStartIsAnOutcomeWithTheReason) {
  write_program(folder() / "plain.txt", "text", fs::perms::owner_read);
  write_program(folder() / "orphan.sh", "#!/no/such/interpreter\n");
  write_program(folder() / "no-format", "neither program nor script\n");
  const std::string folder_text = folder().string();
  const std::vector<std::pair<std::string, std::string>> cases{
      {"no-such-program-anywhere", "No such file or directory in PATH"},
      {"no-such-program-anywhere", "set PATH in the shell that starts steptune"},
      {"LR=0.1", "begin the command with env"},
      {"python3 train.py", "do not quote the command as a whole"},
      {folder_text + "/missing", "No such file or directory"},
      {folder_text + "/plain.txt", "Permission denied"},
      {folder_text, "Is a directory"},
      {folder_text + "/orphan.sh", "interpreter"},
      {folder_text + "/no-format", "#! line"},
      {"", "empty"},
  };
  for (const auto& [program, reason] : cases) {
    const TrialRun done = run(trial({program}));
    EXPECT_TRUE(done.started.empty()) << program;
    EXPECT_EQ(done.outcome().kind, OutcomeKind::not_started) << program;
    EXPECT_THAT(done.outcome().detail, HasSubstr(reason)) << program;
  }
}

TEST_F(StartTest, ArgumentsThatTheSystemWouldCutShortAreRefused) {
  using namespace std::string_literals;
  TrialSpec spec = trial({"echo", "a\0b"s});
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::not_started);
  spec = shell("true");
  spec.environment["NAME"] = "a\0b"s;
  EXPECT_EQ(run(spec).outcome().kind, OutcomeKind::not_started);
}

TEST_F(StartTest, AMissingWorkingDirectoryIsNamed) {
  TrialSpec spec = shell("true");
  spec.working_directory = folder() / "gone";
  const TrialRun done = run(spec);
  EXPECT_EQ(done.outcome().kind, OutcomeKind::not_started);
  EXPECT_THAT(done.outcome().detail, HasSubstr("gone: working directory: No such file"));
}

TEST_F(StartTest, RefusalsAreErrorsAndYieldNoEvents) {
  use();
  const TrialSpec endless = shell("exec sleep 1000");
  ASSERT_TRUE(runner().start(endless));
  EXPECT_EQ(runner().start(endless).error().kind, ErrorKind::conflict);
  TrialSpec other = shell("true");
  other.key = {2, 1};
  EXPECT_EQ(runner().start(other).error().kind, ErrorKind::unavailable);
  other.argv.clear();
  EXPECT_EQ(runner().start(other).error().kind, ErrorKind::usage);
  runner().kill_all();
  EXPECT_EQ(wait_for_end().finished.size(), 1U);

  TrialSpec no_log = shell("true");
  no_log.log_path = folder() / "no" / "such" / "folder" / "log";
  EXPECT_EQ(runner().start(no_log).error().kind, ErrorKind::runner);
  TrialSpec no_format = shell("true");
  no_format.report_format.preset = "no-such-preset";
  EXPECT_EQ(runner().start(no_format).error().kind, ErrorKind::usage);
}

TEST_F(StartTest, EnvironmentIsTheTunersWithTheStudysOnTop) {
  ASSERT_EQ(::setenv("STEPTUNE_TEST_KEPT", "kept", 1), 0);
  ASSERT_EQ(::setenv("STEPTUNE_TEST_REPLACED", "old", 1), 0);
  TrialSpec spec = shell(
      "echo $STEPTUNE_TEST_KEPT $STEPTUNE_TEST_REPLACED $PYTHONUNBUFFERED $STEPTUNE_TRIAL "
      "$STEPTUNE_RUN");
  spec.key = {12, 3};
  spec.environment["STEPTUNE_TEST_REPLACED"] = "new";
  LocalRunnerOptions options = unpinned();
  options.run_tag = "environment-test";
  use(options);
  EXPECT_EQ(output_of(spec), "kept new 1 12.3 environment-test\n");
  spec.environment["PYTHONUNBUFFERED"] = "";
  EXPECT_EQ(output_of(spec), "kept new 12.3 environment-test\n");
  ::unsetenv("STEPTUNE_TEST_KEPT");
  ::unsetenv("STEPTUNE_TEST_REPLACED");
}

/// A fake launcher: runs the words after its own once for each local rank.
constexpr const char* k_launcher =
    "#!/bin/sh\nranks=$2\nshift 2\nrank=0\nwhile [ $rank -lt $ranks ]; do\n"
    "  OMPI_COMM_WORLD_LOCAL_RANK=$rank \"$@\" || exit\n  rank=$((rank + 1))\ndone\n";

TEST_F(StartTest, ALauncherGetsNoRanksOfTheTuner) {
  constexpr std::array k_outer{"RANK", "LOCAL_RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK"};
  for (const char* name : k_outer)
    ASSERT_EQ(::setenv(name, "1", 1), 0);
  write_program(folder() / "bin" / "mpirun", k_launcher);
  use(unpinned());  // the runner reads the environment
  for (const char* name : k_outer)
    ::unsetenv(name);
  const TrialSpec program = shell(
      "echo $OMPI_COMM_WORLD_LOCAL_RANK ${RANK-no} ${LOCAL_RANK-no} ${WORLD_SIZE-no} "
      "${OMPI_COMM_WORLD_RANK-no}");
  TrialSpec launched = trial({"mpirun", "-np", "2"});
  launched.argv.insert(launched.argv.end(), program.argv.begin(), program.argv.end());
  launched.environment["PATH"] = (folder() / "bin").string() + ":" + std::getenv("PATH");
  // The command itself names the launcher.
  EXPECT_EQ(output_of(launched), "0 no no no no\n1 no no no no\n");
  launched.launch = Launch{Launcher::mpi, 1, 2};
  EXPECT_EQ(output_of(launched), "0 no no no no\n1 no no no no\n");
  launched.environment["RANK"] = "7";
  EXPECT_EQ(output_of(launched), "0 7 no no no\n1 7 no no no\n") << "the study's own word";
  // A program that is no launcher may be a process of an outer launch.
  EXPECT_EQ(output_of(program), "1 1 1 1\n");
}

class BoundProcessesTest : public StartTest {
 protected:
  void SetUp() override {
    write_program(folder() / "bin" / "mpirun", k_launcher);
    const auto cpus = allowed_cpus();
    ASSERT_TRUE(cpus);
    cpus_ = *cpus;
    if (cpus_.size() < 2) GTEST_SKIP() << "one processor only";
  }
  [[nodiscard]] TrialSpec launched(int processes) const {
    TrialSpec spec = trial({"mpirun", "-np", std::to_string(processes)});
    const TrialSpec program = shell("grep Cpus_allowed_list /proc/self/status | tr -cd '0-9,\n-'");
    spec.argv.insert(spec.argv.end(), program.argv.begin(), program.argv.end());
    spec.environment["PATH"] = (folder() / "bin").string() + ":" + std::getenv("PATH");
    spec.launch = Launch{Launcher::mpi, 1, processes};
    return spec;
  }

  std::vector<int> cpus_;
};

TEST_F(BoundProcessesTest, EachHasItsPartInTheRecord) {
  use(LocalRunnerOptions{});
  const TrialSpec spec = launched(2);
  const TrialRun done = run(spec);
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
  std::string log = log_of(spec);
  std::ranges::replace(log, '\n', '/');
  EXPECT_EQ(done.started.at(0).placement.at("rank_cpus") + "/", log);
  const auto middle = log.find('/');
  std::vector<int> all = parse_cpus(log.substr(0, middle));
  const std::vector<int> second = parse_cpus(log.substr(middle + 1, log.size() - middle - 2));
  EXPECT_FALSE(all.empty() || second.empty()) << log;
  all.insert(all.end(), second.begin(), second.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, cpus_);
}

TEST_F(BoundProcessesTest, NoRankIsBoundIfTheUserBindsOrNothingCanBeDivided) {
  const std::string whole = format_cpus(cpus_) + "\n";
  use(LocalRunnerOptions{});
  const auto expect_whole = [&](const TrialSpec& spec) {
    const TrialRun done = run(spec);
    EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
    EXPECT_FALSE(done.started.at(0).placement.contains("rank_cpus"));
    EXPECT_TRUE(log_of(spec).starts_with(whole)) << log_of(spec);
  };
  TrialSpec by_variable = launched(2);
  by_variable.environment["OMP_PROC_BIND"] = "close";
  expect_whole(by_variable);
  expect_whole(launched(1));
  expect_whole(launched(static_cast<int>(cpus_.size()) + 1));
}

TEST_F(StartTest, ThreadCountsMatchThePlacementAndAreRecorded) {
  LocalRunnerOptions options = unpinned();
  options.cpus_per_trial = 3;
  use(options);
  TrialSpec spec = shell("echo $OMP_NUM_THREADS $MKL_NUM_THREADS $OPENBLAS_NUM_THREADS");
  start(spec);
  const TrialRun defaults = wait_for_end();
  EXPECT_EQ(log_of(spec), "3 3 3\n");
  EXPECT_EQ(defaults.started.at(0).placement.at("OMP_NUM_THREADS"), "3");

  spec.environment["OMP_NUM_THREADS"] = "1";
  spec.environment["OPENBLAS_NUM_THREADS"] = "2";
  start(spec);
  const TrialRun tuned = wait_for_end();
  EXPECT_EQ(log_of(spec), "1 1 2\n") << "MKL must follow the variable that the study tunes";
  EXPECT_EQ(tuned.started.at(0).placement.at("MKL_NUM_THREADS"), "1");
}

TEST_F(StartTest, TrialsShareAFolderForCompiledFunctionsBesideTheirLogs) {
  TrialSpec spec = shell("echo $JAX_COMPILATION_CACHE_DIR");
  run(spec);
  EXPECT_EQ(log_of(spec), (spec.log_path.parent_path() / "jax-cache\n").string());
  spec.environment["JAX_COMPILATION_CACHE_DIR"] = "/of/the/study";
  run(spec);
  EXPECT_EQ(log_of(spec), "/of/the/study\n");
}

TEST_F(StartTest, PinnedTrialsHaveDisjointCpusAndTheTunerKeepsItsOwn) {
  const auto before = allowed_cpus();
  ASSERT_TRUE(before);
  if (before->size() < 2) GTEST_SKIP() << "needs two CPUs";
  LocalRunnerOptions options = unpinned();
  options.pin = true;
  options.parallel = 2;
  options.cpus_per_trial = 1;
  use(options);
  TrialSpec first = shell("grep Cpus_allowed_list /proc/self/status; exec sleep 1000");
  TrialSpec second = first;
  second.key = {2, 1};
  second.log_path = folder() / "second.log";
  start(first);
  start(second);
  wait_for_output(first, "\n");
  wait_for_output(second, "\n");
  EXPECT_NE(log_of(first), log_of(second));
  EXPECT_EQ(log_of(first).find_first_of(",-"), std::string::npos) << log_of(first);
  EXPECT_EQ(*allowed_cpus(), *before);
  runner().kill_all();
  wait_for_end(2);
}

TEST_F(StartTest, ATooSmallMachineIsReportedAtOnce) {
  LocalRunnerOptions options = unpinned();
  options.pin = true;
  options.parallel = 2;
  options.cpus_per_trial = 100'000;
  const auto made = make_local_runner(clock_, options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::usage);
  EXPECT_THAT(made.error().text(), HasSubstr("200000 cpus"));
}

TEST_F(StartTest, AWatchdogThatDoesNotStartIsReportedAtOnce) {
  LocalRunnerOptions options = unpinned();
  options.watchdog_program = "/bin/false";
  const auto made = make_local_runner(clock_, options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text(), HasSubstr("did not start"));
}

TEST_F(StartTest, TheWatchdogIsFoundBesideTheProgram) {
  LocalRunnerOptions options = unpinned();
  options.watchdog_program.clear();
  use(options);
  EXPECT_EQ(run(shell("exit 0")).outcome().kind, OutcomeKind::completed);
}

TEST_F(StartTest, AMissingWatchdogIsReportedAtOnce) {
  LocalRunnerOptions options = unpinned();
  options.watchdog_program = folder() / "steptune-watchdog";
  const auto made = make_local_runner(clock_, options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text(), HasSubstr("steptune-watchdog"));
}

}  // namespace
}  // namespace steptune::process_tests

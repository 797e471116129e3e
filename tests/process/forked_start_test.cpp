// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Python programs that import a module named torch, which the test writes.
class ForkedStartTest : public LocalRunnerTest {
 protected:
  void SetUp() override {
    write("modules/torch/__init__.py", "from torch import cuda\n");
    write("modules/torch/cuda.py", "def is_initialized():\n    return False\n");
    write("program/train.py",
          "import os, sys, torch\n"
          "print('parent', os.getppid(), 'argv', sys.argv[1:], 'MODE', os.environ.get('MODE'),\n"
          "      'trial', os.environ.get('STEPTUNE_TRIAL'), flush=True)\n"
          "if len(sys.argv) > 2 and sys.argv[2] == 'children':\n"
          "    reader, writer = os.pipe()\n"
          "    for _ in range(2):\n"
          "        if os.fork() == 0:\n"
          "            os.write(1, b'pid %d\\n' % os.getpid())\n"
          "            os.setsid() if sys.argv[1] == 'daemons' else None\n"
          "            os.write(writer, b'x')\n"
          "            os.read(os.pipe()[0], 1)\n"
          "    for _ in range(2):\n"
          "        os.read(reader, 1)\n"
          "    sys.exit(3)\n");
  }
  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder() / name).parent_path());
    std::ofstream(folder() / name) << text;
  }
  [[nodiscard]] TrialSpec python(std::int64_t number, std::vector<std::string> arguments) const {
    std::vector<std::string> argv{"/usr/bin/python3", (folder() / "program/train.py").string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    TrialSpec spec = trial(std::move(argv));
    spec.key.trial = number;
    spec.log_path = folder() / fmt::format("trial-{}.log", number);
    spec.python_path = STEPTUNE_SOURCE_DIR "/trial_runner/hooks/python";
    spec.environment["PYTHONPATH"] = (folder() / "modules").string();
    spec.environment["PYTHONDONTWRITEBYTECODE"] = "1";
    spec.forked_modules.emplace();
    return spec;
  }
  static bool is_forked(const TrialRun& run) {
    return run.started.at(0).placement.contains(k_start_fact);
  }
};

TEST_F(ForkedStartTest, AProcessHasItsOwnArgumentsAndIsAChildOfTheTuner) {
  for (const std::int64_t number : {1, 2, 3}) {
    const TrialSpec spec = python(number, {fmt::format("--n={}", number)});
    const TrialRun done = run(spec);
    EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
    EXPECT_TRUE(is_forked(done));
    EXPECT_GT(done.started[0].program_startup_s, 0.0);
    EXPECT_EQ(log_of(spec), fmt::format("parent {} argv ['--n={}'] MODE None trial {}.1\n",
                                        ::getpid(), number, number));
  }
  // One server forks all three.
  EXPECT_EQ(own_children().size(), 1U);
  drop_runner();
  EXPECT_THAT(own_children(), testing::IsEmpty());
}

TEST_F(ForkedStartTest, EachEnvironmentHasAServerAndAnotherProgramHasNone) {
  EXPECT_TRUE(is_forked(run(python(1, {}))));
  TrialSpec other = python(2, {});
  other.environment["MODE"] = "fast";
  EXPECT_TRUE(is_forked(run(other)));
  EXPECT_THAT(log_of(other), HasSubstr("MODE fast"));
  EXPECT_EQ(own_children().size(), 2U);
  write("program/other.py", "print('another program')\n");
  TrialSpec program = python(3, {});
  program.argv.back() = (folder() / "program/other.py").string();
  EXPECT_FALSE(is_forked(run(program)));
  EXPECT_EQ(log_of(program), "another program\n");
}

TEST_F(ForkedStartTest, TheLeastRecentlyUsedServerMakesRoom) {
  for (const std::int64_t number : {1, 2, 3, 4, 5, 6, 1}) {
    TrialSpec spec = python(number, {});
    spec.environment["MODE"] = std::to_string(number);
    EXPECT_TRUE(is_forked(run(spec)));
    EXPECT_THAT(log_of(spec), HasSubstr(fmt::format("MODE {}", number)));
  }
  EXPECT_EQ(own_children().size(), 4U);
}

TEST_F(ForkedStartTest, ChildrenOfATrialEndWithIt) {
  for (const std::string kind : {"in-group", "daemons"}) {
    const TrialSpec spec = python(1, {kind, "children"});
    const TrialRun done = run(spec);
    EXPECT_TRUE(is_forked(done));
    EXPECT_EQ(done.outcome().kind, OutcomeKind::failed);
    EXPECT_EQ(done.outcome().exit_code, 3);
    EXPECT_THAT(alive(pids_in(log_of(spec))), testing::IsEmpty()) << kind;
    EXPECT_EQ(pids_in(log_of(spec)).size(), 2U);
  }
}

TEST_F(ForkedStartTest, AWrappedCommandIsStartedAnew) {
  const std::string program = (folder() / "program/train.py").string();
  TrialSpec wrapped = python(1, {});
  wrapped.argv = {"/bin/sh", "-c", "/usr/bin/python3 \"$0\" here; true", program};
  const TrialRun done = run(wrapped);
  EXPECT_FALSE(is_forked(done));
  EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
  EXPECT_THAT(log_of(wrapped), HasSubstr("argv ['here']"));
}

TEST_F(ForkedStartTest, AServerThatDiesAtItsImportsCostsNoTrial) {
  write("modules/torch/__init__.py",
        "import os, sys\n"
        "if not hasattr(sys.modules['__main__'], '__file__'):\n"
        "    os._exit(9)  # the program has not begun\n"
        "from torch import cuda\n");
  for (const std::int64_t number : {1, 2}) {
    const TrialSpec spec = python(number, {});
    const TrialRun done = run(spec);
    EXPECT_FALSE(is_forked(done));
    EXPECT_EQ(done.outcome().kind, OutcomeKind::completed) << done.outcome().detail;
  }
  EXPECT_THAT(own_children(), testing::IsEmpty());
}

TEST_F(ForkedStartTest, ATrialStoppedBeforeItsForkNeverStarts) {
  const fs::path gate = folder() / "gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  write("modules/torch/__init__.py",
        fmt::format("open('{}').read()\nfrom torch import cuda\n", gate.string()));
  const TrialSpec spec = python(1, {});
  start(spec);
  runner().stop(spec.key);
  const TrialRun done = wait_for_end();
  EXPECT_THAT(done.started, testing::IsEmpty());
  EXPECT_EQ(done.outcome().kind, OutcomeKind::stopped);
  EXPECT_THAT(own_children(), testing::IsEmpty());
  // The next server starts without traces of it.
  write("modules/torch/__init__.py", "from torch import cuda\n");
  EXPECT_TRUE(is_forked(run(python(1, {}))));
}

TEST_F(ForkedStartTest, WaitingForksEndWithTheRunner) {
  const fs::path gate = folder() / "gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  write("modules/torch/__init__.py", fmt::format("open('{}').read()\n", gate.string()));
  start(python(1, {}));
  drop_runner();
  EXPECT_THAT(own_children(), testing::IsEmpty());
}

TEST_F(ForkedStartTest, AWaitingTrialTakesAPlace) {
  const fs::path gate = folder() / "gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  write("modules/torch/__init__.py",
        fmt::format("open('{}').read()\nfrom torch import cuda\n", gate.string()));
  start(python(1, {}));
  const auto full = runner().start(python(2, {}));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, ErrorKind::unavailable);
  const auto twice = runner().start(python(1, {}));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, ErrorKind::conflict);
  std::ofstream(gate) << "go";
  EXPECT_TRUE(is_forked(wait_for_end()));
}

}  // namespace
}  // namespace steptune::process_tests

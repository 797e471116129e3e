// SPDX-License-Identifier: Apache-2.0
// Tests `exec --tune`: a run that is tuned while it runs prints the same as an untouched run, even
// if the tuner fails.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* k_interpreter = "/usr/bin/python3";

/// Trains until a file appears, or for a given number of steps. Prints each step's loss to the last
/// bit.
const char* const k_long_run = R"(import os
import sys
import time
import torch
from torch import nn

class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.full((16,), float(i % 7)), i % 3

torch.manual_seed(1)
loader = torch.utils.data.DataLoader(Slow(), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
steps = int(sys.argv[1]) if len(sys.argv) > 1 else None
done = 0
while True:
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        done += 1
        print(done, loss.item().hex(), flush=True)
        if done == steps or (steps is None and os.path.exists("enough")):
            print("enough", file=sys.stderr)
            sys.exit(7)
)";

class TunedRun : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_pytorch()) GTEST_SKIP() << "no PyTorch in " << k_interpreter;
    sandbox_.write("train.py", k_long_run);
  }

  [[nodiscard]] pid_t start(const std::string& time = "10s",
                            const std::map<std::string, std::string>& environment = {
                                {"OMP_NUM_THREADS", "1"}}) const {
    return sandbox_.start({"exec", "--tune", "--time", time, "--", k_interpreter, "train.py"},
                          {.environment = environment});
  }
  /// Waits for up to five times as long as `until_err_contains`.
  [[nodiscard]] bool waits_long_for(const std::string& text) const {
    constexpr int k_half_minutes = 5;
    for (int i = 0; i < k_half_minutes; ++i) {
      if (sandbox_.until_err_contains(text)) return true;
    }
    return false;
  }
  /// Ends the run, and compares its output with that of an untouched run of the same length.
  void ends_as_untouched(pid_t pid) const {
    sandbox_.write("enough", "");
    const Ended tuned = sandbox_.wait(pid);
    EXPECT_EQ(tuned.exit_code, 7) << tuned.err;
    const auto steps = std::ranges::count(tuned.out, '\n');
    const Ended plain =
        sandbox_.program({k_interpreter, "train.py", fmt::format("{}", steps)}, one_thread_);
    EXPECT_EQ(plain.exit_code, 7) << plain.err;
    EXPECT_TRUE(plain.out == tuned.out) << tuned.out.substr(tuned.out.size() - 500);
    EXPECT_THAT(tuned.err, HasSubstr("enough\n"));
  }
  /// Returns a running process of this build's steptune in the test's folder; 0 if there is none.
  [[nodiscard]] pid_t tuner() const {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code error;
      const fs::path program = fs::read_symlink(entry.path() / "exe", error);
      if (error || program != fs::canonical(steptune_program())) continue;
      const fs::path folder = fs::read_symlink(entry.path() / "cwd", error);
      if (!error && folder == fs::canonical(sandbox_.folder())) {
        return std::stoi(entry.path().filename());
      }
    }
    return 0;
  }

  const Sandbox sandbox_{};
  const Setting one_thread_{.environment = {{"OMP_NUM_THREADS", "1"}}};
};

TEST_F(TunedRun, BehavesAsTheUntunedRunAndSavesAStudy) {
  const pid_t pid = start();
  ASSERT_TRUE(waits_long_for("the program continues with")) << sandbox_.read("err.txt");
  ends_as_untouched(pid);
  EXPECT_EQ(tuner(), 0);

  const Ended board = sandbox_.steptune({"leaderboard", "train", "--json", "--all"});
  const Json json = *parse_json(board.out, "board");
  EXPECT_EQ(json["study"]["status"], "finished") << board.out;
  EXPECT_GE(json["counts"]["completed"].get<int>(), 1) << board.out;
  const Ended baseline = sandbox_.steptune({"show", "1", "--json"});
  const Json trial = (*parse_json(baseline.out, "show"))["trial"];
  EXPECT_EQ(trial["status"], "completed") << baseline.out;
  EXPECT_GT(trial["measurement"]["startup_s"].get<double>(), 0.0);

  const Ended again = sandbox_.steptune({"exec", "--tune", "--", k_interpreter, "train.py", "1"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(again.err, HasSubstr("the history already has a study \"train\""));
  const Ended used =
      sandbox_.steptune({"exec", "train", "--", k_interpreter, "train.py", "3"}, one_thread_);
  EXPECT_EQ(used.exit_code, 7) << used.err;
  EXPECT_EQ(std::ranges::count(used.out, '\n'), 3);
}

TEST_F(TunedRun, ContinuesWhenTheTunerIsKilled) {
  const fs::path temporary = sandbox_.folder() / "temporary";
  fs::create_directory(temporary);
  const pid_t pid = start("10m", {{"OMP_NUM_THREADS", "1"}, {"TMPDIR", temporary}});
  ASSERT_TRUE(waits_long_for("tunes the running program")) << sandbox_.read("err.txt");
  const pid_t killed = tuner();
  ASSERT_GT(killed, 0);
  kill(killed, SIGKILL);
  ASSERT_TRUE(waits_long_for("the tuner is gone: the program continues with its own settings"));
  ends_as_untouched(pid);
  EXPECT_TRUE(fs::is_empty(temporary)) << "the tuner's socket is removed";
}

TEST_F(TunedRun, ContinuesAfterTheTunerIsStopped) {
  const fs::path temporary = sandbox_.folder() / "temporary";
  fs::create_directory(temporary);
  const pid_t pid = start("10m", {{"OMP_NUM_THREADS", "1"}, {"TMPDIR", temporary}});
  ASSERT_TRUE(waits_long_for("tunes the running program")) << sandbox_.read("err.txt");
  kill(tuner(), SIGTERM);
  EXPECT_TRUE(waits_long_for("the program continues with its own settings"))
      << sandbox_.read("err.txt");
  EXPECT_TRUE(waits_long_for("the tuner was asked to end")) << sandbox_.read("err.txt");
  ends_as_untouched(pid);
  EXPECT_EQ(tuner(), 0);
  EXPECT_TRUE(fs::is_empty(temporary));
  const Ended board = sandbox_.steptune({"leaderboard", "train", "--json", "--all"});
  EXPECT_EQ((*parse_json(board.out, "board"))["study"]["status"], "interrupted") << board.out;
  const std::string warning = sandbox_.steptune({"export", "train", "-", "--format", "csv"}).err;
  EXPECT_THAT(warning, HasSubstr("study \"train\" was interrupted"));
  EXPECT_THAT(warning, Not(HasSubstr("continues it"))) << "the long run has ended";
}

TEST_F(TunedRun, ContinuesWhenTheTunerHangs) {
  const pid_t pid = start("10m");
  ASSERT_TRUE(waits_long_for("tunes the running program")) << sandbox_.read("err.txt");
  const pid_t hung = tuner();
  ASSERT_GT(hung, 0);
  kill(hung, SIGSTOP);
  EXPECT_TRUE(waits_long_for("s: the program continues with its own settings from step"));
  kill(hung, SIGCONT);
  EXPECT_TRUE(waits_long_for("which were restored"));
  ends_as_untouched(pid);
}

TEST_F(TunedRun, EndsByCtrlCAsAnUntunedOneDoes) {
  const pid_t pid = start("10m");
  ASSERT_TRUE(waits_long_for("tunes the running program")) << sandbox_.read("err.txt");
  kill(pid, SIGINT);
  const Ended ended = sandbox_.wait(pid);
  EXPECT_EQ(ended.exit_code, 128 + SIGINT) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("KeyboardInterrupt"));
  EXPECT_TRUE(waits_long_for("the program ended before the tuning did"))
      << sandbox_.read("err.txt");
  const Ended board = sandbox_.steptune({"leaderboard", "train", "--json", "--all"});
  EXPECT_EQ((*parse_json(board.out, "board"))["study"]["status"], "interrupted") << board.out;
}

TEST_F(TunedRun, ReportsALossThatBecomesInfiniteInATrial) {
  std::string program = k_long_run;
  const std::string_view backward = "loss.backward()";
  program.replace(program.find(backward), backward.size(),
                  "(loss * float('nan' if torch.get_num_threads() > 1 else 1)).backward()");
  sandbox_.write("train.py", program);
  const pid_t pid = start("10m");
  EXPECT_TRUE(waits_long_for("the loss became infinite or NaN in trial"))
      << sandbox_.read("err.txt");
  EXPECT_THAT(sandbox_.read("err.txt"), HasSubstr("the program continues with its own settings"));
  sandbox_.write("enough", "");
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 7);
}

TEST_F(TunedRun, SimplyRunsWhatCannotBeTuned) {
  sandbox_.write("train.py", "import sys\nprint('no training here')\nsys.exit(3)\n");
  const Ended silent = sandbox_.steptune({"exec", "--tune", "--", k_interpreter, "train.py"});
  EXPECT_EQ(silent.exit_code, 3);
  EXPECT_EQ(silent.out, "no training here\n");
  EXPECT_TRUE(waits_long_for(
      "steptune: nothing was tuned: the program ended before it had been examined\n"));
  const Ended isolated =
      sandbox_.steptune({"exec", "--tune", "--", k_interpreter, "-I", "train.py"});
  EXPECT_EQ(isolated.exit_code, 3);
  EXPECT_EQ(isolated.out, "no training here\n");
  EXPECT_THAT(isolated.err, HasSubstr("the run is not tuned: \"python3 -I\""));
  const Ended missing = sandbox_.steptune({"exec", "--tune", "--", "/nonexistent/program"});
  EXPECT_EQ(missing.exit_code, 5);
  EXPECT_THAT(missing.err, HasSubstr("cannot start \"/nonexistent/program\""));
  sandbox_.write("script", "#!/nonexistent/python3\n");
  const Ended plain = sandbox_.steptune({"exec", "--tune", "--", "./script"});
  EXPECT_EQ(plain.exit_code, 5);
  EXPECT_THAT(plain.err, HasSubstr("make it executable (chmod +x)"));
  fs::permissions(sandbox_.folder() / "script", fs::perms::owner_all);
  const Ended orphaned = sandbox_.steptune({"exec", "--tune", "--", "./script"});
  EXPECT_EQ(orphaned.exit_code, 5);
  EXPECT_THAT(orphaned.err, HasSubstr("the interpreter that its first line (#!) names"));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / ".steptune"));
}

TEST_F(TunedRun, ReportsAHistoryHeldByAnotherTuner) {
  sandbox_.write("train.py", "import os\nprint('hook', 'STEPTUNE_HOOK' in os.environ)\n");
  const Ended ended = sandbox_.program(
      {"/bin/sh", "-c",
       fmt::format("mkdir .steptune && exec flock .steptune/history.db.lock '{}' exec --tune -- {} "
                   "train.py",
                   steptune_program(), k_interpreter)});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "hook False\n") << "nothing was put into the program";
  EXPECT_THAT(ended.err, HasSubstr("warning: the run is not tuned: "));
  EXPECT_THAT(ended.err, HasSubstr("another steptune is writing to this history"));
}

TEST_F(TunedRun, TheTunerKeepsNoLockOpenThatCameWithTheCommand) {
  sandbox_.write("train.py", R"(import glob
import os
import time

def holders():
    found = 0
    for descriptor in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            found += os.path.samefile(descriptor, "lock")
        except OSError:
            pass
    return found

ends_s = time.monotonic() + 10
while holders() > 1 and time.monotonic() < ends_s:
    time.sleep(0.1)
print(holders())
)");
  const std::string command = fmt::format("exec 9>lock; exec {} exec --tune -- {} train.py",
                                          steptune_program(), k_interpreter);
  const Ended ended = sandbox_.program({"/bin/sh", "-c", command});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, "1\n");
}

TEST_F(TunedRun, RefusesWhatContradictsItself) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const Ended ended = sandbox_.steptune(words);
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(why));
  };
  refused({"exec"}, "STUDY is required");
  refused({"exec", "--tune"}, "--tune needs the command of a PyTorch program");
  refused({"exec", "train", "--tune", "--", "true"}, "a study, \"train\", and --tune are given");
  refused({"exec", "--tune", "--trial", "2", "--", "true"}, "both --trial and --tune are given");
  refused({"exec", "--tune", "--time", "soon", "--", "true"}, "--time");
  refused({"exec", "--tune", "--name", "a b", "--", "true"}, "\"a b\" is not a study name");
  refused({"exec", "train", "--time", "3s", "--", "true"}, "--time is for tuning the run itself");
  refused({"exec", "train", "--time", "5m", "--", "true"}, "--time is for tuning the run itself");
  refused({"exec", "train", "--new", "--", "true"}, "--new is for tuning the run itself");
  sandbox_.write("study.json",
                 R"({"name": "over", "command": ["python3", "train.py"], "trials": "attached",
                     "hooks": {"python": {"num_workers": "{x}"}},
                     "parameters": {"x": {"type": "int", "low": 0, "high": 4}},
                     "baseline": {"x": 0}})");
  refused({"run", "study.json"}, "were part of one long run, which has ended");
}

}  // namespace
}  // namespace steptune::golden

// SPDX-License-Identifier: Apache-2.0
//
// Tests that a trial leaves nothing in this machine's shared memory.
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/process/local_runner_fixture.hpp"

namespace steptune::process_tests {
namespace {

namespace fs = std::filesystem;

class LeftBehindTest : public LocalRunnerTest {
 protected:
  ~LeftBehindTest() override {
    for (const auto& file : files_)
      fs::remove(file);
  }
  /// Returns the path of a file that only this test uses.
  std::string own_file(const std::string& name) {
    files_.push_back(fs::path("/dev/shm") / fmt::format("{}.p{}", name, ::getpid()));
    return files_.back();
  }

 private:
  std::vector<fs::path> files_;
};

TEST_F(LeftBehindTest, SharedMemoryNamedAfterItsProcessIsRemoved) {
  // PyTorch's name with sharing_strategy=file_system.
  const TrialSpec spec = shell(
      "umask 077; for i in 1 2 3; do echo tensor > /dev/shm/torch_$$_77_$i; done; echo pid $$; "
      "echo made; exec sleep 600");
  start(spec);
  wait_for_output(spec, "made");
  runner().stop(spec.key);
  const TrialRun done = wait_for_end();
  EXPECT_EQ(done.outcome().kind, OutcomeKind::stopped);
  EXPECT_EQ(done.outcome().left_behind, "");
  const pid_t pid = pids_in(log_of(spec)).at(0);
  for (int i = 1; i <= 3; ++i)
    EXPECT_FALSE(fs::exists(fmt::format("/dev/shm/torch_{}_77_{}", pid, i)));
}

TEST_F(LeftBehindTest, SharedMemoryThatItsProcessesHeldIsRemoved) {
  const std::string file = own_file("psm_held");
  const TrialSpec spec =
      shell("umask 077; exec 9<> " + file + "; echo memory >&9; echo made; exec sleep 600");
  start(spec);
  wait_for_output(spec, "made");
  runner().stop(spec.key);
  EXPECT_EQ(wait_for_end().outcome().left_behind, "");
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(LeftBehindTest, FilesOfUnknownOwnersAreNamedAndKept) {
  const std::string file = own_file("unknown");
  const TrialRun done = run(shell("echo data > " + file));
  EXPECT_THAT(done.outcome().left_behind, testing::HasSubstr(file));
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(LeftBehindTest, FilesFromBeforeTheTrialStay) {
  const std::string file = own_file("torch_1_2");
  std::ofstream(file) << "kept";
  const TrialRun done = run(shell("exec 9<> " + file + "; echo read"));
  EXPECT_EQ(done.outcome().left_behind, "");
  EXPECT_TRUE(fs::exists(file));
}

/// A helper like Python's resource tracker: it ends after its only client, and cleans up.
constexpr const char* k_tracked = R"sh(
mkfifo "$2/pipe"
python3 -c '# from multiprocessing.resource_tracker import main
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("tracks", flush=True)
sys.stdin.read()
time.sleep(0.5)
open(sys.argv[1], "w").close()' "$1" < "$2/pipe" &
exec 9> "$2/pipe"
trap '' TERM
while :; do sleep 0.05 9>&-; done
)sh";

TEST_F(LeftBehindTest, AHelperThatCleansUpIsGivenTheTime) {
  const std::string cleaned = (folder() / "cleaned").string();
  TrialSpec spec = trial({"/bin/sh", "-c", k_tracked, "sh", cleaned, folder().string()});
  spec.limits.grace_s = 0.0;
  start(spec);
  wait_for_output(spec, "tracks");
  runner().stop(spec.key);
  wait_for_end();
  EXPECT_TRUE(fs::exists(cleaned));
}

}  // namespace
}  // namespace steptune::process_tests

// SPDX-License-Identifier: Apache-2.0
// Trials of several processes: the commands that are shown, and real data-parallel training.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "common/machine/cpus.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* k_python3 = "/usr/bin/python3";

/// Two processes on gloo; the second gets its data 40 ms late. Two trials run at a time.
constexpr const char* k_ddp_study = R"json({
  "name": "ddp",
  "command": ["/usr/bin/python3", "train.py", "{batch}", "it's $HOME"],
  "env": {"PYTHONPATH": "REPORTERS"},
  "launch": {"processes_per_node": 2, "options": ["--redirects=9:1", "--tee=9:1"]},
  "parameters": {"batch": {"type": "ordinal", "choices": [4, 8, 16]}},
  "baseline": {"batch": 4},
  "search": {"searcher": "grid", "scheduler": "none"},
  "budget": {"trials": 3},
  "measure": {"max_trial": "20s", "min_window": "1s", "target_half_width": 0.3, "confirm_pairs": 0,
              "sentinels": false},
  "runner": {"type": "local", "parallel": 2, "pin": false}
})json";

constexpr const char* k_ddp_program = R"(import sys, time
import torch
import torch.distributed as dist
import steptune

assert sys.argv[2] == "it's $HOME"
dist.init_process_group("gloo")
rank, batch = dist.get_rank(), int(sys.argv[1])
network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
while True:
    with steptune.timed("data"):
        x = torch.randn(batch, 8)
        time.sleep(0.05 if rank == 1 else 0.01)
    optimizer.zero_grad()
    network(x).pow(2).mean().backward()
    optimizer.step()
    steptune.report(samples=batch * dist.get_world_size())
)";

std::string ddp_study() {
  std::string text = k_ddp_study;
  const std::string place = "REPORTERS";
  text.replace(text.find(place), place.size(), STEPTUNE_SOURCE_DIR "/trial_runner/reporters");
  return text;
}

Json shown_trial(const Sandbox& sandbox, const std::string& number) {
  const Ended ended = sandbox.steptune({"show", "ddp", number, "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return (*parse_json(ended.out, "show"))["trial"];
}

bool has_torchrun() {
  static const bool k_has =
      Sandbox()
          .program({k_python3, STEPTUNE_SOURCE_DIR "/tests/support/has_torchrun.py"})
          .exit_code == 0;
  return k_has;
}

TEST(LaunchedStudy, TrialsOfTwoRealProcessesAreMeasuredAtTheSameTime) {
  const Sandbox sandbox;
  if (!has_torchrun()) GTEST_SKIP() << "no torchrun that starts processes in " << k_python3;
  sandbox.write("train.py", k_ddp_program);
  sandbox.write("study.json", ddp_study());
  const Ended ended = sandbox.steptune({"run", "study.json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  // The two trials after the baseline run at the same time, so neither waits for the other's port.
  EXPECT_LT(shown_trial(sandbox, "3")["started"].get<std::string>(),
            shown_trial(sandbox, "2")["ended"].get<std::string>());
  for (const char* number : {"1", "2", "3"}) {
    const Json trial = shown_trial(sandbox, number);
    const Json& measured = trial["measurement"];
    ASSERT_EQ(trial["status"], "completed") << trial.dump();
    // Samples count both processes, and steps count the slower one.
    const double step_s = measured["seconds_per_sample"].get<double>() * 2.0 *
                          trial["configuration"]["batch"].get<double>();
    EXPECT_GT(step_s, 0.05);
    EXPECT_LT(step_s, 0.5);
    EXPECT_THAT(measured["remark"].get<std::string>(),
                AllOf(HasSubstr("straggler: rank 1"), HasSubstr("more on data")));
  }
}

/// A program that knows nothing of Steptune: two processes on gloo, the second of which waits five
/// times as long for its data. Each writes its number of threads to a file.
constexpr const char* k_untouched_program = R"(import os
import time
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

class Late(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        time.sleep(0.005 if rank == 1 else 0.001)
        return torch.full((5,), index % 7 / 7)

dist.init_process_group("gloo")
rank = dist.get_rank()
data = Late()
network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(5, 1))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
steps = 0
while True:
    for x in DataLoader(data, batch_size=8, sampler=DistributedSampler(data)):
        optimizer.zero_grad()
        network(x).pow(2).mean().backward()
        optimizer.step()
        steps += 1
        if steps == 5:
            with open("threads.%d" % rank, "a") as file:
                print(torch.get_num_threads(), file=file)
)";

constexpr const char* k_untouched_study = R"json({
  "name": "ddp",
  "command": ["/usr/bin/python3", "train.py"],
  "hooks": {"python": {"num_threads": "{threads}"}},
  "parameters": {"threads": {"type": "ordinal", "choices": [1, 2]}},
  "baseline": {"threads": 1},
  "search": {"searcher": "grid", "scheduler": "none"},
  "budget": {"trials": 2},
  "measure": {"max_trial": "20s", "min_window": "1s", "target_half_width": 0.3, "confirm_pairs": 0,
              "sentinels": false},
  "runner": {"type": "local", "pin": false}
})json";

TEST(LaunchedStudy, AnUnchangedProgramOfTwoProcessesIsTuned) {
  const Json options = {"--redirects=9:1", "--tee=9:1"};
  // The study's `launch` starts the ranks, all of which then report. Or the command itself contains
  // the launcher, as a person types it.
  for (const bool is_typed : {false, true}) {
    const Sandbox sandbox;
    if (!has_torchrun()) GTEST_SKIP() << "no torchrun that starts processes in " << k_python3;
    Json study = Json::parse(k_untouched_study);
    if (is_typed) {
      study["command"] = {k_python3,
                          "-m",
                          "torch.distributed.run",
                          "--nproc_per_node=2",
                          "--rdzv_backend=c10d",
                          "--rdzv_endpoint=localhost:0"};
      for (const Json& option : options)
        study["command"].push_back(option);
      study["command"].push_back("train.py");
    } else {
      study["launch"] = {{"processes_per_node", 2}, {"options", options}};
    }
    sandbox.write("train.py", k_untouched_program);
    sandbox.write("study.json", study.dump());
    const Setting one_thread{.environment = {{"OMP_NUM_THREADS", "1"}}};
    const Ended ended = sandbox.steptune({"run", "study.json"}, one_thread);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    for (const char* number : {"1", "2"}) {
      const Json trial = shown_trial(sandbox, number);
      ASSERT_EQ(trial["status"], "completed") << trial.dump();
      const Json& measured = trial["measurement"];
      EXPECT_EQ(measured["window_samples"], measured["window_steps"].get<double>() * 16.0);
      const double step_s = measured["seconds_per_sample"].get<double>() * 16.0;
      EXPECT_GT(step_s, 0.03) << "the slower one's";
      EXPECT_LT(step_s, 0.5);
      if (!is_typed) {
        EXPECT_THAT(measured["remark"].get<std::string>(),
                    AllOf(HasSubstr("straggler: rank 1"), HasSubstr("more on data")));
      }
    }
    for (const char* file : {"threads.0", "threads.1"})
      EXPECT_EQ(sandbox.read(file), "1\n2\n") << file;
  }
}

/// Each process prints the CPUs on which it may run, in a trial and under `exec`.
constexpr const char* k_cpus_program = R"(import os, sys, time
import steptune

name = "cpus." + os.environ["LOCAL_RANK"]
is_trial = not os.path.exists(name)  # which Steptune ends as soon as it is measured
with open(name, "a") as file:
    print(sorted(os.sched_getaffinity(0)), sys.argv[2], file=file)
for step in range(100000 if is_trial else 20):
    time.sleep(0.01)
    steptune.report(samples=2)
)";

TEST(LaunchedStudy, EachProcessHasItsOwnPartOfTheProcessors) {
  const Sandbox sandbox;
  if (!has_torchrun()) GTEST_SKIP() << "no torchrun that starts processes in " << k_python3;
  const auto cpus = allowed_cpus();
  ASSERT_TRUE(cpus);
  if (cpus->size() < 2) GTEST_SKIP() << "one processor only";
  Json study = Json::parse(ddp_study());
  study["runner"] = {{"type", "local"}};
  study["budget"]["trials"] = 1;
  sandbox.write("train.py", k_cpus_program);
  sandbox.write("study.json", study.dump());
  const Ended ended = sandbox.steptune({"run", "study.json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Ended again = sandbox.steptune({"exec", "ddp", "--trial", "1"});
  ASSERT_EQ(again.exit_code, 0) << again.err;

  std::vector<int> of_all;
  std::string printed;
  for (const char* file : {"cpus.0", "cpus.1"}) {
    std::istringstream lines(sandbox.read(file));
    std::string line;
    std::string of_exec;
    ASSERT_TRUE(std::getline(lines, line) && std::getline(lines, of_exec)) << file;
    EXPECT_EQ(line, of_exec);
    EXPECT_TRUE(line.ends_with(" it's $HOME")) << line;
    const Json part = Json::parse(line.substr(0, line.find(']') + 1));
    const auto own = part.get<std::vector<int>>();
    EXPECT_FALSE(own.empty());
    of_all.insert(of_all.end(), own.begin(), own.end());
    printed += (printed.empty() ? "" : "/") + format_cpus(own);
  }
  std::ranges::sort(of_all);
  EXPECT_EQ(of_all, *cpus) << "each CPU belongs to one process";
  EXPECT_EQ(shown_trial(sandbox, "1")["placement"]["rank_cpus"], printed);
}

/// Two processes of mpirun, the second of which is slower. As root, mpirun needs two confirmations.
/// Open MPI 5 needs a home.
constexpr const char* k_mpi_study = R"json({
  "name": "mpi",
  "command": ["/usr/bin/python3", "PROGRAM", "{batch}"],
  "env": {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
          "PYTHONPATH": "REPORTERS", "TMPDIR": "FOLDER", "HOME": "/tmp"},
  "launch": {"with": "mpi", "processes_per_node": 2, "options": ["--oversubscribe"]},
  "parameters": {"batch": {"type": "ordinal", "choices": [4, 8]}},
  "baseline": {"batch": 4},
  "search": {"searcher": "grid", "scheduler": "none"},
  "budget": {"trials": 2},
  "measure": {"max_trial": "20s", "min_window": "1s", "target_half_width": 0.3, "confirm_pairs": 0,
              "sentinels": false},
  "runner": {"type": "local", "pin": false}
})json";

constexpr const char* k_mpi_program = R"(import os, sys, time
import steptune

rank, size = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
batch = int(sys.argv[1])
for step in range(100000):
    time.sleep(0.03 if rank == 1 else 0.01)
    if rank == 1 and step == 40 and os.environ.get("FAILS"):
        print("rank one gives up", flush=True)
        sys.exit(3)
    steptune.report(samples=batch * size)
)";

/// Skips the test if there is no mpirun.
class MpiStudyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (sandbox_.program({"/bin/sh", "-c", "command -v mpirun"}).exit_code != 0) {
      GTEST_SKIP() << "no mpirun";
    }
    std::string study = k_mpi_study;
    const auto put = [&](const std::string& place, const std::string& text) {
      study.replace(study.find(place), place.size(), text);
    };
    put("REPORTERS", STEPTUNE_SOURCE_DIR "/trial_runner/reporters");
    put("FOLDER", sandbox_.folder());  // mpirun keeps the files for its processes there
    put("PROGRAM", program_);
    sandbox_.write("train.py", k_mpi_program);
    sandbox_.write("study.json", study);
  }

  Sandbox sandbox_;
  std::string program_ = sandbox_.folder() / "train.py";
};

TEST_F(MpiStudyTest, ItsProcessesAreMeasuredTogetherAndEndTogether) {
  // Variables of an outer launch, which would silence both processes or give them the same rank.
  const Setting outer{{{"RANK", "1"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "9"}}};
  const Ended ended = sandbox_.steptune({"run", "study.json"}, outer);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* number : {"1", "2"}) {
    const Ended shown = sandbox_.steptune({"show", "mpi", number, "--json"});
    const Json trial = (*parse_json(shown.out, "show"))["trial"];
    ASSERT_EQ(trial["status"], "completed") << trial.dump();
    const double step_s = trial["measurement"]["seconds_per_sample"].get<double>() * 2.0 *
                          trial["configuration"]["batch"].get<double>();
    EXPECT_GT(step_s, 0.03) << "the slower one's";
    EXPECT_THAT(trial["measurement"]["remark"].get<std::string>(), HasSubstr("straggler: rank 1"));
  }
  EXPECT_NE(sandbox_.program({"/usr/bin/pgrep", "-f", "python3 " + program_}).exit_code, 0);
}

TEST_F(MpiStudyTest, AProcessThatFailsIsHeardThoughTheOthersContinue) {
  const Ended ended = sandbox_.steptune({"run", "study.json"}, {{{"FAILS", "1"}}});
  EXPECT_EQ(ended.exit_code, 3) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("trial 1 failed: exit status 3 | "));
  EXPECT_THAT(ended.err, HasSubstr("rank one gives up"));
}

TEST(LaunchedStudy, ShowsTheCommandWithItsLauncher) {
  const Sandbox sandbox;
  sandbox.write("train.py", "");
  sandbox.write("study.json", ddp_study());
  const Ended checked = sandbox.steptune({"check", "study.json", "--show", "1"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.out,
              HasSubstr("/usr/bin/python3 -m torch.distributed.run --nnodes=1 --nproc_per_node=2 "
                        "--rdzv_backend=c10d --rdzv_endpoint=localhost:0 --redirects=9:1 "
                        "--tee=9:1 train.py 4 'it'\\''s $HOME'"));
}

}  // namespace
}  // namespace steptune::golden

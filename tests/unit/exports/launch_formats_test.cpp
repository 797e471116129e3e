// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/launch_formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/shell_quote.hpp"
#include "tests/support/must.hpp"

namespace steptune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LongRun run_of(std::vector<std::string> argv) {
  LongRun run;
  run.study = "demo";
  run.argv = std::move(argv);
  return run;
}

TEST(Torchrun, StartsScriptsModulesAndOtherPrograms) {
  EXPECT_THAT(
      must(torchrun_words(run_of({"python3", "-u", "train.py", "--lr", "1"}))),
      ElementsAre("torchrun", "--standalone", "--nproc_per_node=1", "train.py", "--lr", "1"));
  EXPECT_THAT(
      must(torchrun_words(run_of({"python", "-m", "pkg.train", "x"}))),
      ElementsAre("torchrun", "--standalone", "--nproc_per_node=1", "-m", "pkg.train", "x"));
  EXPECT_THAT(must(torchrun_words(run_of({"/opt/venv/bin/python3.11", "t.py"}))),
              ElementsAre("/opt/venv/bin/python3.11", "-m", "torch.distributed.run", "--standalone",
                          "--nproc_per_node=1", "t.py"))
      << "the interpreter that was measured";
  EXPECT_THAT(must(torchrun_words(run_of({"./trainer", "-n"}))),
              ElementsAre("torchrun", "--standalone", "--nproc_per_node=1", "--no_python",
                          "./trainer", "-n"));
  EXPECT_THAT(must(torchrun_words(run_of({"python3", "-O", "t.py"}))),
              ElementsAre("torchrun", "--standalone", "--nproc_per_node=1", "--no_python",
                          "python3", "-O", "t.py"));
}

TEST(Torchrun, LeavesItsOwnCommandsAndBringsVariables) {
  LongRun run = run_of({"torchrun", "--nproc_per_node=4", "t.py"});
  EXPECT_EQ(must(torchrun_words(run)), run.argv);
  run.environment = {{"OMP_NUM_THREADS", "2"}, {"NOTE", "a b"}};
  EXPECT_THAT(must(torchrun_words(run)), ElementsAre("env", "NOTE=a b", "OMP_NUM_THREADS=2",
                                                     "torchrun", "--nproc_per_node=4", "t.py"));
  EXPECT_THAT(accelerate_words(run).error().text(), HasSubstr("--format torchrun"));
  EXPECT_EQ(torchrun_words(run_of({})).error().kind, ErrorKind::not_found);
}

TEST(Torchrun, NamesTheMachines) {
  LongRun run = run_of({"python3", "t.py"});
  run.resources = {"ml.p4d.24xlarge", 2, {}};
  EXPECT_EQ(must(torchrun_words(run))[1], "--nnodes=2");
}

TEST(Accelerate, GetsPrecisionAndThreads) {
  LongRun run = run_of({"python3", "train.py"});
  EXPECT_THAT(must(accelerate_words(run)), ElementsAre("accelerate", "launch", "--num_processes=1",
                                                       "--num_machines=1", "train.py"));
  run.configuration.set("precision", std::string("bf16"));
  run.environment["OMP_NUM_THREADS"] = "3";
  EXPECT_THAT(must(accelerate_words(run)),
              ElementsAre("env", "OMP_NUM_THREADS=3", "accelerate", "launch", "--num_processes=1",
                          "--num_machines=1", "--mixed_precision=bf16",
                          "--num_cpu_threads_per_process=3", "train.py"));
  run.configuration.set("precision", std::string("of mine"));
  EXPECT_EQ(posix_quoted(must(accelerate_words(run))).find("mixed"), std::string::npos);
}

TEST(Dockerfile, ContainsEveryValue) {
  LongRun run = run_of({"python3", "t.py", "it's \"so\" \\ $HOME\n\tü"});
  run.environment = {
      {"PLAIN", "a b"}, {"HARD", "\"q\" \\ $X 'y' #"}, {"LINES", "a\nb"}, {"odd-name", "1"}};
  EXPECT_EQ(must(dockerfile_lines(run)),
            "ENV HARD=\"\\\"q\\\" \\\\ \\$X 'y' #\"\n"
            "ENV PLAIN=\"a b\"\n"
            "CMD [\"env\",\"LINES=a\\nb\",\"odd-name=1\",\"python3\",\"t.py\","
            "\"it's \\\"so\\\" \\\\ $HOME\\n\\tü\"]\n");
  EXPECT_THAT(dockerfile_lines(run_of({"t", "\xFF"})).error().text(), HasSubstr("not UTF-8"));
}

TEST(GitHub, NoValueEndsItsOwnText) {
  LongRun run = run_of({"t", "a\nSTEPTUNE_END\nx=1"});
  run.configuration.set("note", std::string("a\nSTEPTUNE_END_\nowned=1"));
  run.configuration.set("args", std::string("hidden"));
  run.environment["V"] = "1 2";
  EXPECT_EQ(must(github_output(run)),
            "note<<STEPTUNE_END__\na\nSTEPTUNE_END_\nowned=1\nSTEPTUNE_END__\n"
            "configuration={\"args\":\"hidden\",\"note\":\"a\\nSTEPTUNE_END_\\nowned=1\"}\n"
            "args<<STEPTUNE_END_\nt 'a\nSTEPTUNE_END\nx=1'\nSTEPTUNE_END_\n"
            "env=V='1 2'\n");
}

}  // namespace
}  // namespace steptune

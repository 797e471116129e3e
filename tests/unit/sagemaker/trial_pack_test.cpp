// SPDX-License-Identifier: Apache-2.0
// Tests the shell command of a pack's job. This machine's shells run it as a container would.
#include "trial_runner/sagemaker/trial_pack.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/rng.hpp"
#include "common/shell_quote.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/sagemaker/simulated_account/slow_looks.hpp"

namespace steptune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TrialSpec trial(std::int64_t number, std::vector<std::string> argv, double seconds = 60.0) {
  TrialSpec spec;
  spec.key = {number, 1};
  spec.argv = std::move(argv);
  spec.time_to_measure_s = seconds;
  spec.limits.grace_s = 1.0;
  spec.configuration.set("number", number);
  return spec;
}

ContainerStart request_of(const std::vector<TrialSpec>& trials) {
  std::vector<const TrialSpec*> specs;
  for (const TrialSpec& spec : trials)
    specs.push_back(&spec);
  return pack_start(specs, /*in_code_channel=*/false);
}

/// Shells of container images. busybox brings its own tools, others use this machine's.
constexpr const char* k_busybox = "busybox";

class TrialPackTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() != std::string(k_busybox)) return;
    std::filesystem::create_directories(tools_);
    const std::string install = fmt::format("busybox --install -s {}", tools_.string());
    if (std::system(install.c_str()) != 0) GTEST_SKIP() << "no busybox";
  }

  std::string shell() const {
    return GetParam() == std::string(k_busybox) ? (tools_ / "sh").string() : GetParam();
  }

  /// Returns the words that the container runs, with the shell under test.
  std::string words_of(const std::vector<TrialSpec>& trials) const {
    ContainerStart request = request_of(trials);
    EXPECT_EQ(request.words.front(), "/bin/sh");
    request.words.front() = shell();
    std::vector<std::string> words{"env",
                                   fmt::format("SAGEMAKER_BASE_DIR={}", folder_.path().string()),
                                   fmt::format("PATH={}:{}", tools_.string(), std::getenv("PATH"))};
    for (const auto& [name, value] : request.environment)
      words.push_back(fmt::format("{}={}", name, value));
    words.insert(words.end(), request.words.begin(), request.words.end());
    return posix_quoted(words);
  }

  /// Returns the container's output.
  std::string run(const std::vector<TrialSpec>& trials, const std::string& around = "{}") {
    const std::string output = folder_.path() / "output";
    const std::string command =
        fmt::format("{} > {} 2>&1", fmt::format(fmt::runtime(around), words_of(trials)), output);
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::stringstream text;
    text << std::ifstream(output).rdbuf();
    return text.str();
  }

  /// Returns the container's output, one entry for each write.
  std::vector<std::string> writes(const std::vector<TrialSpec>& trials) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_DIRECT) != 0) return {};
    std::thread container([&, command = words_of(trials)] {
      EXPECT_EQ(std::system(fmt::format("{} >&{} 2>&1", command, pipe[1]).c_str()), 0);
      ::close(pipe[1]);
    });
    std::vector<std::string> found;
    std::string buffer(65536, ' ');
    for (ssize_t length = 0; (length = ::read(pipe[0], buffer.data(), buffer.size())) > 0;)
      found.emplace_back(buffer, 0, static_cast<std::size_t>(length));
    container.join();
    ::close(pipe[0]);
    return found;
  }

  /// Makes the shell find a wrapper of a program, which first runs `first`. Returns false if the
  /// shell runs its own tools and ignores PATH.
  bool precede(const std::string& program, const std::string& first) const {
    if (GetParam() == std::string(k_busybox)) return false;
    std::filesystem::create_directories(tools_);
    std::ofstream(tools_ / program)
        << fmt::format("#!/bin/sh\n{}\nPATH=${{PATH#*:}} exec {} \"$@\"\n", first, program);
    std::filesystem::permissions(tools_ / program, std::filesystem::perms::owner_all);
    return true;
  }

  /// True if a process of the container still exists after some seconds.
  bool leaves_processes() const {
    const std::string of_container = fmt::format("SAGEMAKER_BASE_DIR={}", folder_.path().string());
    const auto any = [&] {
      for (const auto& process : std::filesystem::directory_iterator("/proc")) {
        std::stringstream environment;
        environment << std::ifstream(process.path() / "environ").rdbuf();
        if (environment.str().find(of_container) != std::string::npos) return true;
      }
      return false;
    };
    for (int i = 0; i < 50; ++i) {
      if (!any()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
  }

  /// Returns the marks in the output, without the marks of starting trials.
  static std::vector<std::string> ends(const std::string& output) {
    std::vector<std::string> marks;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      const auto mark = read_pack_mark(line);
      if (mark && mark->kind != PackMark::Kind::begin) marks.push_back(pack_mark_text(*mark));
    }
    return marks;
  }

  TemporaryFolder folder_{"pack"};
  std::filesystem::path tools_ = folder_.path() / "tools";
};

TEST_P(TrialPackTest, EachTrialGetsItsExactArguments) {
  const std::string odd = "a b'c\"d$e`f\\g*h\ti;j&k|l<m>n#o~ \xc3\xa9";
  std::string longest(400, 'x');
  for (std::size_t i = 0; i + 1 < longest.size(); i += 2)
    longest.replace(i, 2, "\xc3\xa9");
  TrialSpec first = trial(1, {"printf", "<%s>", odd, "", "-n"});
  TrialSpec second = trial(2, {"sh", "-c", "printf '<%s>' \"$ODD\" \"$STEPTUNE_TRIAL\""});
  second.environment = {{"ODD", odd}};
  const std::string output = run({first, second, trial(3, {"printf", "%s", longest})});
  EXPECT_THAT(output, HasSubstr(fmt::format("<{}><><-n>", odd)));
  EXPECT_THAT(output, HasSubstr(fmt::format("<{}><2.1>", odd)));
  EXPECT_THAT(output, HasSubstr(longest)) << "cut into pieces between characters";
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] end 1.1 0", "[steptune-pack] end 2.1 0",
                                        "[steptune-pack] end 3.1 0"));
}

TEST_P(TrialPackTest, ATrialThatCrashesOrHangsTakesNoOtherWithIt) {
  const std::string output =
      run({trial(1, {"sh", "-c", "kill -9 $$"}), trial(2, {"no-such-program"}),
           trial(3, {"sh", "-c", "trap '' TERM; sleep 60 & sleep 60; sleep 60"}, 1.0),
           trial(4, {"sh", "-c", "sleep 60 & echo last; exit 3"})});
  EXPECT_THAT(ends(output),
              ElementsAre("[steptune-pack] end 1.1 137", "[steptune-pack] end 2.1 127",
                          "[steptune-pack] over 3.1", "[steptune-pack] end 3.1 137",
                          "[steptune-pack] end 4.1 3"));
  EXPECT_THAT(output, HasSubstr("last\n"));
  EXPECT_THAT(output, Not(HasSubstr("Killed"))) << "the shell's own words";
}

TEST_P(TrialPackTest, EachTrialFindsItsHyperparameters) {
  const auto config = folder_.path() / "input" / "config";
  std::filesystem::create_directories(config);
  std::ofstream(config / "hyperparameters.json") << "{}";
  const std::vector<std::string> show{"cat", config / "hyperparameters.json"};
  const std::string output = run({trial(1, show), trial(2, show)});
  EXPECT_THAT(output, HasSubstr("{\"number\":\"1\"}"));
  EXPECT_THAT(output, HasSubstr("{\"number\":\"2\"}"));
}

TEST_P(TrialPackTest, AStoppedJobEndsItsTrialAndStartsNoOther) {
  const std::string output =
      run({trial(1, {"sh", "-c",
                     "trap 'echo saved; exit 5' TERM; echo up; while :; do sleep 0.1; "
                     "done"}),
           trial(2, {"echo", "never"})},
          // Only to the first process, like a container's signal.
          "timeout --foreground --preserve-status 3 {}");
  EXPECT_THAT(output, HasSubstr("saved"));
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] end 1.1 5"));
  EXPECT_THAT(output, Not(HasSubstr("never")));
}

/// Returns a program that prints all `reports` (clock, samples) at once. By their clocks, the work
/// took longer.
std::vector<std::string> reporting(const std::vector<std::pair<double, double>>& reports,
                                   const std::string& afterwards) {
  std::string script;
  for (const auto& [clock_s, samples] : reports) {
    script += fmt::format("echo '[steptune] {{\"v\":1,\"samples\":{},\"clock\":{}}}'; ", samples,
                          clock_s);
  }
  return {"sh", "-c", script + afterwards};
}

/// Returns one report per second, with `rate` samples each.
std::vector<std::pair<double, double>> steady(int reports, double rate) {
  std::vector<std::pair<double, double>> all;
  for (int i = 1; i <= reports; ++i)
    all.emplace_back(i, rate * i);
  return all;
}

TEST_P(TrialPackTest, ATrialThatIsClearlySlowIsEndedByItsReports) {
  const std::string wait = "echo waits; sleep 60";
  std::vector<TrialSpec> trials{trial(1, reporting(steady(20, 9.0), wait)),
                                trial(2, reporting(steady(20, 11.0), "echo ends")),
                                trial(3, reporting(steady(20, 9.0), "echo ends"))};
  // Nine samples per second take 0.11 s each, more than the limit of 0.1 s; eleven take 0.09 s.
  trials[0].slow_limit = SlowLimit{5.0, 4.0, 0.1};
  trials[1].slow_limit = SlowLimit{5.0, 4.0, 0.1};
  const std::string output = run(trials);
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] slow 1.1", "[steptune-pack] over 1.1",
                                        "[steptune-pack] end 1.1 143", "[steptune-pack] end 2.1 0",
                                        "[steptune-pack] end 3.1 0"))
      << output;
}

/// Returns a trial that may be silent for `idle_s`.
TrialSpec watched(std::int64_t number, const std::string& script, double idle_s) {
  TrialSpec spec = trial(number, {"sh", "-c", script});
  spec.limits.idle_s = idle_s;
  return spec;
}

TEST_P(TrialPackTest, ASilentTrialIsEnded) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<TrialSpec> trials{watched(1, "trap '' TERM; echo up; sleep 60; sleep 60", 2.0),
                                watched(2, "exit 3", 2.0), watched(3, "", 2.0)};
  // The third trial reports for too short a time to be judged slow.
  trials[2].argv = reporting(steady(3, 9.0), "sleep 60");
  trials[2].slow_limit = SlowLimit{5.0, 4.0, 0.1};
  const std::string output = run(trials);
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] idle 1.1", "[steptune-pack] over 1.1",
                                        "[steptune-pack] end 1.1 137", "[steptune-pack] end 2.1 3",
                                        "[steptune-pack] idle 3.1", "[steptune-pack] over 3.1",
                                        "[steptune-pack] end 3.1 143"))
      << output;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(45));
  EXPECT_FALSE(leaves_processes());
}

TEST_P(TrialPackTest, ATrialThatRedrawsALineWithoutEndIsNotSilent) {
  const std::string output = run({watched(
      1, "i=0; while [ $i -lt 15 ]; do i=$((i + 1)); printf '\\r%s' $i >&2; sleep 0.2; done",
      2.0)});
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] end 1.1 0")) << output;
}

TEST_P(TrialPackTest, APhaseUnderWayMayBeSilentForLonger) {
  const std::string begins = R"(echo '[steptune] {"v":1,"phase":"evaluation"}'; )";
  const std::string output = run({
      watched(1, begins + "sleep 4; exit 3", 2.0),
      watched(2, begins + R"(echo '[steptune] {"v":1,"phase":"evaluation","seconds":5}'; sleep 60)",
              2.0),
      watched(3, begins + R"(echo '[steptune] {"v":1,"step":7}'; sleep 60)", 2.0),
  });
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] end 1.1 3", "[steptune-pack] idle 2.1",
                                        "[steptune-pack] over 2.1", "[steptune-pack] end 2.1 143",
                                        "[steptune-pack] idle 3.1", "[steptune-pack] over 3.1",
                                        "[steptune-pack] end 3.1 143"))
      << output;
}

TEST_P(TrialPackTest, MarksAreWrittenAtOnceSoThatNoOutputTearsThem) {
  std::vector<TrialSpec> trials{trial(1, reporting(steady(20, 9.0), "sleep 60")),
                                trial(2, {"sleep", "60"}, 1.0)};
  trials[0].slow_limit = SlowLimit{5.0, 4.0, 0.1};
  const std::vector<std::string> found = writes(trials);
  EXPECT_THAT(found, Contains("\n[steptune-pack] slow 1.1\n\n[steptune-pack] over 1.1\n"));
  EXPECT_THAT(found, Contains("\n[steptune-pack] over 2.1\n"));
  EXPECT_THAT(found, Contains("\n[steptune-pack] end 2.1 143\n"));
}

TEST_P(TrialPackTest, AnEndedTrialIsNotCalledSlow) {
  if (!precede("awk", "sleep 3")) GTEST_SKIP() << "no program can be put before the shell's";
  TrialSpec spec = trial(1, reporting(steady(20, 9.0), "exit 3"));
  spec.slow_limit = SlowLimit{5.0, 4.0, 0.1};
  EXPECT_THAT(ends(run({spec})), ElementsAre("[steptune-pack] end 1.1 3"));
}

TEST_P(TrialPackTest, AProgramThatMustEndMayDoSoWithAnyExitCode) {
  TrialSpec spec = trial(1, {"sh", "-c",
                             "trap 'exit 1' TERM; " + reporting(steady(20, 9.0), "")[2] +
                                 "while :; do sleep 0.1; done"});
  spec.slow_limit = SlowLimit{5.0, 4.0, 0.1};
  EXPECT_THAT(ends(run({spec})), ElementsAre("[steptune-pack] slow 1.1", "[steptune-pack] over 1.1",
                                             "[steptune-pack] end 1.1 1"));
}

TEST_P(TrialPackTest, NoProcessIsLeft) {
  std::vector<TrialSpec> trials;
  for (int number = 1; number <= 20; ++number) {
    trials.push_back(trial(number, {"true"}));
    if (number % 2 == 0) trials.back().slow_limit = SlowLimit{5.0, 4.0, 0.1};
    if (number % 3 == 0) trials.back().limits.idle_s = 30.0;
  }
  EXPECT_EQ(ends(run(trials)).size(), 20U);
  EXPECT_FALSE(leaves_processes());
}

TEST_P(TrialPackTest, AJobThatIsStoppedAsATrialBeginsEndsSoon) {
  if (!precede("mkfifo", "kill -s TERM $PPID")) {
    GTEST_SKIP() << "no program can be put before the shell's";
  }
  TrialSpec spec = trial(1, {"sleep", "60"});
  spec.slow_limit = SlowLimit{5.0, 4.0, 0.1};
  const auto begin = std::chrono::steady_clock::now();
  const std::string output = run({spec, trial(2, {"echo", "never"})});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] end 1.1 143"));
  EXPECT_THAT(output, Not(HasSubstr("never")));
  EXPECT_FALSE(leaves_processes());
}

TEST_P(TrialPackTest, OutputOfAWatchedTrialIsUnchanged) {
  const std::string odd = "a\\0b\\r50 %%\\tno end of line";
  TrialSpec spec = trial(1, {"sh", "-c", "printf '" + odd + "'; echo from stderr >&2; exit 3"});
  const std::string plain = run({spec});
  spec.slow_limit = SlowLimit{5.0, 4.0, 0.1};
  EXPECT_EQ(run({spec}), plain);
  EXPECT_THAT(plain, HasSubstr(std::string("a\0b\r50 %\tno end of line", 23)));
}

TEST_P(TrialPackTest, AProcessOutsideItsGroupDoesNotDelayTheJob) {
  if (std::system("command -v setsid > /dev/null") != 0) GTEST_SKIP() << "no setsid";
  TrialSpec spec = trial(1, {"sh", "-c", "setsid sleep 30 & echo begun"});
  spec.slow_limit = SlowLimit{5.0, 4.0, 0.1};
  const std::string output = run({spec, trial(2, {"true"})});
  EXPECT_THAT(ends(output), ElementsAre("[steptune-pack] end 1.1 0", "[steptune-pack] end 2.1 0"));
}

TEST_P(TrialPackTest, TheShellReadsReportsAsTheSimulation) {
  Rng rng(7, "reports");
  std::vector<TrialSpec> trials;
  std::vector<std::string> expected;
  for (int number = 1; number <= 40; ++number) {
    const SlowLimit limit{3.0 * rng.uniform(), 0.5 + 3.0 * rng.uniform(), 0.1};
    simulated::SlowLooks looks(limit);
    std::string script;
    bool slow = false;
    double clock_s = 0.0;
    double samples = 0.0;
    for (int report = 0; report < 25; ++report) {
      if (rng.below(12) == 0) {
        script += R"(echo '[steptune] {"v":1,"phase":"evaluation","seconds":2}'; )";
        if (!slow) looks.phase();
        continue;
      }
      clock_s += 0.1 + rng.uniform();
      samples += 12.0 * rng.uniform();
      script += fmt::format(R"(echo '[steptune] {{"v":1,"samples":{},"clock":{},"loss":1}}'; )",
                            samples, clock_s);
      slow = slow || looks.report(clock_s, samples);
    }
    // A slow trial runs until the job's shell has checked it.
    trials.push_back(trial(number, {"sh", "-c", script + (slow ? "sleep 60" : "sleep 0.2")}));
    trials.back().slow_limit = limit;
    if (slow) expected.push_back(fmt::format("[steptune-pack] slow {}.1", number));
  }
  std::vector<std::string> found;
  for (std::size_t begin = 0; begin < trials.size(); begin += 4) {
    std::vector<TrialSpec> some(trials.begin() + static_cast<std::ptrdiff_t>(begin),
                                trials.begin() + static_cast<std::ptrdiff_t>(begin) + 4);
    for (std::string& mark : ends(run(some))) {
      if (mark.starts_with("[steptune-pack] slow")) found.push_back(std::move(mark));
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_GT(expected.size(), 5U);
  EXPECT_LT(expected.size(), 35U);
}

INSTANTIATE_TEST_SUITE_P(Shells, TrialPackTest, testing::Values("/bin/sh", "/bin/bash", k_busybox),
                         [](const auto& shell) {
                           return std::filesystem::path(shell.param).filename().string();
                         });

TEST(TrialPack, RequestsStayWithinTheServicesLimits) {
  std::vector<TrialSpec> trials;
  for (int number = 1; number <= 8; ++number)
    trials.push_back(trial(number, {"python3", "train.py", std::string(300, 'a')}));
  const ContainerStart request = request_of(trials);
  for (const std::string& word : request.words)
    EXPECT_LE(word.size(), 256U) << word;
  for (const auto& [name, value] : request.environment)
    EXPECT_LE(value.size(), 512U) << name;
  EXPECT_LE(request.words.size(), 100U);
  for (const std::string& word : request.words)
    EXPECT_EQ(word.find('\n'), std::string::npos) << word;
}

TEST(TrialPack, RequestsOfThirtyTwoTrialsStayWithinTheLimitsToo) {
  std::vector<TrialSpec> trials;
  for (int number = 1001; number <= 1032; ++number) {
    trials.push_back(trial(number, {"python3", "train.py", "--number", "{number}"}, 1234.5));
    trials.back().slow_limit = SlowLimit{123.4, 12.34, 0.00012345};
  }
  const ContainerStart request = request_of(trials);
  for (const auto& [name, value] : request.environment)
    EXPECT_LE(value.size(), 512U) << name;
  EXPECT_LE(request.environment.size(), 100U);
  EXPECT_LE(request.words.size(), 100U);
  const auto pack = pack_of(Json(request.environment));
  ASSERT_EQ(pack.size(), trials.size());
  for (std::size_t i = 0; i < pack.size(); ++i) {
    EXPECT_EQ(pack[i].key, trials[i].key);
    EXPECT_EQ(pack[i].slow_limit, trials[i].slow_limit);
  }
}

TEST(TrialPack, TheTrialsOfAJobAreReadFromItsEnvironment) {
  const ContainerStart request = request_of({trial(12, {"true"}, 41.2), trial(13, {"true"}, 1e9)});
  const auto pack = pack_of(Json(request.environment));
  ASSERT_EQ(pack.size(), 2U);
  EXPECT_EQ(pack[0].key, (TrialKey{12, 1}));
  EXPECT_EQ(pack[0].seconds, 42.0);
  EXPECT_EQ(pack[1].key, (TrialKey{13, 1}));
  EXPECT_EQ(pack[1].seconds, 3600.0) << "no more than the wall limit";
  EXPECT_FALSE(pack[0].slow_limit);
  EXPECT_TRUE(pack_of(Json::object()).empty());
  EXPECT_TRUE(pack_of(Json{{"STEPTUNE_PACK", "12.1:x"}}).empty());
}

TEST(TrialPack, TheSlowLimitIsWrittenToo) {
  TrialSpec spec = trial(12, {"true"}, 41.2);
  spec.slow_limit = SlowLimit{12.5, 2.0, 0.00034};
  const auto pack = pack_of(Json(request_of({spec, trial(13, {"true"})}).environment));
  ASSERT_EQ(pack.size(), 2U);
  EXPECT_EQ(pack[0].slow_limit, spec.slow_limit);
  EXPECT_EQ(pack[0].seconds, 42.0);
  EXPECT_FALSE(pack[1].slow_limit);
  EXPECT_TRUE(pack_of(Json{{"STEPTUNE_PACK", "12.1:42:1:x:2"}}).empty());
  EXPECT_TRUE(pack_of(Json{{"STEPTUNE_PACK", "12.1:42:1"}}).empty());
}

TEST(TrialPack, ASilenceLimitBelowTheTimeLimitIsWritten) {
  TrialSpec silent = trial(12, {"true"}, 41.2);
  silent.limits.idle_s = 30.0;
  TrialSpec both = trial(13, {"true"}, 100.0);
  both.limits.idle_s = 30.5;
  both.slow_limit = SlowLimit{12.5, 2.0, 0.00034};
  const auto pack =
      pack_of(Json(request_of({silent, both, trial(14, {"true"}, 41.2)}).environment));
  ASSERT_EQ(pack.size(), 3U);
  EXPECT_EQ(pack[0].idle_s, 30.0);
  EXPECT_EQ(pack[0].seconds, 42.0);
  EXPECT_EQ(pack[1].idle_s, 31.0);
  EXPECT_EQ(pack[1].slow_limit, both.slow_limit);
  EXPECT_FALSE(pack[2].idle_s) << "the default of ten minutes exceeds the time limit";
  EXPECT_TRUE(pack_of(Json{{"STEPTUNE_PACK", "12.1:42/x"}}).empty());
}

TEST(TrialPack, OutputOfProgramsIsNoMark) {
  for (const char* line :
       {"", "[steptune] {\"v\":1}", "[steptune-pack] begin", "[steptune-pack] begin 1",
        "[steptune-pack] begin 1.x", "[steptune-pack] end 1.1", "[steptune-pack] end 1.1 x",
        "[steptune-pack] rests 1.1", " [steptune-pack] begin 1.1", "[steptune-pack] over 1.1 2"}) {
    EXPECT_FALSE(read_pack_mark(line)) << line;
  }
  const auto end = read_pack_mark("[steptune-pack] end 12.3 137");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->key, (TrialKey{12, 3}));
  EXPECT_EQ(end->exit_code, 137);
}

}  // namespace
}  // namespace steptune

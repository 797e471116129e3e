// SPDX-License-Identifier: Apache-2.0
// Tests `bisect` with real programs in a small repository, and with real packages.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A repository with one program. Each commit sets the time of the program's steps.
class Bisect : public testing::Test {
 protected:
  void SetUp() override { git("init -q ."); }

  void git(const std::string& words) const {
    const Ended ended = sandbox_.program(
        {"/bin/sh", "-c", "git -c user.name=n -c user.email=e@example.org " + words});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }

  void commit(const std::string& pause_s, const std::string& message) {
    sandbox_.write("train.sh", fmt::format(R"(i=0
while [ $i -lt 20000 ]; do
  i=$((i + 1))
  echo "[steptune] {{\"v\":1,\"step\":$i}}"
  sleep {}
done
)",
                                           pause_s));
    sandbox_.write("version", message);
    git("add train.sh version");
    git(fmt::format("commit -qm '{}'", message));
  }

  [[nodiscard]] std::string trees() const {
    return sandbox_.program({"/bin/sh", "-c", "git worktree list | tail -n +2"}).out;
  }

  /// Returns a column of the history's studies, in order of creation.
  [[nodiscard]] std::vector<std::string> studies(const std::string& column) const {
    const Json listed = Json::parse(sandbox_.steptune({"studies", "--json"}).out);
    std::vector<std::string> values;
    for (const Json& study : listed["studies"])
      values.push_back(study[column].get<std::string>());
    return values;
  }

  Sandbox sandbox_;
};

TEST_F(Bisect, TheCommitIsFound) {
  for (const char* version : {"good", "one"})
    commit("0.02", version);
  for (const char* version : {"slow", "three"})
    commit("0.06", version);
  const Ended ended =
      sandbox_.steptune({"bisect", "HEAD~3", "HEAD", "--build", "test -e version", "--time", "3m",
                         "--quiet", "--json", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "bisect"));
  const Json found = Json::parse(ended.out)["bisect"];
  EXPECT_EQ(found["outcome"], "found");
  EXPECT_EQ(found["suspects"][0]["subject"], "slow");
  EXPECT_LT(found["ratio"].get<double>(), 0.7);
  EXPECT_EQ(trees(), "");
}

TEST_F(Bisect, AKilledBisectionContinuesFromItsHistory) {
  commit("0.02", "good");
  commit("0.02", "one");
  commit("0.06", "slow");
  commit("0.06", "three");
  const std::vector<std::string> command{"bisect", "HEAD~3", "HEAD",    "--time",
                                         "3m",     "--",     "/bin/sh", "train.sh"};
  const pid_t pid = sandbox_.start(command);
  ASSERT_TRUE(sandbox_.until_err_contains("trial 2 started")) << sandbox_.read("err.txt");
  kill(pid, SIGKILL);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 128 + SIGKILL);
  EXPECT_NE(trees(), "") << "a killed program cannot remove them";

  const Ended resumed = sandbox_.steptune(command);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.out << resumed.err;
  EXPECT_THAT(resumed.out, HasSubstr(" slow: "));
  EXPECT_THAT(resumed.err, HasSubstr("continues an earlier bisection, which took "));
  EXPECT_THAT(resumed.err, Not(HasSubstr("trial 1 started"))) << "it was measured before";
  // Two stages divide the time that is left, and a start may take half of a stage.
  const std::string limit = "until it has reported progress for some seconds, for at most ";
  const std::size_t at = resumed.err.find(limit);
  ASSERT_NE(at, std::string::npos) << resumed.err;
  EXPECT_LE(std::stod(resumed.err.substr(at + limit.size())), 45.0) << resumed.err;
  EXPECT_THAT(studies("name"), ElementsAre(StartsWith("bisect-")));
  EXPECT_THAT(studies("status"), ElementsAre("finished"));
  EXPECT_EQ(trees(), "");

  // Nothing is left to be measured.
  const Ended again = sandbox_.steptune(command);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(" slow: "));
  EXPECT_THAT(again.err, Not(HasSubstr("started")));
  EXPECT_THAT(studies("name"), ElementsAre(StartsWith("bisect-")));

  // Another command is another bisection.
  const Ended other = sandbox_.steptune(
      {"bisect", "HEAD~3", "HEAD~2", "--time", "10s", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(other.exit_code, 12) << other.err;
  EXPECT_THAT(other.err, Not(HasSubstr("continues an earlier bisection")));
}

TEST_F(Bisect, VersionsThatDoNotBuildAreSkippedAndNamed) {
  commit("0.02", "good");
  commit("0.02", "broken");
  commit("0.06", "slow");
  const std::string broken = sandbox_.program({"git", "rev-parse", "HEAD~1"}).out.substr(0, 12);
  const Ended ended =
      sandbox_.steptune({"bisect", "HEAD~2", "HEAD", "--build", "! grep broken version", "--time",
                         "2m", "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 12) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("undecided: one of 2 versions made it slower"));
  EXPECT_THAT(ended.out,
              HasSubstr("skipped 1 version that could not be built or run: " + broken + "\n"));
  EXPECT_THAT(ended.out, HasSubstr("read the changes: only the last of these can be measured"));
}

TEST_F(Bisect, ABadVersionThatDoesNotRunIsNamedWithTheReason) {
  commit("0.02", "good");
  sandbox_.write("train.sh", "echo no such data; exit 3\n");
  git("commit -qam bad");
  const Ended ended =
      sandbox_.steptune({"bisect", "HEAD~1", "HEAD", "--time", "40s", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 12) << ended.out << ended.err;
  const std::string bad = sandbox_.program({"git", "rev-parse", "HEAD"}).out.substr(0, 12);
  EXPECT_THAT(ended.err, HasSubstr("skipped " + bad + ": "));
  EXPECT_THAT(ended.err, HasSubstr("no such data"));
  EXPECT_THAT(ended.out,
              HasSubstr("next    give an earlier bad version: this one could not be measured\n"));
}

TEST_F(Bisect, ATimeThatIsOverAfterTheBuildsLeavesItUndecided) {
  for (const char* version : {"good", "one", "two"})
    commit("0.02", version);
  const Ended ended = sandbox_.steptune({"bisect", "HEAD~2", "HEAD", "--build", "sleep 8", "--time",
                                         "23s", "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 12) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("undecided: the bad version may not be slower; if it is, one of "
                                   "2 versions made it slower\n"));
  EXPECT_THAT(ended.out, HasSubstr("; 0 of 2 versions measured\n"));
}

TEST_F(Bisect, ASlowStartIsNamed) {
  for (const char* version : {"good", "bad"})
    commit("0.02", version);
  const Ended ended = sandbox_.steptune({"bisect", "HEAD~1", "HEAD", "--time", "24s", "--quiet",
                                         "--", "/bin/sh", "-c", "sleep 60; exec sh train.sh"});
  EXPECT_EQ(ended.exit_code, 12) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the first command reported no step within 1"));
}

/// Odd and even launches of the bad version differ, so a stage cannot show if it is slower. So the
/// next stage builds it again.
TEST_F(Bisect, ABadVersionThatCannotBeBuiltAgainEndsIt) {
  commit("0.02", "good");
  commit("0.02", "one");
  const std::string count = (sandbox_.folder() / "count").string();
  sandbox_.write("train.sh", fmt::format(R"(n=$(cat {0} 2>/dev/null || echo 0)
echo $((n + 1)) > {0}
pause=0.03
[ $((n % 2)) = 0 ] || pause=0.015
while :; do
  i=$((i + 1))
  echo "[steptune] {{\"v\":1,\"step\":$i}}"
  sleep $pause
done
)",
                                         count));
  sandbox_.write("version", "bad");
  git("commit -qam bad");
  const std::string built = (sandbox_.folder() / "built").string();
  const Ended ended = sandbox_.steptune({"bisect", "HEAD~2", "HEAD", "--build",
                                         "! grep bad version || mkdir " + built, "--time", "1m",
                                         "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 2) << ended.out << ended.err;
  const std::size_t failure = ended.err.find("the command failed in ");
  EXPECT_NE(failure, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("the command failed in ", failure + 1), std::string::npos) << ended.err;
}

/// Writes wheels of a package `pacer`. A step takes 20 ms up to version 1.2 and 60 ms from version
/// 1.3 on. Version 1.2 needs a package that does not exist.
constexpr const char* k_write_wheels = R"(import zipfile
for version in ('1.0', '1.1', '1.2', '1.3', '1.4'):
    info = f'pacer-{version}.dist-info'
    needs = 'Requires-Dist: no-such-package\n' if version == '1.2' else ''
    pause = 0.02 if version < '1.3' else 0.06
    with zipfile.ZipFile(f'wheels/pacer-{version}-py3-none-any.whl', 'w') as wheel:
        wheel.writestr('pacer.py', f'PAUSE_S = {pause}\n')
        wheel.writestr(f'{info}/METADATA',
                       f'Metadata-Version: 2.1\nName: pacer\nVersion: {version}\n{needs}')
        wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\n'
                                        'Tag: py3-none-any\n')
        wheel.writestr(f'{info}/RECORD', '')
)";

TEST_F(Bisect, TheVersionOfAPackageIsFound) {
  std::filesystem::create_directory(sandbox_.folder() / "wheels");
  sandbox_.write("wheels.py", k_write_wheels);
  ASSERT_EQ(sandbox_.program({"/usr/bin/python3", "wheels.py"}).exit_code, 0);
  sandbox_.write("train.py", R"(#!/usr/bin/python3
import time, pacer
for step in range(1, 20000):
    print('[steptune] {"v":1,"step":%d}' % step, flush=True)
    time.sleep(pacer.PAUSE_S)
)");
  std::filesystem::permissions(sandbox_.folder() / "train.py", std::filesystem::perms::owner_all);
  Setting setting;
  setting.environment = {{"PIP_NO_INDEX", "1"},
                         {"PIP_FIND_LINKS", (sandbox_.folder() / "wheels").string()},
                         {"XDG_CACHE_HOME", (sandbox_.folder() / "cache").string()}};
  const std::vector<std::string> command{"bisect",
                                         "--package",
                                         "pacer",
                                         "1.0",
                                         "1.1",
                                         "1.2",
                                         "1.3",
                                         "1.4",
                                         "--time",
                                         "3m",
                                         "--json",
                                         "--",
                                         "/usr/bin/python3",
                                         "train.py"};
  const Ended ended = sandbox_.steptune(command, setting);
  // Version 1.2 cannot be installed, so the slow version may be 1.2 or 1.3.
  EXPECT_EQ(ended.exit_code, 12) << ended.out << ended.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "bisect"));
  const Json result = Json::parse(ended.out)["bisect"];
  EXPECT_EQ(result["package"], "pacer");
  EXPECT_EQ(result["unusable"], Json::array({"1.2"}));
  ASSERT_EQ(result["suspects"].size(), 2U) << ended.out;
  EXPECT_EQ(result["suspects"][0]["version"], "1.2");
  EXPECT_EQ(result["suspects"][1]["version"], "1.3");
  EXPECT_LT(result["ratio"].get<double>(), 0.7);
  EXPECT_TRUE(std::filesystem::exists(sandbox_.folder() / "cache" / "steptune" / "environments"));

  // The environments are there, so pip is not needed any more. The script's first line names the
  // interpreter.
  setting.environment["PIP_FIND_LINKS"] = "/nowhere";
  const Ended found = sandbox_.steptune(
      {"bisect", "--package", "pacer", "1.1", "1.3", "--time", "2m", "--quiet", "--", "./train.py"},
      setting);
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_THAT(found.out, HasSubstr("found   pacer 1.3: "));
  EXPECT_THAT(found.out, HasSubstr("next    pip install pacer==1.1\n"));
  EXPECT_THAT(found.err, Not(HasSubstr("Processing")));
}

TEST_F(Bisect, WrongRevisionsAreRefused) {
  commit("0.02", "only");
  for (const auto& [good, bad, expected] :
       {std::tuple{"HEAD", "HEAD", "HEAD does not come after HEAD"},
        std::tuple{"HEAD", "nowhere", "git does not know HEAD..nowhere"}}) {
    const Ended ended = sandbox_.steptune({"bisect", good, bad, "--", "/bin/sh", "train.sh"});
    EXPECT_EQ(ended.exit_code, 2) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(expected));
  }
}

TEST_F(Bisect, WrongPackagesAreRefused) {
  using Words = std::vector<std::string>;
  for (const auto& [words, expected] :
       {std::pair{Words{"--package", "x/y", "1", "2"}, "x/y is not a package's name"},
        std::pair{Words{"--package", "torch", "2.4"}, "give at least two versions"},
        std::pair{Words{"--package", "torch", "2.4", "@2"}, "@2 is not a version"},
        std::pair{Words{"--package", "torch", "1", "2", "--build", "make"},
                  "a package's versions are installed, not built"},
        std::pair{Words{"1"}, "give two revisions, and the command after --"},
        std::pair{Words{"1", "2", "3"}, "unexpected argument \"3\" in front of --"}}) {
    Words line{"bisect"};
    line.insert(line.end(), words.begin(), words.end());
    line.insert(line.end(), {"--", "/bin/sh", "train.sh"});
    const Ended ended = sandbox_.steptune(line);
    EXPECT_EQ(ended.exit_code, 2) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace steptune::golden

// SPDX-License-Identifier: Apache-2.0
// Tests `bisect` with real programs in a small repository.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;

/// A repository whose program takes `pause_s` for a step in each of its versions.
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

  Sandbox sandbox_;
};

TEST_F(Bisect, TheCommitIsFound) {
  commit("0.02", "good");
  for (const char* version : {"one", "two"})
    commit("0.02", version);
  for (const char* version : {"slow", "four", "five"})
    commit("0.06", version);
  const Ended ended =
      sandbox_.steptune({"bisect", "HEAD~5", "HEAD", "--build", "test -e version", "--time", "3m",
                         "--quiet", "--json", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "bisect"));
  const Json found = Json::parse(ended.out)["bisect"];
  EXPECT_EQ(found["outcome"], "found");
  EXPECT_EQ(found["suspects"][0]["subject"], "slow");
  EXPECT_LT(found["ratio"].get<double>(), 0.7);
  const Ended trees = sandbox_.program({"/bin/sh", "-c", "git worktree list | tail -n +2"});
  EXPECT_EQ(trees.out, "");
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

}  // namespace
}  // namespace steptune::golden

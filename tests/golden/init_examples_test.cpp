// SPDX-License-Identifier: Apache-2.0
// Checks the claims of docs/internals/init.md about what `init` finds in the example programs.
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/support/read_file.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr const char* k_python_of_examples = "/usr/bin/python3";

/// Returns an example's row of the document's table: `batch, threads: 2 of 2; planned run in
/// tokens`.
std::string table_entry(const std::string& example) {
  std::istringstream document(read_file(STEPTUNE_SOURCE_DIR "/docs/internals/init.md"));
  const std::string begin = "| `examples/" + example + "` | ";
  for (std::string line; std::getline(document, line);) {
    if (!line.starts_with(begin)) continue;
    const std::size_t found = line.find(" | ", begin.size()) + 3;
    return line.substr(found, line.find(" | ", found) - found);
  }
  ADD_FAILURE() << "docs/internals/init.md has no row of " << example;
  return "";
}

/// Returns the names before the colon, which are roles.
std::vector<std::string> roles_in(const std::string& entry) {
  std::vector<std::string> roles;
  std::istringstream list(entry.substr(0, entry.find(':')));
  for (std::string role; std::getline(list >> std::ws, role, ',');)
    roles.push_back(role);
  EXPECT_THAT(entry, HasSubstr(fmt::format(": {0} of {0}", roles.size())));
  return roles;
}

class InitOfAnExample : public testing::Test {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2)
      GTEST_SKIP() << "one processor: no threads to vary";
  }

  Json init(const std::vector<std::string>& command) {
    std::vector<std::string> words{"init", "--json", "--"};
    words.insert(words.end(), command.begin(), command.end());
    const Ended ended = sandbox_.steptune(words);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    auto json = parse_json(ended.out, "init");
    EXPECT_TRUE(json) << ended.out;
    return json ? *std::move(json) : Json::object();
  }

  /// Returns the names of the varied parameters, with an option of the program or without one.
  static std::vector<std::string> varied(const Json& json, const char* key, bool by_option) {
    std::vector<std::string> names;
    for (const Json& knob : json["varied"])
      if (knob["option"].is_string() == by_option) names.push_back(knob[key]);
    return names;
  }

  static void expect_table(const Json& json, const std::string& example) {
    EXPECT_THAT(varied(json, "role", true),
                UnorderedElementsAreArray(roles_in(table_entry(example))));
    EXPECT_EQ(json["left_out"], Json::array()) << "nothing that matters was left";
  }

  Sandbox sandbox_;
};

TEST_F(InitOfAnExample, FindsWhatMattersOfCharGpt) {
  const Json json = init({STEPTUNE_BINARY_DIR "/bin/char_gpt", "--steps", "500"});
  expect_table(json, "char_gpt");
  EXPECT_THAT(varied(json, "parameter", false), UnorderedElementsAre("malloc", "omp_wait_policy"));
  EXPECT_THAT(table_entry("char_gpt"), HasSubstr("planned run in tokens"));
  // 8 sequences of 128 characters each.
  EXPECT_EQ(json["study"]["planned_run"]["samples"], 500 * 8 * 128);
}

TEST_F(InitOfAnExample, FindsWhatMattersOfTheImageClassifier) {
  const std::string program = STEPTUNE_BINARY_DIR "/bin/image_classifier";
  const Ended generated =
      sandbox_.program({program, "--generate", "data", "--images", "60", "--size", "64"});
  ASSERT_EQ(generated.exit_code, 0) << generated.err;
  const Json json = init({program, "--data", "data", "--epochs", "20"});
  expect_table(json, "image_classifier");
  EXPECT_THAT(varied(json, "parameter", false), UnorderedElementsAre("malloc", "omp_wait_policy"));
  EXPECT_THAT(table_entry("image_classifier"), HasSubstr("planned run from the data folder"));
  EXPECT_EQ(json["study"]["planned_run"]["samples"], 20 * 60);
}

TEST_F(InitOfAnExample, FindsWhatMattersOfPytorchResnet) {
  if (!has_pytorch()) GTEST_SKIP() << "no PyTorch in " << k_python_of_examples;
  const Json json =
      init({k_python_of_examples, STEPTUNE_SOURCE_DIR "/examples/pytorch_resnet/train.py",
            "--images", "256", "--size", "64", "--epochs", "50"});
  expect_table(json, "pytorch_resnet");
  EXPECT_THAT(table_entry("pytorch_resnet"),
              HasSubstr("allocator and `OMP_WAIT_POLICY` by the hook; planned run"));
  EXPECT_THAT(varied(json, "parameter", false), IsSupersetOf({"malloc", "omp_wait_policy"}));
  EXPECT_EQ(json["study"]["planned_run"]["samples"], 50 * 256);
}

}  // namespace
}  // namespace steptune::golden

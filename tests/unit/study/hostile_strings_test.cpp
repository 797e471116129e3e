// SPDX-License-Identifier: Apache-2.0
// Tests that each choice reaches the trial's arguments and environment byte for byte. The line
// shown to people must mean the same to a shell.
#include "tests/unit/study/hostile_strings.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAreArray;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings)
    result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// Returns the output of a program, run without a shell.
std::string output_of(std::vector<std::string> argv, std::vector<std::string> environment = {}) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv.at(0).c_str(), &actions, nullptr,
                                pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) throw std::runtime_error("posix_spawn: " + argv.at(0));
  std::string output;
  std::array<char, 65'536> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("exit status of " + argv.at(0));
  return output;
}

std::vector<std::string> nul_separated(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\0', at);
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

class HostileStrings : public ::testing::Test {
 protected:
  void SetUp() override {
    strings_ = testing::hostile_strings((folder_.path() / "canary").string());
    // "//" and the like may be in the list twice, but choices are distinct.
    std::set<std::string> seen;
    std::erase_if(strings_, [&](const std::string& text) { return !seen.insert(text).second; });
    ASSERT_GE(strings_.size(), 200U);
  }
  void TearDown() override { EXPECT_FALSE(std::filesystem::exists(folder_.path() / "canary")); }

  /// Returns a study whose parameter `value` has all strings as choices, plain or with labels.
  StudySpec study(bool behind_labels) const {
    Json choices = behind_labels ? Json::object() : Json::array();
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      if (behind_labels) {
        choices["label" + std::to_string(i)] = strings_[i];
      } else {
        choices.push_back(strings_[i]);
      }
    }
    const Json document = {
        {"name", "hostile"},
        {"command", {"/usr/bin/printf", "%s\\0", "{value}", "--option={value}", "{value}{value}"}},
        {"env", {{"PLAIN", "{value}"}, {"WITHIN", "<{value}>"}}},
        {"parameters", {{"value", {{"type", "categorical"}, {"choices", choices}}}}},
        {"baseline", {{"value", behind_labels ? "label0" : strings_[0]}}}};
    // Convert to text and back, as from a file and the database.
    const auto parsed = parse_json(dump_json(document), "hostile");
    const auto stored = parse_json(dump_json(testing::sound(*parsed).document), "stored");
    return testing::sound(*stored);
  }

  void expect_byte_exact(const StudySpec& study) const {
    const Parameter& parameter = study.space.parameters().front();
    ASSERT_EQ(parameter.choices.size(), strings_.size());
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      Configuration configuration;
      configuration.set("value", parameter.choices[i]);
      const auto rendered = render_command(study, configuration);
      const std::string& text = strings_[i];
      EXPECT_THAT(nul_separated(output_of(rendered.argv)),
                  ElementsAreArray({text, "--option=" + text, text + text}));
      std::vector<std::string> environment;
      for (const auto& [name, value] : rendered.environment) {
        environment.push_back(name + "=" + value);
      }
      std::vector<std::string> expected = {"WITHIN=<" + text + ">"};
      if (!text.empty()) expected.insert(expected.begin(), "PLAIN=" + text);
      EXPECT_THAT(nul_separated(output_of({"/usr/bin/env", "-0"}, environment)),
                  ElementsAreArray(expected));
    }
  }

  TemporaryFolder folder_{"canary"};
  std::vector<std::string> strings_;
};

TEST_F(HostileStrings, AsValuesArriveByteExact) {
  expect_byte_exact(study(false));
}

TEST_F(HostileStrings, BehindLabelsArriveByteExact) {
  expect_byte_exact(study(true));
}

TEST_F(HostileStrings, ShownAsALineMeanTheSameToAShell) {
  // 200 at a time would exceed the length of one argument, which the script is.
  for (std::size_t from = 0; from < strings_.size(); from += 50) {
    std::vector<std::string> words = {"printf", "%s\\0"};
    const std::size_t to = std::min(from + 50, strings_.size());
    words.insert(words.end(), strings_.begin() + static_cast<std::ptrdiff_t>(from),
                 strings_.begin() + static_cast<std::ptrdiff_t>(to));
    const std::vector<std::string> expected(words.begin() + 2, words.end());
    EXPECT_THAT(nul_separated(output_of({"/bin/bash", "-c", shell_quoted(words)})),
                ElementsAreArray(expected));
  }
}

TEST_F(HostileStrings, ShownAsALineDoNotReachTheTerminal) {
  for (const char c : shell_quoted(strings_)) {
    ASSERT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7F);
  }
}

TEST(ShellQuoted, LeavesPlainWordsAlone) {
  EXPECT_EQ(shell_quoted({"python3", "train.py", "--lr=0.1", "a b", "it's", ""}),
            "python3 train.py --lr=0.1 'a b' 'it'\\''s' ''");
  EXPECT_EQ(shell_quoted(std::string_view("\x1b[0m")), "$'\\033[0m'");
}

}  // namespace
}  // namespace steptune

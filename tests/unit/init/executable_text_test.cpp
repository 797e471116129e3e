// SPDX-License-Identifier: Apache-2.0
// Usage texts of native programs that do not know --help.

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tuner/init/help_text.hpp"
#include "tuner/init/usual_knobs.hpp"

namespace steptune {
namespace {

/// Writes bytes as of an executable: machine code around `text`.
std::filesystem::path executable_with(const TemporaryFolder& folder, const std::string& text) {
  const auto path = folder.path() / "train";
  std::ofstream file(path, std::ios::binary);
  file << "\x7f"
          "ELF"
       << '\0' << "\x01\x02"
       << "ab" << '\0' << text << '\0' << "\xff\xfe";
  return path;
}

const ProgramOption& must_have(const HelpText& help, std::string_view name) {
  const auto found = std::ranges::find(help.options, name, &ProgramOption::name);
  if (found == help.options.end()) throw std::runtime_error("no option " + std::string(name));
  return *found;
}

TEST(ExecutableText, ContainsTextsAndNoMachineCode) {
  const TemporaryFolder folder("executable");
  const std::string texts = texts_of_executable(executable_with(folder, "-size <int>\n\tsize"));
  EXPECT_NE(texts.find("-size <int>\n\tsize\n"), std::string::npos);
  EXPECT_EQ(texts.find("ab\n"), std::string::npos);
}

TEST(ExecutableText, OfAFileThatCannotBeReadIsEmpty) {
  EXPECT_EQ(texts_of_executable("/nowhere/train"), "");
}

TEST(ExecutableText, ShowsOptionsWithTheirDefaults) {
  const TemporaryFolder folder("executable");
  const HelpText help = parse_help(texts_of_executable(
      executable_with(folder,
                      "usage: ffm-train [options] training_set_file [model_file]\n\noptions:\n"
                      "-k <factor>: set number of latent factors (default 4)\n"
                      "-s <nr_threads>: set number of threads (default 1)\n")));
  const ProgramOption& threads = must_have(help, "-s");
  EXPECT_EQ(threads.default_value, "1");
  const auto rule = usual_knob(threads);
  ASSERT_TRUE(rule) << "its description says that it counts threads";
  EXPECT_EQ(rule->role, "threads");
  EXPECT_FALSE(usual_knob(must_have(help, "-k")));
}

}  // namespace
}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace steptune::fuzz {

/// Thrown if a parser breaks a promise of its header file. Ends a fuzzer's run, and fails a test.
class BrokenPromise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool promise, const std::string& what) {
  if (!promise) throw BrokenPromise(what);
}

/// Function that feeds any bytes to a reader of the program. Throws `BrokenPromise`.
struct Target {
  const char* name;  ///< name of the target and of its seeds' folder, tests/fuzz/corpus/NAME
  void (*run)(std::string_view input);
};

void run_study(std::string_view input);
/// Input: a preset (built in or of configs/presets) on the first line, then a trainer's output.
void run_report_lines(std::string_view input);
void run_steptune_lines(std::string_view input);
/// Input: the description, a line `---`, the CSV file.
void run_recorded_table(std::string_view input);
/// Input: the request on the first line, then HTTP status and body of each answer, separated by
/// lines `---`.
void run_aws_answers(std::string_view input);
/// Input: `~/.aws/config`, a line `---`, `~/.aws/credentials`.
void run_aws_config(std::string_view input);
/// Input: `json`, `yaml`, `toml` or `ini`, a line `---`, and a configuration file whose values are
/// edited.
void run_config_file(std::string_view input);

[[nodiscard]] std::span<const Target> targets();

/// Returns the text before and after the first line `---`.
[[nodiscard]] inline std::pair<std::string_view, std::string_view> split_at_mark(
    std::string_view input) {
  constexpr std::string_view k_mark = "\n---\n";
  const std::size_t at = input.find(k_mark);
  if (at == std::string_view::npos) return {input, {}};
  return {input.substr(0, at), input.substr(at + k_mark.size())};
}

}  // namespace steptune::fuzz

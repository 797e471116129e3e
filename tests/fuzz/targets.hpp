// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace steptune::fuzz {

/// A parser did what its header rules out. Ends a fuzzer's run, and fails a test.
class BrokenPromise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool promise, const std::string& what) {
  if (!promise) throw BrokenPromise(what);
}

/// Feeds any bytes to what reads them in the program. Throws `BrokenPromise`.
struct Target {
  const char* name;  ///< also of its seeds' folder, tests/fuzz/corpus/NAME
  void (*run)(std::string_view input);
};

void run_study(std::string_view input);
/// First line: a preset, built in or of configs/presets; then what a trainer printed.
void run_report_lines(std::string_view input);
void run_steptune_lines(std::string_view input);
/// The description, a line `---`, the CSV file.
void run_recorded_table(std::string_view input);
/// First line: what is asked for; then the answers' HTTP status and body, lines `---` between.
void run_aws_answers(std::string_view input);
/// `~/.aws/config`, a line `---`, `~/.aws/credentials`.
void run_aws_config(std::string_view input);
/// `json`, `yaml`, `toml` or `ini`, a line `---`, a configuration file, whose values are edited.
void run_config_file(std::string_view input);

[[nodiscard]] std::span<const Target> targets();

/// What stands before the first line `---`, and what after it.
[[nodiscard]] inline std::pair<std::string_view, std::string_view> split_at_mark(
    std::string_view input) {
  constexpr std::string_view k_mark = "\n---\n";
  const std::size_t at = input.find(k_mark);
  if (at == std::string_view::npos) return {input, {}};
  return {input.substr(0, at), input.substr(at + k_mark.size())};
}

}  // namespace steptune::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/init/program_option.hpp"

namespace steptune {

/// Range of a command's words that belong to its program. It starts after the script or module that
/// Python, torchrun or another launcher runs, and ends before a later `--`.
struct ProgramWords {
  std::size_t begin = 1;
  std::size_t end = 1;
};
[[nodiscard]] ProgramWords program_words(const std::vector<std::string>& argv);

/// True for programs that run a Python script or module: `python3`, `torchrun`.
[[nodiscard]] bool runs_modules(const std::string& word);

/// True for `--fp16` and `-lr`, but not for the values `-1` and `-.5`.
[[nodiscard]] bool is_option_word(const std::string& word);

/// True if two successive words may be a setting and its value: `SOLVER.IMS_PER_BATCH 16`.
/// Detectron2's programs accept such pairs at the end of the command.
[[nodiscard]] bool is_setting_pair(const std::vector<std::string>& argv, std::size_t at);

/// Returns the position at which options can be added: at the end of the program's words. If
/// setting pairs (`is_setting_pair`) come last, returns the position before them, because the
/// program reads all following words as pairs.
[[nodiscard]] std::size_t options_end(const std::vector<std::string>& argv);

/// Returns the position of the program's first option. If it has none, returns the position after
/// the program's name.
[[nodiscard]] std::size_t options_begin(const std::vector<std::string>& argv);

/// Returns `argv` with `words` added where the program reads its options, for example `--help`.
[[nodiscard]] std::vector<std::string> with_options(std::vector<std::string> argv,
                                                    const std::vector<std::string>& words);

/// Replaces abbreviations that argparse accepts by full names: `--batch 8` becomes `--batch-size
/// 8`.
[[nodiscard]] std::vector<std::string> with_full_names(std::vector<std::string> argv,
                                                       const std::vector<ProgramOption>& options);

/// True if a word of the program may be an abbreviation of the option.
[[nodiscard]] bool may_be_abbreviated(const std::vector<std::string>& argv,
                                      const ProgramOption& option);

/// Returns the value that a command gives an option of its program (`program_words`), including
/// `-b64`. For a flag, returns `true` or `false`. If the option occurs several times, the last
/// occurrence counts. Returns nullopt if the option does not occur.
[[nodiscard]] std::optional<std::string> value_on_command_line(const std::vector<std::string>& argv,
                                                               const ProgramOption& option);

/// Index of the word with an option's value, and the position of the value in the word.
struct ValuePlace {
  std::size_t word = 0;
  std::size_t offset = 0;
};
/// Returns the last place of an option's value; nullopt if the command has none. Ignores `-b64`.
[[nodiscard]] std::optional<ValuePlace> value_place(const std::vector<std::string>& argv,
                                                    const ProgramOption& option);

/// Returns `argv` without any occurrence of the option and its value among the program's words.
[[nodiscard]] std::vector<std::string> without_option(const std::vector<std::string>& argv,
                                                      const ProgramOption& option);

/// Returns the words that give the option a value: `{"--workers", "4"}`, `{"--amp"}`. For a false
/// value, returns no words if the option is a flag without a negation, or reads the word `False` as
/// true.
[[nodiscard]] std::vector<std::string> option_words(const ProgramOption& option,
                                                    const std::string& value);

}  // namespace steptune

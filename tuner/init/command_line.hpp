// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/init/program_option.hpp"

namespace steptune {

/// Where the words of a command are its program's own: behind the script or the module that Python,
/// torchrun or another launcher runs, and before a `--` that follows it.
struct ProgramWords {
  std::size_t begin = 1;
  std::size_t end = 1;
};
[[nodiscard]] ProgramWords program_words(const std::vector<std::string>& argv);

/// The word and the next one may be a setting and its value, as Detectron2's programs take
/// them at the end of the command: `SOLVER.IMS_PER_BATCH 16`.
[[nodiscard]] bool is_setting_pair(const std::vector<std::string>& argv, std::size_t at);

/// Options can be added here: at the end of the program's words, but before such pairs, which take
/// all that follows.
[[nodiscard]] std::size_t options_end(const std::vector<std::string>& argv);

/// `argv` with words where the program reads them as its options, such as `--help`.
[[nodiscard]] std::vector<std::string> with_options(std::vector<std::string> argv,
                                                    const std::vector<std::string>& words);

/// Options that argparse takes for their unambiguous beginnings, written out: `--batch 8` becomes
/// `--batch-size 8`.
[[nodiscard]] std::vector<std::string> with_full_names(std::vector<std::string> argv,
                                                       const std::vector<ProgramOption>& options);

/// Whether a word among the program's may be the option cut short.
[[nodiscard]] bool may_be_abbreviated(const std::vector<std::string>& argv,
                                      const ProgramOption& option);

/// What a command gives an option of its program (`program_words`), `-b64` included: its value,
/// `true` or `false` for a flag that is there, the last one where there are several; nothing where
/// the option is not on the command line.
[[nodiscard]] std::optional<std::string> value_on_command_line(const std::vector<std::string>& argv,
                                                               const ProgramOption& option);

/// The word that holds an option's value, and where in that the value begins.
struct ValuePlace {
  std::size_t word = 0;
  std::size_t offset = 0;
};
/// The last place of an option; nothing where no value of it stands in the command.
[[nodiscard]] std::optional<ValuePlace> value_place(const std::vector<std::string>& argv,
                                                    const ProgramOption& option);

/// `argv` without the option and its value, wherever they stand among the program's words.
[[nodiscard]] std::vector<std::string> without_option(const std::vector<std::string>& argv,
                                                      const ProgramOption& option);

/// The words that give the option a value, each as it stands on a command line: `{"--workers",
/// "4"}`, `{"--amp"}`, none for a flag that is off and has no negation, nor for what would take the
/// word `False` for true.
[[nodiscard]] std::vector<std::string> option_words(const ProgramOption& option,
                                                    const std::string& value);

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// Most bytes that are read of a line of help or output, or of a call in a program's source.
inline constexpr std::size_t k_most_line_bytes = 2000;
/// Most options that are read of a program.
inline constexpr std::size_t k_most_options = 5000;

/// Form in which a value is given to an option on the command line.
enum class OptionForm {
  flag,        ///< `--amp`: present or absent
  separate,    ///< `--batch-size 32`
  joined,      ///< `--batch-size=32`
  assignment,  ///< `batch_size=32`
  any_text,    ///< `--amp True`, where any text means true: argparse's `type=bool`
};

enum class OptionKind { unknown, integer, number, boolean, text };

/// Facts about one option of a program.
struct ProgramOption {
  std::string name{};  ///< as typed: `--batch-size`, or `loader.batch` for an assignment
  std::vector<std::string> aliases{};  ///< `-b`
  std::string negation{};              ///< option to switch a flag off: `--no-amp`; may be empty
  OptionForm form = OptionForm::separate;
  OptionKind kind = OptionKind::unknown;
  std::vector<std::string> choices{};          ///< empty if unknown
  std::optional<std::string> default_value{};  ///< as written; nullopt if unknown
  std::string default_from{};                  ///< source of the default: `--help`, `train.py`
  std::string words{};                         ///< the program's own description, one line
  bool python_truth = false;                   ///< booleans are written `True` and `False`
  bool is_assigned = false;  ///< the script assigns another value, so its default may be wrong
  std::vector<std::string> needs{};  ///< options that this option requires
  /// True if the command overrides a setting of a file with this option. The option's value is then
  /// replaced only in the command.
  bool stands_in_command = false;

  [[nodiscard]] bool is_called(const std::string& typed) const;
};

/// Returns the name in a common form: `--Batch-Size` becomes `batch_size`; dots stay.
[[nodiscard]] std::string plain_name(const std::string& option);

/// Returns the option of this plain name, or null. If no option has this name, accepts a path that
/// ends in it: `batch_size` then means `data.batch_size`. Ignores paths of evaluations. If several
/// options match and have different defaults, returns null.
[[nodiscard]] const ProgramOption* find_option(const std::vector<ProgramOption>& options,
                                               const std::string& plain);

/// True if a plain name concerns an evaluation: `eval.batch_size`, `val_workers`.
[[nodiscard]] bool is_of_evaluation(const std::string& plain);

/// True for a value with which users let the program choose: `auto`, `null`, `-1`.
[[nodiscard]] bool is_left_to_program(const std::string& text);

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steptune {

/// How a value is given to an option on the command line.
enum class OptionForm {
  flag,        ///< `--amp`: there or not
  separate,    ///< `--batch-size 32`
  joined,      ///< `--batch-size=32`
  assignment,  ///< `batch_size=32`
  any_text,    ///< `--amp True`, where any text means true: argparse's `type=bool`
};

enum class OptionKind { unknown, integer, number, boolean, text };

/// One option of a program that somebody else wrote, as far as it tells.
struct ProgramOption {
  std::string name;                  ///< as typed: `--batch-size`, or `loader.batch` to assign to
  std::vector<std::string> aliases;  ///< `-b`
  std::string negation;              ///< `--no-amp`: what switches a flag off; empty: nothing
  OptionForm form = OptionForm::separate;
  OptionKind kind = OptionKind::unknown;
  std::vector<std::string> choices;          ///< empty: not told
  std::optional<std::string> default_value;  ///< as it is written; nothing: not told
  std::string default_from;                  ///< where the default was read: `--help`, `train.py`
  std::string words;                         ///< the program's own description, one line
  bool python_truth = false;                 ///< truth values are written `True` and `False`
  bool is_assigned = false;  ///< the script assigns it another value: its default need not hold
  std::vector<std::string> needs;  ///< options without which this one is refused
  /// The command overrides a setting with it: its value is replaced there, and nowhere else.
  bool stands_in_command = false;

  [[nodiscard]] bool is_called(const std::string& typed) const;
};

/// The same name however it is typed: `--Batch-Size` is `batch_size`, dots stay.
[[nodiscard]] std::string plain_name(const std::string& option);

/// The option of this plain name, or null. Exact paths win over names within paths: `batch_size` is
/// `data.batch_size` where nothing else is called so, evaluations left aside; where several are and
/// have other defaults, it is none of them.
[[nodiscard]] const ProgramOption* find_option(const std::vector<ProgramOption>& options,
                                               const std::string& plain);

/// Whether a plain name speaks of an evaluation: `eval.batch_size`, `val_workers`.
[[nodiscard]] bool is_of_evaluation(const std::string& plain);

/// `true`, `True`, `yes`, `on`, `1`: true; their opposites: false; anything else: nothing.
[[nodiscard]] std::optional<bool> truth_of(const std::string& text);

}  // namespace steptune

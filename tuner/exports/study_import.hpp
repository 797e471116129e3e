// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// One trial as read from another program: values by column. Numbers stored as text stay text. A
/// cell that exists but cannot be read becomes an empty object, which is no value.
struct ForeignTrial {
  std::map<std::string, Json> cells;
  bool failed = false;
  /// Why the trial cannot be used, for example because it was still running; otherwise empty.
  std::string why_left_out;
};

/// Trials stored by another program.
struct ForeignTrials {
  std::string kind;  ///< `Optuna`, `Optuna's table`, `CSV`
  std::vector<ForeignTrial> trials;
  std::vector<Direction> directions{};  ///< directions of Optuna's objectives; empty if unknown
};

/// Reads a CSV file, or an SQLite file of Optuna 2 or later. If the file has several studies, reads
/// `study`. Columns of Optuna are `params_NAME`, `value`, `value_1`, ... Errors of kind `usage`.
/// Writes nothing.
[[nodiscard]] Result<ForeignTrials> read_foreign_trials(const std::filesystem::path& path,
                                                        const std::string& study = {});

/// The column of a parameter or objective, by its name. Needed only if the column has another name.
using ImportColumns = std::map<std::string, std::string>;

/// Trials converted to a study, and reasons why other trials were left out.
struct ImportedTrials {
  std::vector<TrialRecord> trials;                ///< all ended; numbered from 1
  std::map<std::string, std::size_t> left_out{};  ///< reason -> number of trials
  std::vector<std::string> notes{};               ///< warnings about the values, for people
};

/// Returns the trials within the study's space: completed if each objective has a value (of a time
/// or cost: a positive one), failed if they failed. A parameter that no trial has gets the
/// baseline's value, with a note. Standard errors are infinite, because they are unknown. Returns
/// an error if an objective has no column or another direction, or no trial is left.
[[nodiscard]] Result<ImportedTrials> translate_foreign_trials(const ForeignTrials& foreign,
                                                              const StudySpec& study,
                                                              const ImportColumns& columns);

}  // namespace steptune

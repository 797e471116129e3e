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

/// One trial that another program stored: values by column. Numbers stored as text stay text. An
/// unreadable cell becomes an empty object, which no parameter accepts as a value.
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
/// `study`. Columns of Optuna are `params_NAME`, `value`, `value_1`, ... All errors are of kind
/// `usage`. Does not change the file.
[[nodiscard]] Result<ForeignTrials> read_foreign_trials(const std::filesystem::path& path,
                                                        const std::string& study = {});

/// Columns by the name of a parameter or objective. Needed only for columns with other names.
using ImportColumns = std::map<std::string, std::string>;

/// Trials converted to a study, and reasons why other trials were left out.
struct ImportedTrials {
  std::vector<TrialRecord> trials;                ///< all ended; numbered from 1
  std::map<std::string, std::size_t> left_out{};  ///< reason -> number of trials
  std::vector<std::string> notes{};               ///< warnings about the values, for people
};

/// Returns the trials that are in the study's space. A failed trial stays failed. Any other trial
/// is completed, and must have a value of each objective: for a time or cost, a positive one. A
/// parameter that no trial has gets the baseline's value, and there is a note. Standard errors are
/// infinite, because they are unknown. Returns an error if an objective has no column or another
/// direction, or if no trial can be used.
[[nodiscard]] Result<ImportedTrials> translate_foreign_trials(const ForeignTrials& foreign,
                                                              const StudySpec& study,
                                                              const ImportColumns& columns);

}  // namespace steptune

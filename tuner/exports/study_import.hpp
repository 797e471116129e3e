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

/// One trial as another program tells it: values by column. Numbers that were text stay text; what
/// cannot be read of a cell that is there is an empty object, the value of nothing.
struct ForeignTrial {
  std::map<std::string, Json> cells;
  bool failed = false;
  std::string left;  ///< why it tells nothing, as one that was still running; empty where it does
};

/// What another program stored of its trials.
struct ForeignTrials {
  std::string kind;  ///< `Optuna`, `Optuna's table`, `CSV`
  std::vector<ForeignTrial> trials;
  std::vector<Direction> directions{};  ///< of Optuna's objectives; empty where nothing tells them
};

/// Reads an SQLite file of Optuna 2 or later (with one study, or the one called `study`), or a CSV
/// file. Columns of Optuna: `params_NAME`, `value`, `value_1`, ... Errors of kind `usage`; nothing
/// is written.
[[nodiscard]] Result<ForeignTrials> read_foreign_trials(const std::filesystem::path& path,
                                                        const std::string& study = {});

/// Parameter or objective -> column, where they are not called alike.
using ImportColumns = std::map<std::string, std::string>;

/// Trials in terms of a study, and why the others are left.
struct ImportedTrials {
  std::vector<TrialRecord> trials;            ///< numbered from 1; ended
  std::map<std::string, std::size_t> left{};  ///< why -> how many
  std::vector<std::string> notes{};           ///< what a person has to know of the values
};

/// The trials that stand in the study's space: those with a value of each objective as completed,
/// failed ones as failed. A parameter that no trial tells has the baseline's value, with a note;
/// the standard errors are infinite, since nobody knows them. An error where an objective has no
/// column or another direction, or none of the trials is left.
[[nodiscard]] Result<ImportedTrials> translate_foreign_trials(const ForeignTrials& foreign,
                                                              const StudySpec& study,
                                                              const ImportColumns& columns);

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/retune/night.hpp"

namespace steptune {

/// Context for the report of a night.
struct NightContext {
  std::string study;            ///< its name
  std::string database_option;  ///< ` --db PATH` if the user gave one
  std::vector<std::string> parameter_order;
  std::vector<std::string> warnings;  ///< warnings about the night's trials
  std::string bisect_command = {};    ///< `bisect_command`; empty: none
};

/// Returns the document for pipelines and webhooks; see docs/nightly.md.
[[nodiscard]] Json night_json(const Night& night, const NightContext& context);

/// Returns the document for a night that could not begin: `study`, `result` (failed) and `reason`.
[[nodiscard]] Json not_begun_json(const std::string& study, const Error& error);

/// Returns a few lines for people. The first line is the result. Lines are wrapped to `width`
/// columns (0: no limit), except for the commands at the end. Ends with a newline.
[[nodiscard]] std::string night_text(const Night& night, const NightContext& context,
                                     std::size_t width);

/// Returns the events of a night, the most important one first: `improved`, `regressed`, `failed`,
/// `budget`, `completed`.
[[nodiscard]] std::vector<std::string> night_events(const Night& night);

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/retune/night.hpp"

namespace steptune {

/// What a night is told with.
struct NightContext {
  std::string study;            ///< its name
  std::string best_study;       ///< whose `best` is what is in use after the night
  std::string database_option;  ///< ` --db PATH`, where the user gave one
  std::vector<std::string> parameter_order;
  std::vector<std::string> warnings;  ///< of its trials
};

/// The document that pipelines and webhooks get; see docs/nightly.md.
[[nodiscard]] Json night_json(const Night& night, const NightContext& context);

/// The same of a night that could not begin: `study`, `result` (failed) and `reason`.
[[nodiscard]] Json not_begun_json(const std::string& study, const Error& error);

/// A few lines for people, wrapped to `width` columns (0: no limit) but for the command at the end;
/// the first tells the result. Ends with a newline.
[[nodiscard]] std::string night_text(const Night& night, const NightContext& context,
                                     std::size_t width);

/// The events of a night, the most important one first: `improved`, `regressed`, `failed`,
/// `budget`, `completed`.
[[nodiscard]] std::vector<std::string> night_events(const Night& night);

}  // namespace steptune

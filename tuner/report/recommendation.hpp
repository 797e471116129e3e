// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/report/objective_view.hpp"

namespace steptune {

/// What a recommendation is told with.
struct RecommendationContext {
  std::string study;  ///< as a command names it: `resnet-nightly`, `resnet-nightly --db PATH`
  std::vector<ObjectiveView> objectives;
  std::vector<std::string> parameter_order;
  bool hooked = false;    ///< settings are put into the program, which has no options for them
  bool attached = false;  ///< what confirmed ran within the long run (`exec --tune`)
  std::filesystem::path database{};  ///< where the study is stored
  /// That the tuning took of machines without a price, see `MachineHours`.
  std::optional<double> machine_hours{};
  bool has_command = true;  ///< of the study: there is something to start a long run with
};

/// The block that ends a study: `best`, `plan`, `tuning took`, `next`, as many lines as there is
/// something to say in, but for commands no wider than `width` columns (0: no limit). Ends with a
/// newline.
[[nodiscard]] std::string recommendation_text(const Recommendation& recommendation,
                                              const RecommendationContext& context,
                                              std::size_t width = 0);
[[nodiscard]] Json recommendation_json(const Recommendation& recommendation,
                                       const RecommendationContext& context);

/// `2.13 times as fast as baseline (95 % interval 2.05-2.21; 3 pairs, fresh processes)`, or that
/// nothing was shown to be faster.
[[nodiscard]] std::string speed_up_text(const Recommendation& recommendation,
                                        const RecommendationContext& context);

}  // namespace steptune

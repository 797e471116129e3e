// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/error.hpp"
#include "common/json_record.hpp"
#include "tuner/verdict/recommendation.hpp"

namespace steptune {

/// Returns the fields that `--json` shows. `recommendation_json` adds the fields that need the
/// study.
template <>
const JsonRecord<Recommendation>& json_record<Recommendation>();

/// Converts the recommendation to its form in the history, and back. The form has the fields that
/// `--json` shows, and some that `--json` shows in another way. Reading fails with kind `store`;
/// `where` is the study's name for the message.
[[nodiscard]] Json to_json(const Recommendation& recommendation);
/// True if the result that the history stores for a study includes a recommendation.
[[nodiscard]] bool has_recommendation(const Json& stored_result);
[[nodiscard]] Result<Recommendation> recommendation_from_json(const Json& json,
                                                              const std::string& where);

}  // namespace steptune

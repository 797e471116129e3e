// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tuner/history/history.hpp"

namespace steptune {

/// What a trial's row holds as JSON. Writing leaves out numbers that are not finite; reading leaves
/// as it is what is not there or is of another type. Readers return false where the text is no JSON
/// or does not begin to be what it stands for.

/// The measurement and what is kept with it.
[[nodiscard]] std::string measurement_document(const TrialRecord& trial);
/// Milestones and rungs only with `Milestones::read`.
[[nodiscard]] bool read_measurement(std::string_view text, Milestones milestones,
                                    TrialRecord& trial);

[[nodiscard]] bool read_configuration(std::string_view text, Configuration& configuration);

/// A map of texts as a JSON object and back.
[[nodiscard]] std::string texts_document(const std::map<std::string, std::string>& texts);
[[nodiscard]] bool read_texts(std::string_view text, std::map<std::string, std::string>& texts);

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tuner/history/history.hpp"

namespace steptune {

/// JSON documents in a trial's row. Writing leaves out numbers that are not finite. Reading leaves
/// a number unchanged if its field is missing or has another type. Readers return false if the text
/// is not JSON or not the expected document.

/// Returns the measurement, and the fields of `trial` that are stored with it.
[[nodiscard]] std::string measurement_document(const TrialRecord& trial);
/// Reads milestones and rungs only with `Milestones::read`.
[[nodiscard]] bool read_measurement(std::string_view text, Milestones milestones,
                                    TrialRecord& trial);

[[nodiscard]] bool read_configuration(std::string_view text, Configuration& configuration);

/// Converts a map of texts to a JSON object, and back.
[[nodiscard]] std::string texts_document(const std::map<std::string, std::string>& texts);
[[nodiscard]] bool read_texts(std::string_view text, std::map<std::string, std::string>& texts);

}  // namespace steptune

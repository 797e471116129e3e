// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "tuner/history/history.hpp"
#include "tuner/verdict/earlier_pairs.hpp"

namespace steptune {

/// Returns the scatter among a program's pairs (`pooled_scatter`), from the latest finished
/// judgements in the history. A judgement counts if its first command is `command`, in any working
/// tree. It also counts if it belongs to `campaign`; an empty name means no campaign. Judgements
/// that this version cannot read do not count. Fails if the history cannot be read.
[[nodiscard]] Result<Scatter> pairs_of_earlier_judgements(const History& history,
                                                          const std::vector<std::string>& command,
                                                          const std::string& campaign);

}  // namespace steptune

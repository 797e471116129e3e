// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/recommendation.hpp"

#include <algorithm>

namespace steptune {

std::vector<std::string> texts_of(const std::vector<Note>& notes) {
  std::vector<std::string> texts;
  for (const Note& note : notes)
    texts.push_back(note.text);
  return texts;
}

std::string to_text(Claim claim) {
  return std::string(k_claim_names.name_of(claim));
}

bool keeps_baseline(Claim claim) {
  return claim == Claim::nothing_faster || claim == Claim::nothing_to_gain;
}

const FinalistResult* finalist_of(const Recommendation& recommendation, std::int64_t trial) {
  const auto found = std::ranges::find(recommendation.finalists, trial, &FinalistResult::trial);
  return found == recommendation.finalists.end() ? nullptr : &*found;
}

}  // namespace steptune

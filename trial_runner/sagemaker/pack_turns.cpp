// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/pack_turns.hpp"

#include <algorithm>
#include <utility>

namespace steptune {

const PackTurns::Turn* PackTurns::find(TrialKey key) const {
  const auto found = std::ranges::find(turns_, key, &Turn::key);
  return found == turns_.end() ? nullptr : &*found;
}

PackTurns::Turn* PackTurns::find(TrialKey key) {
  const auto found = std::ranges::find(turns_, key, &Turn::key);
  return found == turns_.end() ? nullptr : &*found;
}

void PackTurns::keep(LogLine line) {
  const double wall_s = line.wall_s;
  lines_.emplace(wall_s, std::move(line));
}

std::vector<LogLine> PackTurns::take_until(double wall_s) {
  std::vector<LogLine> taken;
  const auto end = lines_.upper_bound(wall_s);
  for (auto line = lines_.begin(); line != end; ++line)
    taken.push_back(std::move(line->second));
  lines_.erase(lines_.begin(), end);
  return taken;
}

bool PackTurns::begin(TrialKey key, double wall_s) {
  if (find(key) != nullptr) return false;
  turns_.push_back({key, wall_s});
  return true;
}

void PackTurns::set_limit(TrialKey key, TurnLimit limit) {
  Turn* turn = find(key);
  if (turn != nullptr && !(turn->limit && limit == TurnLimit::time)) turn->limit = limit;
}

bool PackTurns::end(TrialKey key, double wall_s) {
  Turn* turn = find(key);
  if (turn == nullptr || turn->end_s) return false;
  turn->end_s = std::max(wall_s, turn->begin_s);
  return true;
}

std::optional<TurnLimit> PackTurns::limit_of(TrialKey key) const {
  const Turn* turn = find(key);
  return turn != nullptr ? turn->limit : std::nullopt;
}

std::optional<TrialKey> PackTurns::whose_turn() const {
  if (turns_.empty() || turns_.back().end_s) return std::nullopt;
  return turns_.back().key;
}

bool PackTurns::has_ended(TrialKey key) const {
  const Turn* turn = find(key);
  return turn != nullptr && turn->end_s;
}

double PackTurns::take_share_s(TrialKey key) {
  const Turn* turn = find(key);
  if (turn == nullptr || !turn->end_s) return 0.0;
  const double before_s =
      billed_since_s_ ? std::max(0.0, turns_.front().begin_s - *billed_since_s_) : 0.0;
  const double share_s = *turn->end_s - turn->begin_s + before_s / static_cast<double>(trials_);
  charged_s_ += share_s;
  return share_s;
}

double PackTurns::take_rest_s() {
  const double rest_s = std::max(0.0, billable_s_ - charged_s_);
  charged_s_ += rest_s;
  return rest_s;
}

}  // namespace steptune

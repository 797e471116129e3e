// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/named_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "trial_runner/reports/counter_names.hpp"

namespace steptune {
namespace {

/// Kind of loss that a word names. Earlier kinds are preferred.
enum class LossRank { loss, whole_loss, other_loss, objective, none };

LossRank loss_rank(std::string_view word) {
  // An ELBO or another objective may be maximised, so it is no loss.
  constexpr std::array<std::string_view, 5> k_objectives{"cost", "nll", "xent", "logloss",
                                                         "deviance"};
  if (word == "loss") return LossRank::loss;
  if (word == "train_loss" || word == "total_loss") return LossRank::whole_loss;
  if (word.ends_with("loss")) return LossRank::other_loss;
  const bool is_objective = std::ranges::find(k_objectives, word) != k_objectives.end();
  return is_objective ? LossRank::objective : LossRank::none;
}

/// True for a word that may come between `loss` and its number: `loss for one batch at step`.
bool may_follow(const std::string& word) {
  constexpr std::array<std::string_view, 12> k_words{"one",        "function", "val",  "valid",
                                                     "validation", "test",     "eval", "data",
                                                     "dev",        "output",   "curr", "total"};
  return is_link_word(word) || is_epoch_word(word) || counter_name(word) ||
         std::ranges::find(k_words, word) != k_words.end();
}

/// Returns the rank of the loss that these words name. `loss scale` names none.
LossRank rank_of(const std::vector<std::string>& words) {
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (const LossRank rank = loss_rank(*word); rank != LossRank::none) return rank;
    if (!may_follow(*word)) break;
  }
  return LossRank::none;
}

/// True for the number of a step or an epoch. `is_next` is true if the previous number is a
/// position.
bool is_position(const NumberSeries& series, bool is_next) {
  const bool ends_range =
      is_next && series.words.empty() &&
      std::ranges::all_of(series.values, [](double value) { return value == std::floor(value); });
  if (ends_range) return true;  // `minibatches 100-199`
  if (!series.is_whole) return false;
  const std::string name = series.name();
  return is_epoch_word(name) || counter_name(name) || series.grows_steadily(/*may_rest=*/true);
}

}  // namespace

bool is_loss_word(std::string_view word) {
  return loss_rank(word) != LossRank::none;
}

const NumberSeries* loss_in(const LineKind& kind, bool of_evaluation) {
  const NumberSeries* best = nullptr;
  LossRank best_rank = LossRank::none;
  std::vector<std::string> before;  // words before the position that this number follows
  for (const NumberSeries& series : kind.numbers) {
    std::vector<std::string> words = series.words;
    const bool is_next = !before.empty();
    if (std::ranges::all_of(words, is_link_word)) {
      words.insert(words.begin(), before.begin(), before.end());
    }
    before.clear();
    if (is_position(series, is_next)) {
      before = std::move(words);
      continue;
    }
    const LossRank rank = series.is_apart ? LossRank::none : rank_of(words);
    // If a word precedes the number, the text after it is a unit. Otherwise it may be the next
    // number's name.
    const bool has_unit = !series.unit.empty() && !series.words.empty();
    if (rank >= best_rank || has_unit || series.is_of_evaluation != of_evaluation) continue;
    best_rank = rank;
    best = &series;
  }
  return best;
}

}  // namespace steptune

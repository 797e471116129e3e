// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/survey/draft.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

inline constexpr const char* k_batch_size = "batch_size";

/// Returns the family of frameworks that the hook reports; PyTorch's if it reports none.
[[nodiscard]] std::string family_of(const Survey& survey);

/// Knobs that a drafted study file tunes: those that can be set in the program and may make it
/// faster, in order of possible gain. `survey` and `options` must outlive it.
class DraftKnobs {
 public:
  DraftKnobs(const Survey& survey, const DraftOptions& options);

  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] bool contains(const std::string& name) const { return parameters_.contains(name); }
  /// True if an offered knob may change the loss, but the hook found no loss for a guard.
  [[nodiscard]] bool lacks_guard() const { return changes_loss_ && !guard_; }
  void write_into(Json& document, Draft& draft) &&;
  /// Returns the knobs that are not tuned, by reason: `pin_memory, tf32: no GPU`.
  [[nodiscard]] std::vector<std::string> left_out() const;

 private:
  struct Candidate {
    const Knob* knob = nullptr;
    const KnobState* state = nullptr;
    double gain = 1.0;  ///< largest possible speed-up, as a ratio
  };

  void consider(const Knob& knob);
  /// Returns why other values of the knob may not be tried; empty if they may.
  [[nodiscard]] std::string why_not_allowed(const Knob& knob, const KnobState& state) const;
  /// Returns why another value would gain almost nothing; empty if it may gain more.
  [[nodiscard]] std::string why_not_worth(const Knob& knob) const;
  void offer_by_gain();
  void offer(const Candidate& candidate);
  void leave_out(const Knob& knob, const std::string& why);
  [[nodiscard]] Json today_of(const Knob& knob, const KnobState& state) const;
  /// Evaluates the parameter's `when`. Returns false if the knob therefore has no effect in the
  /// unchanged program. Removes `when` if it depends on knobs that are not tuned.
  [[nodiscard]] bool evaluate_condition(Json& parameter) const;
  /// Sets the range of a batch size, and lowers the upper end for data-loader workers.
  void adapt_range(const Knob& knob, Json& parameter, const Json& today) const;
  /// Extends the range to today's value. Returns false if the range has only one value.
  [[nodiscard]] bool extend_range(Json& parameter, const Json& today) const;

  /// A reason, and the names of the knobs that are not tuned for this reason.
  using LeftOut = std::pair<std::string, std::vector<std::string>>;

  const Survey& survey_;
  const DraftOptions& options_;
  std::map<std::string, double> shares_;
  std::string device_;  ///< device on which the program trains; empty if the hook does not know it
  std::optional<Json> guard_;
  std::vector<Candidate> candidates_;
  Configuration today_;
  Json parameters_ = Json::object();
  Json baseline_ = Json::object();
  Json rules_ = Json::object();
  std::vector<std::string> tuned_;
  std::vector<LeftOut> left_out_;
  bool changes_loss_ = false;
};

/// Returns why there is no guard on the loss.
[[nodiscard]] const char* why_no_guard(const Survey& survey);

}  // namespace steptune

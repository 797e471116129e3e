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

/// The knobs of a draft: those that may be set in the program and can pay, by their possible gain.
/// `survey` and `options` outlive it.
class DraftKnobs {
 public:
  DraftKnobs(const Survey& survey, const DraftOptions& options);

  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] bool contains(const std::string& name) const { return parameters_.contains(name); }
  /// An offered knob may change the loss, and there is no loss to guard it by.
  [[nodiscard]] bool lacks_guard() const { return changes_loss_ && !guard_; }
  void write_into(Json& document, Draft& draft) &&;
  /// By reason: `pin_memory, tf32: no GPU`.
  [[nodiscard]] std::vector<std::string> left() const;

 private:
  struct Candidate {
    const Knob* knob = nullptr;
    const KnobState* state = nullptr;
    double gain = 1.0;  ///< at most, as a ratio
  };

  void consider(const Knob& knob);
  /// Why no value may be tried; empty if some may.
  [[nodiscard]] std::string why_not_allowed(const Knob& knob, const KnobState& state) const;
  /// Why another value would gain next to nothing; empty if it may gain more.
  [[nodiscard]] std::string why_not_worth(const Knob& knob) const;
  void offer_by_gain();
  void offer(const Candidate& candidate);
  void leave(const Knob& knob, const std::string& why);
  [[nodiscard]] Json today_of(const Knob& knob, const KnobState& state) const;
  /// False if the knob has no effect in the program as it is. A condition on knobs that are not
  /// tuned is settled and goes.
  [[nodiscard]] bool settle_condition(Json& parameter) const;
  void narrow(const Knob& knob, Json& parameter, const Json& today) const;
  /// Makes room for today's value; false if the range holds one value only.
  [[nodiscard]] bool settle_range(Json& parameter, const Json& today) const;
  [[nodiscard]] std::string range_text(const Json& parameter) const;

  using Left = std::pair<std::string, std::vector<std::string>>;  ///< why, and which knobs

  const Survey& survey_;
  const DraftOptions& options_;
  std::map<std::string, double> shares_;
  std::string device_;  ///< that trains; empty where the hook does not know it
  std::optional<Json> guard_;
  std::vector<Candidate> candidates_;
  Configuration today_;
  Json parameters_ = Json::object();
  Json baseline_ = Json::object();
  Json rules_ = Json::object();
  std::vector<std::string> tuned_;
  std::vector<Left> left_;
  bool changes_loss_ = false;
};

/// Why there is no guard on the loss.
[[nodiscard]] const char* why_no_guard(const Survey& survey);

}  // namespace steptune

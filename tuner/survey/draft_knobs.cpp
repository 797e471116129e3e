// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/draft_knobs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "tuner/knobs/draft_defaults.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/survey/possible_gain.hpp"

namespace steptune {
namespace {

/// If workers are busy for a larger share, faster steps would wait for them. Other parts of a step
/// may become three times as fast on a GPU with bf16.
constexpr double k_most_busy = 1.0 / 3.0;
/// Number of trials that tuning a knob takes: two other values, or two steps in the direction that
/// helps and one step too far.
constexpr double k_trials_per_knob = 3.0;
constexpr const char* k_precision = "precision";
constexpr const char* k_checkpointing = "activation_checkpointing";
constexpr const char* k_flush_denormal = "flush_denormal";
constexpr const char* k_sharing_strategy = "sharing_strategy";
constexpr const char* k_workers = "num_workers";
constexpr const char* k_threads = "num_threads";
constexpr const char* k_blas_threads = "openblas_threads";
constexpr const char* k_guarded = "loss";
constexpr const char* k_no_guard = "a guard needs a loss above zero, and the hook found none";
constexpr const char* k_diverged =
    "a guard needs a finite loss, and the program's is NaN or infinite";
/// Upper bound of the number of workers if the loader waits only for CPUs.
constexpr const char* k_busy_workers = "2 * cpus";

/// Rounds up to two digits, so that the number is easy to read and change.
double rounded(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
  return std::ceil(value / unit) * unit;
}

/// Returns a guard that compares the loss with the baseline's after the same number of samples.
/// nullopt if the hook found no loss above zero.
std::optional<Json> loss_guard(const Survey& survey) {
  const auto loss = survey.metric(k_guarded);
  const auto step_s = survey.seconds_per_step();
  if (!loss || !step_s || !(*loss > 0.0)) return std::nullopt;
  // The baseline trains for at least 5 s before the guard is checked.
  const double steps = std::max(5.0 / *step_s, k_guard_steps);
  const double after = rounded(steps * survey.samples_per_step().value_or(1.0));
  return Json{{"metric", k_guarded},
              {"after_samples", static_cast<std::int64_t>(after)},
              {"max_ratio_to_baseline", k_guard_ratio}};
}

/// True for a flag or choice whose name has no usual role. The study gives it the role `other`, so
/// that the first guesses can try it.
bool needs_role(const Knob& knob) {
  return knob.parameter["type"] != "int" && !role_of_name(knob.name);
}

}  // namespace

std::string family_of(const Survey& survey) {
  std::string family = text_at(survey.log.event("patched"), "family");
  return family.empty() ? k_pytorch_family : family;
}

const char* why_no_guard(const Survey& survey) {
  return is_diverged(survey) ? k_diverged : k_no_guard;
}

bool is_diverged(const Survey& survey) {
  return survey.last.not_finite.contains(k_guarded);
}

DraftKnobs::DraftKnobs(const Survey& survey, const DraftOptions& options)
    : survey_(survey),
      options_(options),
      shares_(survey.part_shares()),
      device_(text_at(survey.log.event("patched"), "device")),
      guard_(loss_guard(survey)) {
  for (const Knob* knob : python_knobs_of(family_of(survey)))
    consider(*knob);
  offer_by_gain();
}

void DraftKnobs::write_into(Json& document, Draft& draft) && {
  document["hooks"] = {{"python", std::move(rules_)}};
  document["parameters"] = std::move(parameters_);
  document["baseline"] = std::move(baseline_);
  if (changes_loss_) document["guards"] = Json::array({*std::move(guard_)});
  draft.tuned = std::move(tuned_);
  draft.left_out = left_out();
}

std::vector<std::string> DraftKnobs::left_out() const {
  std::vector<std::string> lines;
  for (const auto& [why, names] : left_out_)
    lines.push_back(fmt::format("{}: {}", fmt::join(names, ", "), why));
  return lines;
}

void DraftKnobs::consider(const Knob& knob) {
  const auto reported_knob = survey_.log.knobs().find(knob.name);
  if (reported_knob == survey_.log.knobs().end()) return;
  if (std::string why = why_not_allowed(knob, reported_knob->second); !why.empty())
    return leave_out(knob, why);
  if (std::string why = why_not_worth(knob); !why.empty()) return leave_out(knob, why);
  // Knobs that affect an unmeasured part of the step come first, in the table's order.
  const double gain = possible_gain(knob, survey_, options_.facts).value_or(k_infinity);
  candidates_.push_back({&knob, &reported_knob->second, gain});
}

std::string DraftKnobs::why_not_allowed(const Knob& knob, const KnobState& state) const {
  if (!state.may) return state.why;
  if (knob.knob_class == KnobClass::numeric) {
    if (!options_.numeric) return "may change the loss";
    if (!guard_) return fmt::format("may change the loss: {}", why_no_guard(survey_));
  }
  if (!knob.device.empty() && !device_.empty() && device_ != knob.device) {
    return fmt::format("is worth trying on {} only", knob.device);
  }
  if (knob.knob_class == KnobClass::semantic && !options_.semantic) {
    return "changes the training itself; tuned with --semantic";
  }
  // Checkpointing makes steps slower, so it pays only with a larger batch.
  if (knob.name == k_checkpointing && state.today == Json(false)) {
    if (device_ == "cpu") return "is worth trying on cuda only";
    if (!options_.semantic) return "pays only with a larger batch; tuned with --semantic";
  }
  if (options_.is_running && !knob.switchable) {
    return "cannot be switched while a program runs; `steptune run` tunes it";
  }
  if (options_.must_not_fail && !knob.may_break.empty()) {
    return fmt::format("may break {}; tuned before a run", knob.may_break);
  }
  return "";
}

std::string DraftKnobs::why_not_worth(const Knob& knob) const {
  // A knob gains at most the share of its part. Trials do not show a gain below their half-width.
  // The value `file_system` makes no step faster, and leaves files in shared memory if a trial is
  // killed.
  if (knob.name == k_sharing_strategy) return "only helps against too many open files";
  if (knob.name == k_precision && device_ == "cpu" && !options_.cpu_computes_bfloat16) {
    return "this CPU emulates bfloat16, which is slower";
  }
  if (knob.part == "host") {
    // Time spent in the program's own threads can be seen only if a GPU waits for it. Waiting
    // within a forward or backward pass is not visible.
    const auto idle = survey_.metric("gpu_idle_share");
    if (!idle || *idle >= k_usual_half_width) return "";
    return fmt::format("between steps the GPU waits {:.1f} % of the time for the program",
                       1e2 * *idle);
  }
  if (knob.part == k_collector_part) {
    const auto collecting = survey_.metric(k_collector_share);
    if (!collecting) return "the garbage collector's time is not known";
    if (*collecting >= k_usual_half_width) return "";
    return fmt::format("the garbage collector takes {:.1f} % of a step", 1e2 * *collecting);
  }
  const auto share = shares_.find(knob.part);
  if (share == shares_.end()) return "";
  if (knob.part == "data") {
    if (busy_workers(survey_).value_or(0.0) > k_most_busy) return "";
    if (loading_can_gain(survey_, 1.0 + options_.worth)) return "";
    if (const auto replay = survey_.log.replay()) {
      return fmt::format("cached batches make a step {:.2f} times as fast", replay->ceiling());
    }
  } else if (share->second >= k_usual_half_width) {
    return "";
  }
  return fmt::format("{} takes {:.1f} % of a step", knob.part, 1e2 * share->second);
}

void DraftKnobs::leave_out(const Knob& knob, const std::string& why) {
  auto same = std::ranges::find(left_out_, why, &LeftOut::first);
  if (same == left_out_.end()) same = left_out_.emplace(same, why, std::vector<std::string>());
  same->second.push_back(knob.name);
}

void DraftKnobs::offer_by_gain() {
  std::ranges::stable_sort(candidates_, std::greater<>(), &Candidate::gain);
  // Offer at least three knobs, even if the time is short.
  const double most = options_.trials
                          ? std::max(3.0, std::floor(*options_.trials / k_trials_per_knob))
                          : k_infinity;
  for (const Candidate& candidate : candidates_) {
    const Knob& knob = *candidate.knob;
    // One parameter sets both thread counts only if the program uses the same number for both
    // today.
    const bool moves_with_threads = knob.name == k_blas_threads && baseline_.contains(k_threads) &&
                                    today_of(knob, *candidate.state) == baseline_[k_threads];
    if (moves_with_threads) {
      rules_[knob.name] = fmt::format("{{{}}}", k_threads);
      leave_out(knob, fmt::format("is set together with {}", k_threads));
    } else if (knob.name == k_flush_denormal && !changes_loss_) {
      // Few programs compute with denormal numbers for long, and each trial would have to train
      // until the guard is checked.
      leave_out(knob, "needs a guard on the loss, which one setting seldom pays for");
    } else if (static_cast<double>(parameters_.size()) >= most) {
      leave_out(knob, fmt::format("the time allows {:.0f} trials, which are enough for {:.0f} "
                                  "knobs; these promise a smaller gain",
                                  *options_.trials, most));
    } else {
      offer(candidate);
    }
  }
}

void DraftKnobs::offer(const Candidate& candidate) {
  const Knob& knob = *candidate.knob;
  const KnobState& state = *candidate.state;
  Json parameter = knob.parameter;
  const bool active = evaluate_condition(parameter);
  const Json today = today_of(knob, state);
  if (!active && !parameter.contains("when")) {
    return leave_out(knob, "has no effect with the program's present settings");
  }
  if (active && today.is_null()) return leave_out(knob, "the program's value is not known");
  adapt_range(knob, parameter, today);
  if (parameter.contains("choices")) {
    if (!state.choices.empty()) parameter["choices"] = state.choices;
    const Json& choices = parameter["choices"];
    if (active && std::ranges::find(choices, today) == choices.end()) {
      return leave_out(knob,
                       fmt::format("is {}, which is not one of its choices", plain_text(today)));
    }
    if (choices.size() < 2) return leave_out(knob, "only one value is possible here");
  }
  if (parameter.contains("low") && !extend_range(parameter, active ? today : Json())) {
    return leave_out(knob, "only one value is possible here");
  }
  tuned_.push_back(fmt::format("{} {}{}", knob.name, range_text(parameter, options_.facts),
                               active ? ", today " + plain_text(today) : ""));
  rules_[knob.name] = fmt::format("{{{}}}", knob.name);
  if (active) baseline_[knob.name] = today;
  if (active) today_.set(knob.name, value_from_json(today, {}).value());
  if (needs_role(knob)) parameter["role"] = to_text(KnobRole::other);
  parameters_[knob.name] = std::move(parameter);
  changes_loss_ = changes_loss_ || knob.knob_class != KnobClass::safe;
}

/// Returns today's value as the hook saw it. For environment variables that are not set, returns
/// the table's default.
Json DraftKnobs::today_of(const Knob& knob, const KnobState& state) const {
  if (!state.today.is_null() || !knob.in_environment()) return state.today;
  if (knob.parameter["type"] != "int") return knob.today;
  const double today = fact_value(plain_text(knob.today), options_.facts);
  return std::isfinite(today) ? Json(static_cast<std::int64_t>(today)) : Json();
}

bool DraftKnobs::evaluate_condition(Json& parameter) const {
  if (!parameter.contains("when")) return true;
  const auto when = parameter["when"].get<std::string>();
  const auto names = document::identifiers_in(when);
  std::vector<std::string> known;
  bool are_tuned = true;
  Configuration now = today_;
  for (const Knob& knob : python_knobs()) {
    known.push_back(knob.name);
    if (std::ranges::find(names, knob.name) == names.end()) continue;
    are_tuned = are_tuned && parameters_.contains(knob.name);
    const auto state = survey_.log.knobs().find(knob.name);
    if (state == survey_.log.knobs().end()) continue;
    if (auto value = value_from_json(state->second.today, {})) now.set(knob.name, *value);
  }
  const auto expression = Expression::compile(when, known, options_.facts);
  const bool active = expression && expression->holds(now);
  if (!are_tuned) parameter.erase("when");
  return active;
}

void DraftKnobs::adapt_range(const Knob& knob, Json& parameter, const Json& today) const {
  // Workers beyond the number of CPUs help only if workers mostly wait, and if the step waits for
  // them.
  const bool is_waited_for = loading_can_gain(survey_, 1.0 + options_.worth);
  if (knob.name == k_workers && (!is_waited_for || !loading_waits(survey_).value_or(true))) {
    parameter["high"] = k_busy_workers;
    parameter.erase("scale");
  }
  if (knob.name != k_batch_size || !parameter.contains("low") || !today.is_number_integer()) return;
  const auto now = today.get<std::int64_t>();
  // The table of knobs has no range for the batch size, because programs use very different
  // batches.
  parameter["low"] = std::max<std::int64_t>(1, now / k_smaller);
  parameter["high"] = now * k_larger;
  parameter["memory"] = "increases";
}

bool DraftKnobs::extend_range(Json& parameter, const Json& today) const {
  double low = fact_value(plain_text(parameter["low"]), options_.facts);
  double high = fact_value(plain_text(parameter["high"]), options_.facts);
  if (today.is_number()) {
    const auto now = today.get<double>();
    if (now < low) parameter["low"] = today;
    if (now > high) parameter["high"] = today;
    low = std::min(low, now);
    high = std::max(high, now);
  }
  const std::string scale = parameter.value("scale", "");
  // Only "log" includes zero (DDP's bucket_cap_mb=0: each gradient separately).
  if (scale == "log2" && low <= 0.0) {
    parameter.erase("scale");
  } else if (scale == "log2" && today.is_number() && !is_power_of_two(today.get<double>())) {
    parameter["scale"] = "log";
  }
  return low < high;
}

}  // namespace steptune

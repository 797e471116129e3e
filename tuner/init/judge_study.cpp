// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/judge_study.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tuner/init/guess_input.hpp"
#include "tuner/init/unread_output.hpp"
#include "tuner/knobs/draft_defaults.hpp"
#include "tuner/study/judge_defaults.hpp"
#include "tuner/study/sections.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// Share of the time that all commands together may train until the loss is compared. The first
/// runs and three rounds train up to twice that point, so they take at most eight times this share.
/// If the loss is reported seldom, the share may be twice as large, and the runs take at most 80 %
/// of the time.
constexpr double k_share_until_loss = 0.05;

/// Returns the command line with one group of arguments for each command. The first element is a
/// placeholder, because each value of the parameter is the name of an executable.
Json command_line(const JudgeRequest& request) {
  Json line = Json::array({fmt::format("{{{}}}", k_judged_parameter)});
  for (std::size_t i = 0; i < request.commands.size(); ++i) {
    const auto& argv = request.commands[i];
    const std::vector<std::string> arguments(argv.begin() + 1, argv.end());
    if (arguments.empty()) continue;
    line.push_back({{"when", fmt::format("{} == '{}'", k_judged_parameter, judged_name(i))},
                    {"args", command_template(arguments)}});
  }
  return line;
}

Json parameter(const JudgeRequest& request) {
  Json choices = Json::object();
  for (std::size_t i = 0; i < request.commands.size(); ++i)
    choices[judged_name(i)] = request.commands[i].front();
  return {{"type", "categorical"}, {"choices", choices}};
}

/// The loss to compare and the number of samples after which to compare it, or the reason why it is
/// not compared.
struct LossPoint {
  std::string metric = {};
  double after_samples = 0.0;
  std::string why_none = {};
};

/// Returns the point at which the loss is compared. This is after as much training as `look` saw,
/// or earlier to stay within `k_share_until_loss` of the time. If the loss is reported seldom,
/// allows up to twice this share.
LossPoint loss_point(const JudgeRequest& request, const OutputLook& look) {
  GuessInput input;
  double first = 0.0;
  double last = 0.0;
  double seen_s = 0.0;
  double lines = 0.0;
  if (look.survey) {
    input.survey = look.survey;
    if (is_diverged(*look.survey)) return {.why_none = "the loss of A is NaN or infinite"};
    first = look.survey->first->samples.value_or(look.survey->first->step.value_or(0.0));
    last = look.survey->last.samples.value_or(look.survey->last.step.value_or(0.0));
    seen_s = look.survey->last.received_s - look.survey->first->received_s;
  } else if (look.reading) {
    input.reading = look.reading;
    first = look.reading->first_count;
    last = look.reading->last_count;
    seen_s = look.progress_s;
  }
  LossPoint point{.metric = known_loss(input)};
  if (point.metric.empty()) return {.why_none = "A reports no loss"};
  if (!look.survey) lines = static_cast<double>(look.reading->metrics.at(point.metric));
  const double time_s = request.time_s / static_cast<double>(request.commands.size());
  double scale = std::min(1.0, k_share_until_loss * time_s / seen_s);
  // The guard's window begins at this point, and must contain enough reports of the loss.
  const double least_lines =
      std::ceil(static_cast<double>(k_least_guard_reports) / (k_longest_guard_window - 1.0));
  if (lines > 0.0) scale = std::max(scale, least_lines / lines);
  point.after_samples = std::round(first + scale * (last - first));
  const bool is_late = scale * seen_s > 2.0 * k_share_until_loss * time_s;
  if (is_late || !(point.after_samples > 0.0)) {
    return {.why_none = "A reports its loss too seldom for this time"};
  }
  return point;
}

/// Adds the guard that compares the loss. Returns why there is none; empty if there is one.
std::string add_loss_guard(const JudgeRequest& request, const OutputLook& look, Json& document) {
  const LossPoint point = loss_point(request, look);
  if (!point.why_none.empty()) return point.why_none;
  document["guards"] = Json::array({{{"metric", point.metric},
                                     {"after_samples", point.after_samples},
                                     {"max_ratio_to_baseline", k_guard_ratio},
                                     {"over_launches", true}}});
  return {};
}

/// Writes the keys that say how to read progress. Prefers the hook, because it counts samples in
/// the same way for all commands.
Result<void> add_reading(const OutputLook& look, Json& document) {
  if (look.survey) {
    document["hooks"]["python"] = Json::object();
    return {};
  }
  if (look.reading) {
    const OutputReading& reading = *look.reading;
    if (!reading.format.reports.is_null()) document["reports"] = reading.format.reports;
    if (reading.counts_shares()) {
      document["unit"] = reading.unit_name();
    } else if (!reading.reports_samples) {
      document["unit"] = "steps";
    }
    return {};
  }
  if (!look.failure.empty()) {
    return fail(ErrorKind::usage, fmt::format("{} failed before it reported progress: {}",
                                              judged_name(0), look.failure));
  }
  return fail(ErrorKind::usage,
              fmt::format("the progress of {} cannot be read: {}", judged_name(0),
                          look.unread ? unread_text(*look.unread) : look.ending),
              "", "let the commands print [steptune] lines (docs/reporting.md)");
}

}  // namespace

void set_judging(const JudgeRequest& request, std::size_t count, Json& document) {
  for (const char* key : {"measure", "limits"})
    if (!document[key].is_object()) document[key] = Json::object();
  document["name"] = request.name;
  document["search"] = {{"searcher", "random"}, {"scheduler", "none"}, {"worth", request.margin}};
  // A command that fails does not end the comparison of the other commands.
  document["budget"] = {
      {"trials", count}, {"time", request.time_s}, {"consecutive_failures", count}};
  Json& measure = document["measure"];
  // The document may come from an earlier comparison, so remove its settings first.
  for (const char* key :
       {"confirm_pairs", "confirm_error", "confirm_slowdown", "pair_deviation", "pair_freedom"})
    measure.erase(key);
  measure["confirm_all"] = true;
  measure["sentinels"] = false;
  if (request.error < k_one_sided_error) measure["confirm_error"] = request.error;
  if (request.slowdown > 0.0) measure["confirm_slowdown"] = request.slowdown;
  if (request.pair_freedom > 0.0) {
    measure["pair_deviation"] = request.pair_deviation;
    measure["pair_freedom"] = request.pair_freedom;
  }
  // The limit `wall` also ends a silent trial, so silence needs no shorter limit.
  Json& limits = document["limits"];
  limits["idle"] = limits.value("wall", TrialLimits().wall_s);
}

Result<JudgeStudy> judge_study(const JudgeRequest& request, const OutputLook& look) {
  JudgeStudy study;
  Json& document = study.document;
  document["command"] = command_line(request);
  if (auto added = add_reading(look, document); !added) return tl::unexpected(added.error());
  if (request.terminal) document["terminal"] = true;
  if (!request.input.empty()) document["stdin"] = request.input;
  document["parameters"][k_judged_parameter] = parameter(request);
  document["baseline"][k_judged_parameter] = judged_name(0);
  set_judging(request, request.commands.size(), document);
  document["search"]["searcher"] = "grid";
  if (request.campaign)
    document["campaign"] = study::campaign_section().write(*request.campaign, {});
  if (request.compares_loss) study.why_no_loss = add_loss_guard(request, look, document);
  return study;
}

}  // namespace steptune

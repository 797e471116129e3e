// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_study.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/numbers.hpp"
#include "tuner/verdict/payback.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_night_mark = ".night-";

/// Returns a night's budget. Limits on the command line replace limits in the study file.
Json bounded_budget(const StudySpec& study, const NightBounds& bounds) {
  Json budget = study.document.value("budget", Json::object());
  if (bounds.time_s) budget["time"] = *bounds.time_s;
  if (bounds.cost_usd) budget["cost"] = *bounds.cost_usd;
  return budget;
}

/// Reads the document as a study and sets the fingerprint of `study`: all nights of a study share
/// its fingerprint.
Result<StudySpec> read_again(const StudySpec& study, const Json& document) {
  auto again = study_from_json(document, study.file, study.facts);
  if (again) again->fingerprint = study.fingerprint;
  return again;
}

}  // namespace

Result<std::string> night_study_name(const std::string& study, std::int64_t night) {
  std::string name = fmt::format("{}{}{}", study, k_night_mark, night);
  if (document::is_study_name(name)) return name;
  return fail(ErrorKind::usage,
              fmt::format("\"{}\" is too long a name: its nights are called \"{}\"", study, name),
              "/name", "give the study a shorter \"name\"");
}

std::string tuned_study_name(const std::string& name) {
  return name.substr(0, name.rfind(k_night_mark));
}

Result<std::set<std::string>> studies_of_nights(const History& history,
                                                const std::vector<StudyRecord>& studies) {
  std::set<std::string> needed;
  std::set<std::string> tuned_studies;
  for (const StudyRecord& study : studies) {
    const std::string tuned = tuned_study_name(study.name);
    // Read each tuned study's nights only once: nights are kept for years, and every recent night
    // has a study.
    if (!tuned_studies.insert(tuned).second) continue;
    const auto nights = history.nights(tuned);
    if (!nights) return tl::unexpected(nights.error());
    if (nights->empty()) continue;
    const auto latest = night_from_row(nights->back());
    if (!latest) return tl::unexpected(latest.error());
    needed.insert({tuned, latest->study, latest->after.study});
  }
  return needed;
}

Result<StudySpec> night_study(const StudySpec& study, const Night& night, const NightBounds& bounds,
                              const PhasePlan& plan) {
  const Configuration& incumbent = night.before.configuration;
  const bool is_baseline = incumbent == study.baseline;
  Json document = study.document;
  document["name"] = night.study;
  document["try"] = is_baseline ? Json::array() : Json::array({to_json(incumbent)});
  Json budget = bounded_budget(study, bounds);
  budget["trials"] = std::min((is_baseline ? 1 : 2) + plan.search_trials, k_most_budget_trials);
  if (budget.contains("time")) {
    const double left_s = std::max(0.0, budget["time"].get<double>() - plan.elapsed_s);
    budget["time"] = std::max(1.0, plan.elapsed_s + plan.time_share * left_s);
  }
  budget.erase("stop");
  // A loss of speed lasts for all later nights. So the search may cost more than one planned run
  // can save. Only without a loss does the search stop at payback.
  const bool has_lost = night.slowdown || night.lead_shrank || !night.broken.empty();
  if (payback_applies(study) && !has_lost) budget["stop"] = "payback";
  document["budget"] = std::move(budget);
  Json& search = document["search"];
  search.erase("learn_from");
  // Draw other random configurations each night.
  search["seed"] = (study.search.seed + static_cast<std::uint64_t>(night.number)) %
                   (static_cast<std::uint64_t>(k_max_whole) + 1);
  if (plan.phase == NightPhase::check || plan.phase == NightPhase::recheck) {
    search["searcher"] = "random";
    search["scheduler"] = "none";
  }
  document["measure"]["confirm_pairs"] =
      std::min(std::max(plan.rounds, plan.confirm_pairs), k_most_confirm_pairs);
  auto spec = read_again(study, document);
  if (!spec) return spec;
  if (!is_baseline) spec->measure.in_use = ConfigurationInUse{incumbent, plan.rounds};
  return spec;
}

Result<StudySpec> first_night_study(const StudySpec& study, const Night& night,
                                    const NightBounds& bounds) {
  Json document = study.document;
  document["name"] = night.study;
  Json budget = bounded_budget(study, bounds);
  if (bounds.trials) {
    // The number in a study's budget also counts the baseline and the configurations to try.
    budget["trials"] =
        std::min(1 + std::ssize(study.search.hints) + *bounds.trials, k_most_budget_trials);
  }
  document["budget"] = std::move(budget);
  return read_again(study, document);
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/bisection.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/short_hash.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/stored_study.hpp"

namespace steptune {

inline constexpr auto k_bisection_outcome_names = enum_names<BisectionOutcome>({
    {BisectionOutcome::found, "found"},
    {BisectionOutcome::undecided, "undecided"},
    {BisectionOutcome::not_slower, "not_slower"},
});

std::string version_text(const Bisection& bisection, const std::string& version) {
  if (bisection.package.empty()) return short_hash(version);
  return fmt::format("{} {}", bisection.package, version);
}

namespace {

std::string line_of(const Bisection& bisection, const SuspectedVersion& version) {
  const std::string name = version_text(bisection, version.version);
  if (version.subject.empty()) return name;
  return fmt::format("{} {}", name, printable_line(version.subject, 80));
}

std::string verdict_text(const Bisection& bisection) {
  const std::string slower =
      bisection.ratio ? fmt::format(": {} times as fast as before", format_factor(*bisection.ratio))
                      : "";
  switch (bisection.outcome) {
    case BisectionOutcome::not_slower:
      return "the bad version is not slower than the good one\n";
    case BisectionOutcome::found:
      return fmt::format("found   {}{} ({:.0f} % sure)\n",
                         line_of(bisection, bisection.suspects.front()), slower,
                         100.0 * bisection.suspects.front().probability);
    case BisectionOutcome::undecided:
      break;
  }
  std::string text =
      fmt::format("undecided: {}one of {} versions made it slower{}\n",
                  bisection.bad_is_slower ? "" : "the bad version may not be slower; if it is, ",
                  bisection.suspects.size(), slower);
  std::size_t shown = 0;
  for (const SuspectedVersion& version : bisection.suspects) {
    if (++shown > k_shown_elements) {
      return text + fmt::format("        and {} more\n", bisection.suspects.size() - shown + 1);
    }
    text += fmt::format("{:5.0f} % {}\n", 100.0 * version.probability, line_of(bisection, version));
  }
  return text;
}

std::string skipped_text(const Bisection& bisection) {
  const auto& unusable = bisection.unusable;
  if (unusable.empty()) return {};
  std::string text = fmt::format(
      "skipped {} version{} that could not be {} or run:", unusable.size(),
      unusable.size() == 1 ? "" : "s", bisection.package.empty() ? "built" : "installed");
  for (std::size_t i = 0; i < unusable.size(); ++i) {
    if (i == k_shown_elements)
      return text + fmt::format(" and {} more\n", unusable.size() - k_shown_elements);
    text += fmt::format("{} {}", i > 0 ? "," : "", version_text(bisection, unusable[i]));
  }
  return text + "\n";
}

/// True if only the last suspect can be measured. Then more time cannot separate the suspects.
bool are_inseparable(const Bisection& bisection) {
  return std::ranges::all_of(bisection.suspects.begin(), bisection.suspects.end() - 1,
                             [&](const SuspectedVersion& suspect) {
                               return std::ranges::find(bisection.unusable, suspect.version) !=
                                      bisection.unusable.end();
                             });
}

std::string next_text(const Bisection& bisection) {
  const bool is_package = !bisection.package.empty();
  switch (bisection.outcome) {
    case BisectionOutcome::found:
      if (is_package) return fmt::format("pip install {}=={}", bisection.package, bisection.before);
      return fmt::format("git show {}", short_hash(bisection.suspects.front().version));
    case BisectionOutcome::not_slower:
      return is_package ? "look for what else has changed"
                        : "compare them with: steptune judge --git GOOD BAD";
    case BisectionOutcome::undecided:
      break;
  }
  if (bisection.bad_is_unusable && !bisection.bad_is_slower) {
    return "give an earlier bad version: this one could not be measured";
  }
  if (are_inseparable(bisection)) return "read the changes: only the last of these can be measured";
  return "the same command with a longer --time continues from here";
}

}  // namespace

std::string to_text(BisectionOutcome outcome) {
  return std::string(k_bisection_outcome_names.name_of(outcome));
}

std::string bisection_text(const Bisection& bisection) {
  std::string text = verdict_text(bisection);
  text += skipped_text(bisection);
  return text + fmt::format("cost    {} of {}; {} of {} versions measured\nnext    {}\n",
                            format_duration(bisection.spent_s),
                            format_duration(bisection.longest_s), bisection.measured,
                            bisection.versions, next_text(bisection));
}

template <>
struct JsonForm<BisectionOutcome> : JsonNames<k_bisection_outcome_names> {};

template <>
const JsonRecord<SuspectedVersion>& json_record<SuspectedVersion>() {
  using S = SuspectedVersion;
  static const auto record =
      JsonRecord<S>()
          .field("version", &S::version, "The hash of a commit, or a package's version")
          .field("subject", &S::subject)
          .field("probability", &S::probability);
  return record;
}

template <>
const JsonRecord<Bisection>& json_record<Bisection>() {
  using B = Bisection;
  static const auto record =
      JsonRecord<B>()
          .text_or_null("package", &B::package,
                        "Package whose versions were compared; null: commits")
          .field("outcome", &B::outcome)
          .field("suspects", &B::suspects,
                 "The first slow version is one of these with a probability of 95 %")
          .field("ratio", &B::ratio, "How many times as fast as before the slow versions are")
          .field("versions", &B::versions, "Versions after the good one")
          .field("measured", &B::measured)
          .field("unusable", &B::unusable, "Versions that could not be built, installed or run")
          .field("spent_s", &B::spent_s)
          .field("time_s", &B::longest_s, "Limit of the time");
  return record;
}

namespace {

bool is_stage_of(const std::string& study, const std::string& name) {
  return study == name || study.starts_with(name + "-");
}

Result<BisectStage> stage_of(const History& history, const StudyRecord& record) {
  const auto study = stored_spec(record);
  if (!study) return tl::unexpected(study.error());
  BisectStage stage;
  stage.study = record.name;
  stage.commands = judged_words(*study);
  stage.is_finished = record.status == StudyStatus::finished;
  stage.elapsed_s = record.elapsed_s;
  if (!stage.is_finished) return stage;
  const auto trials = history.trials(record.id, Milestones::leave);
  if (!trials) return tl::unexpected(trials.error());
  const auto recommendation = stored_recommendation(record);
  if (!recommendation) return tl::unexpected(recommendation.error());
  stage.judged = judged_commands(*study, *trials, *recommendation, record.elapsed_s);
  return stage;
}

}  // namespace

Result<std::vector<BisectStage>> read_bisect_stages(const History& history,
                                                    const std::string& name) {
  const auto records = history.studies();
  if (!records) return tl::unexpected(records.error());
  std::vector<BisectStage> stages;
  for (const StudyRecord& record : *records) {
    if (!is_stage_of(record.name, name)) continue;
    auto stage = stage_of(history, record);
    if (!stage) return tl::unexpected(stage.error());
    stages.push_back(*std::move(stage));
  }
  return stages;
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/bisection.hpp"

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr auto k_bisection_outcomes = enum_names<BisectionOutcome>({
    {BisectionOutcome::found, "found"},
    {BisectionOutcome::undecided, "undecided"},
    {BisectionOutcome::not_slower, "not_slower"},
});

constexpr std::size_t k_hash_digits = 12;
constexpr std::size_t k_shown_suspects = 8;

std::string line_of(const SuspectedVersion& version) {
  return fmt::format("{} {}", version.commit.substr(0, k_hash_digits),
                     printable_line(version.subject, 80));
}

std::string verdict_text(const Bisection& bisection) {
  const std::string slower =
      bisection.ratio ? fmt::format(": {} times as fast as before", format_factor(*bisection.ratio))
                      : "";
  switch (bisection.outcome) {
    case BisectionOutcome::not_slower:
      return "the bad version is not slower than the good one\n";
    case BisectionOutcome::found:
      return fmt::format("found   {}{} ({:.0f} % sure)\n", line_of(bisection.suspects.front()),
                         slower, 100.0 * bisection.suspects.front().probability);
    case BisectionOutcome::undecided:
      break;
  }
  std::string text = fmt::format("undecided: one of {} versions made it slower{}\n",
                                 bisection.suspects.size(), slower);
  std::size_t shown = 0;
  for (const SuspectedVersion& version : bisection.suspects) {
    if (++shown > k_shown_suspects) {
      return text + fmt::format("        and {} more\n", bisection.suspects.size() - shown + 1);
    }
    text += fmt::format("{:5.0f} % {}\n", 100.0 * version.probability, line_of(version));
  }
  return text;
}

std::string next_text(const Bisection& bisection) {
  switch (bisection.outcome) {
    case BisectionOutcome::found:
      return fmt::format("git show {}", bisection.suspects.front().commit.substr(0, k_hash_digits));
    case BisectionOutcome::not_slower:
      return "compare them with: steptune judge --git GOOD BAD";
    case BisectionOutcome::undecided:
      break;
  }
  return "give a longer --time, or GOOD and BAD closer to each other";
}

}  // namespace

std::string to_text(BisectionOutcome outcome) {
  return std::string(k_bisection_outcomes.name_of(outcome));
}

std::string bisection_text(const Bisection& bisection) {
  std::string text = verdict_text(bisection);
  if (!bisection.unusable.empty()) {
    text += fmt::format("skipped {} version{} that could not be built or run\n",
                        bisection.unusable.size(), bisection.unusable.size() == 1 ? "" : "s");
  }
  return text + fmt::format("cost    {} of {}; {} of {} versions measured\nnext    {}\n",
                            format_duration(bisection.spent_s),
                            format_duration(bisection.longest_s), bisection.measured,
                            bisection.versions, next_text(bisection));
}

Json bisection_json(const Bisection& bisection) {
  Json json;
  json["outcome"] = to_text(bisection.outcome);
  json["suspects"] = Json::array();
  for (const SuspectedVersion& version : bisection.suspects) {
    json["suspects"].push_back({{"commit", version.commit},
                                {"subject", version.subject},
                                {"probability", version.probability}});
  }
  json["ratio"] = number_or_null(bisection.ratio);
  json["versions"] = bisection.versions;
  json["measured"] = bisection.measured;
  json["unusable"] = bisection.unusable;
  json["spent_s"] = number_or_null(bisection.spent_s);
  json["time_s"] = number_or_null(bisection.longest_s);
  return json;
}

}  // namespace steptune

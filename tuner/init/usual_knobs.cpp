// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/usual_knobs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <re2/re2.h>

#include "common/text.hpp"
#include "tuner/init/knob_rules.hpp"

namespace steptune {
namespace {

/// Returns rules for unambiguous settings of configuration files that have no option on the command
/// line.
std::vector<SpaceKnob> knobs_of_files(const ProgramFacts& program) {
  std::vector<SpaceKnob> rules;
  for (const NamedConfig& config : program.configs) {
    for (const ProgramOption& setting : config.settings) {
      const std::string plain = plain_name(setting.name);
      const std::string telling = telling_path(plain);
      const bool has_option =
          std::ranges::any_of(program.options, [&](const ProgramOption& option) {
            const std::string own = plain_name(option.name);
            return own == plain || telling_path(own) == telling;
          });
      const bool is_repeated =
          std::ranges::find(rules, setting.name, &SpaceKnob::option) != rules.end();
      if (has_option || is_repeated) continue;
      if (find_option(config.settings, telling) != &setting) continue;
      if (auto rule = usual_knob(setting)) rules.push_back(*std::move(rule));
    }
  }
  return rules;
}

/// Meaning of a batch size by its name.
enum class BatchName { whole, part, plain };

BatchName batch_name_of(const SpaceKnob& rule) {
  static const RE2 k_whole("(?:.*_)?(?:global|effective|total|target|gbs)(?:_.*)?");
  static const RE2 k_part(".*micro.*|(?:.*_)?(?:device|gpu|rank|local|mbs)(?:_.*)?");
  if (RE2::FullMatch(rule.parameter, k_whole)) return BatchName::whole;
  return RE2::FullMatch(rule.parameter, k_part) ? BatchName::part : BatchName::plain;
}

std::optional<ProgramFacts::Today> today_of(const ProgramFacts& program, const SpaceKnob& rule) {
  if (const ProgramOption* option = program.option_called(rule.option)) {
    return program.today(*option);
  }
  for (const NamedConfig& config : program.configs) {
    const auto setting = std::ranges::find(config.settings, rule.option, &ProgramOption::name);
    if (setting != config.settings.end()) return program.today(*setting);
  }
  return std::nullopt;
}

/// Returns two batch sizes if one is part of the other by its name.
std::optional<StepBatch> step_batch(const std::vector<SpaceKnob>& batches,
                                    const ProgramFacts& program) {
  if (batches.size() != 2) return std::nullopt;
  const bool is_first_part = batch_name_of(batches[0]) == BatchName::part;
  const SpaceKnob& part = batches[is_first_part ? 0 : 1];
  const SpaceKnob& whole = batches[is_first_part ? 1 : 0];
  const bool is_micro = part.parameter.find("micro") != std::string::npos ||
                        part.parameter.find("mbs") != std::string::npos;
  const bool is_whole = batch_name_of(whole) == BatchName::whole ||
                        (batch_name_of(whole) == BatchName::plain && is_micro);
  if (batch_name_of(part) != BatchName::part || !is_whole) return std::nullopt;
  const auto samples = today_of(program, whole);
  const auto part_samples = today_of(program, part);
  if (!samples || !part_samples) return std::nullopt;
  StepBatch step{whole.option, samples->from, parse_finite(samples->value).value_or(0.0), part,
                 parse_finite(part_samples->value).value_or(0.0)};
  const bool fits = step.part_samples >= 1.0 && step.samples >= step.part_samples &&
                    std::fmod(step.samples, step.part_samples) == 0.0;
  return fits ? std::optional(std::move(step)) : std::nullopt;
}

/// Moves rules with a condition to the end, because a condition refers to an earlier rule. Moves
/// accumulation behind the batch size, to which it refers.
void put_in_order(std::vector<SpaceKnob>& rules) {
  std::ranges::stable_sort(rules, {}, [](const SpaceKnob& rule) { return !rule.when.empty(); });
  const auto accumulation = std::ranges::find(rules, "accumulation", &SpaceKnob::role);
  const auto is_batch = [](const SpaceKnob& rule) { return rule.role == "batch"; };
  const auto after_batches = std::find_if(rules.rbegin(), rules.rend(), is_batch).base();
  if (accumulation < after_batches) std::rotate(accumulation, accumulation + 1, after_batches);
}

}  // namespace

UsualKnobs usual_knobs(const ProgramFacts& program) {
  UsualKnobs knobs;
  for (const ProgramOption& option : program.options) {
    if (auto rule = usual_knob(option)) knobs.rules.push_back(*std::move(rule));
  }
  for (SpaceKnob& rule : knobs_of_files(program))
    knobs.rules.push_back(std::move(rule));
  put_in_order(knobs.rules);
  std::vector<SpaceKnob> batches;
  std::ranges::copy_if(knobs.rules, std::back_inserter(batches),
                       [](const SpaceKnob& rule) { return rule.role == "batch"; });
  if (batches.size() < 2) return knobs;
  knobs.step = step_batch(batches, program);
  std::erase_if(knobs.rules, [&](const SpaceKnob& rule) {
    return rule.role == "batch" && !(knobs.step && rule.option == knobs.step->part.option);
  });
  if (knobs.step) return knobs;
  for (const SpaceKnob& rule : batches)
    knobs.left_out.push_back({rule.option, "one of several batch sizes; vary it by hand"});
  return knobs;
}

}  // namespace steptune

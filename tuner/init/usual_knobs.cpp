// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/usual_knobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <re2/re2.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "search/space/expression.hpp"
#include "tuner/config_edit/truth_word.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {
namespace {

/// Rule by which an option of a role is varied.
struct UsualKnob {
  KnobRole role;
  const char* names;  ///< pattern; if empty, all names of the role
  SpaceKnob rule;
};

const std::vector<UsualKnob>& usual_rules() {
  static const char* const k_gpu = "gpus > 0";
  static const std::vector<UsualKnob> k_rules = {
      {KnobRole::batch, "", {.type = "int", .scale = "log2", .memory = "increases"}},
      {KnobRole::accumulation, "", {.type = "int", .low = "1", .high = "32", .scale = "log2"}},
      {KnobRole::workers, "", {.type = "int", .low = "0", .high = "64 * cpus", .scale = "log"}},
      {KnobRole::prefetch,
       "",
       {.type = "int",
        .low = "1",
        .high = "16",
        .scale = "log2",
        .when = "workers > 0",
        .memory = "increases"}},
      {KnobRole::threads, "", {.type = "int", .low = "1", .high = "cpus"}},
      {KnobRole::precision, ".*(?:precision|dtype)", {.type = "categorical"}},
      {KnobRole::precision, ".*(?:amp|bf16|bfloat16|mixed_precision|autocast)", {.type = "bool"}},
      {KnobRole::precision, ".*(?:fp16|half|tf32)", {.type = "bool", .needs = k_gpu}},
      {KnobRole::compile, "", {.type = "bool"}},
      {KnobRole::checkpointing, "", {.type = "bool", .memory = "decreases"}},
      {KnobRole::checkpointing, "", {.type = "categorical"}},
      {KnobRole::layout, "", {.type = "bool"}},
      {KnobRole::transfer, "", {.type = "bool", .needs = k_gpu}},
      {KnobRole::other, "persistent_workers", {.type = "bool", .when = "workers > 0"}},
      {KnobRole::other, ".*flash_?att.*", {.type = "bool", .needs = k_gpu}},
      {KnobRole::other, "", {.type = "bool"}},
  };
  return k_rules;
}

/// Returns the name that identifies a setting. A switch such as `amp.enabled` has the name of its
/// section.
std::string known_name(const std::string& plain) {
  const std::string telling = telling_path(plain);
  return telling.substr(0, telling.find('.'));
}

/// Returns all published values of a setting if `value` is one of them. Knows torchtitan's
/// `activation_checkpoint.mode` and Lightning's `precision`, for example.
std::vector<std::string> published_choices(const std::string& value) {
  using Names = std::vector<std::string>;
  static const std::array<Names, 2> k_published = {
      Names{"none", "selective", "full"}, Names{"32-true", "16-mixed", "bf16-mixed", "bf16-true"}};
  for (const Names& names : k_published)
    if (std::ranges::find(names, value) != names.end()) return names;
  return {};
}

/// Returns the values of a choice of this role; empty if unknown.
std::vector<std::string> choices_of(KnobRole role, const ProgramOption& option) {
  std::vector<std::string> choices = option.choices.empty()
                                         ? published_choices(option.default_value.value_or(""))
                                         : option.choices;
  if (role == KnobRole::precision) {
    std::erase_if(choices, [](const std::string& choice) { return precision_of(choice).empty(); });
  }
  return choices;
}

/// Makes a parameter's name, which may not name a fact or operator, nor start with a digit.
std::string parameter_name(const std::string& plain) {
  std::string name = document::as_identifier(plain.substr(0, 60), "option_");
  const bool is_taken = std::ranges::find(k_fact_names, name) != k_fact_names.end() ||
                        std::ranges::find(k_expression_words, name) != k_expression_words.end();
  return is_taken ? "option_" + name : name;
}

/// True if an option has the type that its name suggests. `--precision 6`, for example, sets a
/// number of digits.
bool fits(const UsualKnob& usual, const ProgramOption& option) {
  const std::string& type = usual.rule.type;
  const bool may_be_number =
      option.kind == OptionKind::integer || option.kind == OptionKind::unknown;
  if (type == "int") return may_be_number && option.form != OptionForm::flag;
  if (type == "bool") {
    return option.form == OptionForm::flag || option.kind == OptionKind::boolean ||
           (option.kind == OptionKind::unknown && option.default_value &&
            plain_name(*option.default_value) != "1" && plain_name(*option.default_value) != "0" &&
            truth_of(*option.default_value).has_value());
  }
  return choices_of(usual.role, option).size() >= 2;
}

/// Returns the role by the option's name. For an unknown name, uses the description: `-s <n>: set
/// number of threads`.
std::optional<KnobRole> role_of(const ProgramOption& option, const std::string& name) {
  static const RE2 k_of_threads(
      R"((?i)(?:set |use )?(?:the )?(?:number|no\.?) of (?:cpu )?threads\b.*)");
  if (const auto role = role_of_name(name)) return role;
  return RE2::FullMatch(option.words, k_of_threads) ? std::optional(KnobRole::threads)
                                                    : std::nullopt;
}

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

/// Meaning of a batch size by its option's name.
enum class BatchName { whole, part, plain };

BatchName batch_name_of(const SpaceKnob& rule) {
  static const RE2 k_whole("(?:.*_)?(?:global|effective|total|target|gbs)(?:_.*)?");
  static const RE2 k_part(".*micro.*|(?:.*_)?(?:device|gpu|rank|local|mbs)(?:_.*)?");
  if (RE2::FullMatch(rule.parameter, k_whole)) return BatchName::whole;
  return RE2::FullMatch(rule.parameter, k_part) ? BatchName::part : BatchName::plain;
}

std::optional<ProgramFacts::Today> today_of(const ProgramFacts& program, const SpaceKnob& rule) {
  const ProgramOption* option = program.option_called(rule.option);
  return program.today(option != nullptr
                           ? *option
                           : ProgramOption{.name = rule.option, .form = OptionForm::assignment});
}

/// Returns two batch sizes if their names show that one is a part of the other.
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
  StepBatch step{whole.option, parse_finite(samples->value).value_or(0.0), part,
                 parse_finite(part_samples->value).value_or(0.0)};
  const bool fits = step.part_samples >= 1.0 && step.samples >= step.part_samples &&
                    std::fmod(step.samples, step.part_samples) == 0.0;
  return fits ? std::optional(std::move(step)) : std::nullopt;
}

/// Moves rules with a condition to the end, because a condition refers to an earlier rule. Moves
/// accumulation after the batch size, to which it refers.
void put_in_order(std::vector<SpaceKnob>& rules) {
  std::ranges::stable_sort(rules, {}, [](const SpaceKnob& rule) { return !rule.when.empty(); });
  const auto accumulation = std::ranges::find(rules, "accumulation", &SpaceKnob::role);
  const auto is_batch = [](const SpaceKnob& rule) { return rule.role == "batch"; };
  const auto after_batches = std::find_if(rules.rbegin(), rules.rend(), is_batch).base();
  if (accumulation < after_batches) std::rotate(accumulation, accumulation + 1, after_batches);
}

}  // namespace

std::string telling_path(const std::string& plain) {
  static const RE2 k_switch(R"((?:.*\.)?([^.]+\.(?:enabled?|mode)))");
  std::string path;
  return RE2::FullMatch(plain, k_switch, &path) ? path : plain.substr(plain.rfind('.') + 1);
}

std::optional<SpaceKnob> usual_knob(const ProgramOption& option) {
  const std::string plain = plain_name(option.name);
  if (is_of_evaluation(plain)) return std::nullopt;
  const std::string name = known_name(plain);
  const auto role = role_of(option, name);
  for (const UsualKnob& usual : usual_rules()) {
    if (role != usual.role || !fits(usual, option)) continue;
    if (*usual.names != '\0' && !RE2::FullMatch(name, usual.names)) continue;
    SpaceKnob rule = usual.rule;
    rule.parameter = parameter_name(name);
    rule.role = to_text(usual.role);
    rule.option = option.name;
    if (rule.type == "categorical") rule.choices = choices_of(usual.role, option);
    return rule;
  }
  return std::nullopt;
}

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
    knobs.several_batches.push_back(rule.option);
  return knobs;
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/knob_rules.hpp"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "tuner/knobs/knob_role.hpp"

namespace steptune {
namespace {

/// Rule by which an option of a role is varied.
struct UsualKnob {
  KnobRole role;
  const char* names;  ///< pattern; if empty, all names of the role
  const char* type;
  const char* low;
  const char* high;
  const char* scale;
  const char* when;
  const char* memory;
  const char* needs;
};

constexpr const char* k_gpu = "gpus > 0";

constexpr std::array<UsualKnob, 16> k_usual = {{
    {KnobRole::batch, "", "int", "", "", "log2", "", "increases", ""},
    {KnobRole::accumulation, "", "int", "1", "32", "log2", "", "", ""},
    {KnobRole::workers, "", "int", "0", "64 * cpus", "log", "", "", ""},
    {KnobRole::prefetch, "", "int", "1", "16", "log2", "workers > 0", "increases", ""},
    {KnobRole::threads, "", "int", "1", "cpus", "", "", "", ""},
    {KnobRole::precision, ".*(?:precision|dtype)", "categorical", "", "", "", "", "", ""},
    {KnobRole::precision, ".*(?:amp|bf16|bfloat16|mixed_precision|autocast)", "bool", "", "", "",
     "", "", ""},
    {KnobRole::precision, ".*(?:fp16|half|tf32)", "bool", "", "", "", "", "", k_gpu},
    {KnobRole::compile, "", "bool", "", "", "", "", "", ""},
    {KnobRole::checkpointing, "", "bool", "", "", "", "", "decreases", ""},
    {KnobRole::checkpointing, "", "categorical", "", "", "", "", "", ""},
    {KnobRole::layout, "", "bool", "", "", "", "", "", ""},
    {KnobRole::transfer, "", "bool", "", "", "", "", "", k_gpu},
    {KnobRole::other, "persistent_workers", "bool", "", "", "", "workers > 0", "", ""},
    {KnobRole::other, ".*flash_?att.*", "bool", "", "", "", "", "", k_gpu},
    {KnobRole::other, "", "bool", "", "", "", "", "", ""},
}};

/// Returns the name that identifies a setting. A switch such as `amp.enabled` has the name of its
/// section.
std::string known_name(const std::string& plain) {
  const std::string telling = telling_path(plain);
  return telling.substr(0, telling.find('.'));
}

/// Returns all published values of a setting if `value` is one of them: torchtitan's
/// `activation_checkpoint.mode` or Lightning's `precision`.
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
  std::string name;
  for (const char letter : plain.substr(0, 60))
    name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  static const std::array<std::string, 8> k_taken = {"cpus", "gpus", "memory_gb", "and",
                                                     "or",   "not",  "true",      "false"};
  const bool is_taken = std::ranges::find(k_taken, name) != k_taken.end();
  return is_taken || name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0
             ? "option_" + name
             : name;
}

/// True if an option has the type that its name suggests. `--precision 6`, for example, is a number
/// of digits.
bool fits(const UsualKnob& usual, const ProgramOption& option) {
  const std::string type = usual.type;
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
  for (const UsualKnob& usual : k_usual) {
    if (role != usual.role || !fits(usual, option)) continue;
    if (*usual.names != '\0' && !RE2::FullMatch(name, usual.names)) continue;
    SpaceKnob rule;
    rule.parameter = parameter_name(name);
    rule.role = to_text(usual.role);
    rule.option = option.name;
    rule.type = usual.type;
    rule.low = usual.low;
    rule.high = usual.high;
    rule.scale = usual.scale;
    rule.when = usual.when;
    rule.memory = usual.memory;
    rule.needs = usual.needs;
    if (rule.type == "categorical") rule.choices = choices_of(usual.role, option);
    return rule;
  }
  return std::nullopt;
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/error.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/config_edit/truth_word.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/guess_parts.hpp"
#include "tuner/init/knob_declaration.hpp"
#include "tuner/init/knob_place.hpp"
#include "tuner/init/usual_knobs.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {
namespace {

/// The declaration, or the reason why there is none.
using Declared = tl::expected<Json, std::string>;

bool is_another_training(const SpaceKnob& rule) {
  return rule.role == "batch" || rule.role == "accumulation";
}

/// True if a boolean option can be given both values. A flag that is on by default and has no
/// negation cannot be switched off. A flag that the command sets can be left out.
bool can_be_switched(const ProgramOption& option, const ProgramFacts::Today& today) {
  const auto truth = truth_of(today.value);
  if (!truth) return false;
  if (option.form == OptionForm::any_text) {
    return !truth_of(option.default_value.value_or("false")).value_or(true);
  }
  const bool may_be_left_out = today.from == "the command" || !*truth;
  return option.form != OptionForm::flag || !option.negation.empty() || may_be_left_out;
}

/// Applies the rules of a program one by one.
class ProgramKnobs {
 public:
  /// `whole` is the option that sets the samples of a step, if a batch is only a part of a step;
  /// otherwise empty.
  ProgramKnobs(const GuessInput& input, const SpaceLaws& laws, const std::vector<SpaceKnob>& rules,
               std::string whole, StudyBuilder& study)
      : input_(input),
        laws_(laws),
        study_(study),
        whole_(std::move(whole)),
        loss_(known_loss(input)),
        will_accumulate_(will_accumulate(rules)) {}

  void consider(const SpaceKnob& rule) {
    if (study_.has(rule.parameter)) return;
    if (const std::string why = laws_.why_fixed(rule); !why.empty()) return leave(rule, why);
    if (!holds_here(rule.needs, laws_.facts())) {
      return leave(rule, fmt::format("no gain is expected here ({} is false)", rule.needs));
    }
    if (const std::string why = why_not_beside(rule); !why.empty()) return leave(rule, why);
    if (!rule.settings.empty()) return consider_settings(rule);
    const KnobPlace place = place_of(rule, input_);
    if (const std::string why = why_not_there(rule, place, input_.program); !why.empty())
      return leave(rule, why);
    if (place.option == nullptr) {
      const bool is_wanted = !is_another_training(rule) || !input_.same_training;
      if (is_of_a_file() && is_wanted) {
        leave(rule, "the configuration file has no value of it; write one there to vary it");
      }
      return;
    }
    if (const std::string why = why_not(rule, place); !why.empty()) return leave(rule, why);
    vary(rule, place);
  }

 private:
  void leave(const SpaceKnob& rule, const std::string& why) {
    study_.leave(rule.option.empty() ? rule.parameter : rule.option, why);
  }

  [[nodiscard]] bool is_of_a_file() const {
    return input_.space != nullptr && input_.space->is_of_a_file();
  }

  /// True if accumulation will keep the samples of a step constant. Decided before any rule is
  /// applied.
  [[nodiscard]] bool will_accumulate(const std::vector<SpaceKnob>& rules) const {
    return counts_optimizer_steps(input_) &&
           std::ranges::any_of(rules, [this](const SpaceKnob& rule) {
             const ProgramOption* option =
                 rule.role == "accumulation" ? place_of(rule, input_).option : nullptr;
             const auto today = option == nullptr ? std::nullopt : input_.program.today(*option);
             return today && whole_number(today->value).value_or(0) > 0;
           });
  }

  /// Returns why the knob may not be varied at all; empty if it may.
  [[nodiscard]] std::string why_not(const SpaceKnob& rule, const KnobPlace& place) const {
    if (is_another_training(rule) && input_.same_training) {
      return "changes the training itself; vary it with --semantic";
    }
    const bool is_typed = place.config == nullptr;
    if (const std::string needed = input_.program.missing_for(*place.option);
        is_typed && !needed.empty()) {
      return fmt::format("it needs {}, which the command does not give", needed);
    }
    if (std::string why = why_not_in_file(rule); !why.empty()) return why;
    if (rule.role == "batch" && !will_accumulate_ && !whole_.empty()) return held_by(whole_);
    if (lacks_loss_for(rule)) return k_no_loss;
    if (is_typed && input_.program.help_style != "argparse" &&
        may_be_abbreviated(input_.program.argv, *place.option)) {
      return "a word of the command may be its abbreviation; write it out";
    }
    if (rule.role != "accumulation") return "";
    if (study_.parameter_of("batch").empty()) {
      return "no batch size is varied with it, so the samples of a step would change";
    }
    if (counts_optimizer_steps(input_)) return "";
    return "its output reports no samples, and what it counts may be micro-batches";
  }

  /// Returns why other values in the file forbid varying this key; empty if no value does.
  [[nodiscard]] std::string why_not_in_file(const SpaceKnob& rule) const {
    if (!is_of_a_file()) return "";
    const std::string& whole = input_.space->step_size;
    if (rule.role == "batch" && !will_accumulate_ && is_set_in_files(whole, input_.program)) {
      return held_by(whole);
    }
    return "";
  }

  /// Returns why other settings of the program forbid varying this knob; empty if no setting does.
  [[nodiscard]] std::string why_not_beside(const SpaceKnob& rule) const {
    const auto is_on = [this](const std::string& name) {
      const auto stated = input_.program.stated(name);
      return stated && !is_left_to_program(stated->value) && truth_of(stated->value).value_or(true);
    };
    for (const std::string& name : rule.excluded_by)
      if (is_on(name)) return fmt::format("{} is on", name);
    const bool is_wanted = rule.only_with.empty() || std::ranges::any_of(rule.only_with, is_on);
    return is_wanted ? "" : fmt::format("{} is not set", fmt::join(rule.only_with, " or "));
  }

  static std::string held_by(const std::string& whole) {
    return fmt::format("{} fixes the samples of a step, and no accumulation is varied with it",
                       whole);
  }

  /// True if the rule changes the training, but no loss is known that a guard could check. A batch
  /// size does not change the training if accumulation keeps the samples of a step constant.
  [[nodiscard]] bool lacks_loss_for(const SpaceKnob& rule) const {
    const bool changes_learning =
        rule.role == "precision" || (rule.role == "batch" && !will_accumulate_);
    return changes_learning && loss_.empty();
  }

  void vary(const SpaceKnob& rule, const KnobPlace& place) {
    const ProgramOption& option = *place.option;
    const auto today = today_of(rule, option, input_);
    const std::string when = condition_of(rule);
    const bool active = rule.when.empty() || is_active_today(rule.when);
    if (!active && when.empty())
      return leave(rule, "has no effect with the program's present settings");
    if (!today && active) {
      return leave(rule, fmt::format("its default is unknown; write {} into the command",
                                     fmt::join(option_words(option, "VALUE"), " ")));
    }
    Declared declared = declare(rule, option, today);
    if (!declared) return leave(rule, declared.error());
    if (!when.empty()) (*declared)["when"] = when;
    // A choice has no order, so none of its values is known to need more memory.
    if (!rule.memory.empty() && rule.type != "categorical") (*declared)["memory"] = rule.memory;
    add(rule, place, *std::move(declared), active ? today : std::nullopt);
  }

  /// Returns the rule's condition, with roles replaced by this study's parameters. Empty if one of
  /// the roles has no parameter.
  [[nodiscard]] std::string condition_of(const SpaceKnob& rule) const {
    std::string when = rule.when;
    for (const std::string& role : document::identifiers_in(rule.when)) {
      const std::string parameter = study_.parameter_of(role);
      if (parameter.empty()) return "";
      when.replace(when.find(role), role.size(), parameter);
    }
    return when;
  }

  [[nodiscard]] bool is_active_today(const std::string& when) const {
    Configuration now;
    const std::vector<std::string> roles = document::identifiers_in(when);
    for (const std::string& role : roles) {
      const auto found = today_by_role_.find(role);
      if (found != today_by_role_.end()) now.set(role, found->second);
    }
    const auto expression = Expression::compile(when, roles, input_.machine);
    return expression && expression->holds(now);
  }

  [[nodiscard]] Declared declare(const SpaceKnob& rule, const ProgramOption& option,
                                 const std::optional<ProgramFacts::Today>& today) const {
    const std::string value = today ? today->value : "";
    if (rule.type == "int") {
      const int least = rule.role == "accumulation" ? 1 : 0;
      if (!value.empty() && whole_number(value).value_or(-1) < least) {
        return tl::unexpected(fmt::format("\"{}\" is not a whole number of at least {}",
                                          printable_line(value, 60), least));
      }
      if (auto number = number_declaration(rule, value, input_.machine)) return *std::move(number);
      return tl::unexpected(fmt::format("{} leaves no range", value.empty() ? "it" : value));
    }
    if (rule.type == "categorical") {
      if (auto choice = choice_declaration(rule, value, input_.machine)) return *std::move(choice);
      return tl::unexpected(std::string("only one value is possible here"));
    }
    if (rule.type == "bool" && today && !can_be_switched(option, *today)) {
      return tl::unexpected(truth_of(value) ? std::string("it cannot be switched off")
                                            : fmt::format("\"{}\" is not a boolean", value));
    }
    Json declaration = {{"type", rule.type}};
    return declaration;
  }

  /// Adds the parameter to the study. `today` is nullopt if the parameter is inactive.
  void add(const SpaceKnob& rule, const KnobPlace& place, Json declaration,
           const std::optional<ProgramFacts::Today>& today) {
    const std::string& name = rule.parameter;
    const std::string type = text_at(declaration, "type");
    Json baseline;
    if (today && !today->value.empty()) {
      const Value now = knob_value(type, today->value);
      baseline = to_json(now);
      today_by_role_.insert_or_assign(rule.role, now);
    }
    std::string comment = place.option->name;
    if (place.config != nullptr) comment += " in " + place.config->name;
    const ProgramFacts::Today given_today = today.value_or(ProgramFacts::Today{});
    if (!given_today.from.empty() && !given_today.value.empty()) {
      comment += fmt::format("; {} is from {}", given_today.value, given_today.from);
    }
    study_.add({.parameter = name,
                .role = rule.role,
                .option = place.option->name,
                .today = given_today.value,
                .from = given_today.from},
               std::move(declaration), baseline, std::move(comment));
    if (place.config != nullptr) {
      study_.give_in_file(name, place.config->name, place.option->name);
    } else {
      study_.give_option(name, as_given(*place.option, given_today));
    }
  }

  /// Returns the option in a form that is safe for booleans. Without the source, it is unknown how
  /// argparse reads the word `False`. So if an option is false by default, it is left out to mean
  /// false.
  static ProgramOption as_given(ProgramOption option, const ProgramFacts::Today& given_today) {
    const bool is_default = !given_today.from.empty() && given_today.from == option.default_from;
    const bool may_be_any = option.python_truth && option.form == OptionForm::separate;
    if (may_be_any && is_default && !truth_of(given_today.value).value_or(true)) {
      option.form = OptionForm::any_text;
    }
    return option;
  }

  void consider_settings(const SpaceKnob& rule) {
    const SettingChoice choice = setting_choice(rule, input_.program, input_.machine);
    if (!choice.unknown.empty()) {
      return study_.leave(choice.unknown, "its current value is not a known setting");
    }
    if (choice.offered.size() < 2 || choice.today == nullptr) return;
    if (lacks_loss_for(rule)) return study_.leave(rule.parameter, k_no_loss);
    const KnobSetting& today = *choice.today;
    Json labels = Json::array();
    for (const KnobSetting* setting : choice.offered)
      labels.push_back(setting->label);
    const std::string option = today.args.empty() ? "" : today.args.front();
    const std::string from = option.empty() ? "no option set" : "the command or its defaults";
    study_.add({.parameter = rule.parameter,
                .role = rule.role,
                .option = option,
                .today = today.label,
                .from = from},
               {{"type", "categorical"}, {"choices", std::move(labels)}}, today.label,
               fmt::format("{} is from {}", today.label, from));
    for (const KnobSetting* setting : choice.offered) {
      if (setting->args.empty()) continue;
      study_.give_setting(rule.parameter, *setting, options_of(*setting, input_.program));
    }
  }

  const GuessInput& input_;
  const SpaceLaws& laws_;
  StudyBuilder& study_;
  std::string whole_;
  std::string loss_;
  bool will_accumulate_;
  std::map<std::string, Value> today_by_role_;
};

/// Changes the rule `part`, for a batch that is part of a step, so that the samples of the step
/// stay the same. The training then does not change.
void hold_whole(const GuessInput& input, const StepBatch& step, SpaceKnob& part) {
  part.role = "other";
  const bool may_shrink = counts_optimizer_steps(input);
  // If the output counts parts, smaller parts would look faster.
  const double low = may_shrink ? std::max(1.0, step.part_samples / 4.0) : step.part_samples;
  part.low = fmt::format("{:.0f}", std::floor(low));
  part.high = fmt::format("{:.0f}", std::min(step.samples, 8.0 * step.part_samples));
}

/// True if the program has an option for accumulation and the option has a value today. A step may
/// then have several parts.
bool has_accumulation(const std::vector<SpaceKnob>& rules, const ProgramFacts& program) {
  return std::ranges::any_of(rules, [&](const SpaceKnob& rule) {
    const ProgramOption* option =
        rule.role == "accumulation" ? program.option_called(rule.option) : nullptr;
    return rule.role == "accumulation" && (option == nullptr || program.today(*option));
  });
}

}  // namespace

std::set<std::string> add_program_knobs(const GuessInput& input, const SpaceLaws& laws,
                                        StudyBuilder& study) {
  const UsualKnobs usual =
      input.space == nullptr ? usual_knobs(input.program) : UsualKnobs{input.space->knobs};
  for (const std::string& option : usual.several_batches)
    study.leave(option, "one of several batch sizes; vary it by hand");
  std::vector<SpaceKnob> rules = usual.rules;
  const auto& step = usual.step;
  const bool holds_whole = step && !has_accumulation(rules, input.program);
  for (SpaceKnob& rule : rules) {
    if (holds_whole && rule.option == step->part.option) hold_whole(input, *step, rule);
  }
  ProgramKnobs knobs(input, laws, rules, step ? step->option : "", study);
  std::set<std::string> roles;
  if (step) roles.insert("batch");
  for (const SpaceKnob& rule : rules) {
    knobs.consider(laws.with_numbers(rule));
    roles.insert(rule.role);
  }
  if (holds_whole && study.has(step->part.parameter)) {
    study.add_constraint(
        fmt::format("{:.0f} % {} == 0", step->samples, step->part.parameter),
        fmt::format("{} stays the same: a step has as many samples as today", step->option));
  }
  laws.add_to(study);
  return roles;
}

}  // namespace steptune

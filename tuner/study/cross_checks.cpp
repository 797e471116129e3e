// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/cross_checks.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/study/config_files.hpp"
#include "tuner/study/counted_steps.hpp"
#include "tuner/study/limits.hpp"

namespace steptune::study {
namespace {

using Names = std::set<std::string>;

/// Returns the names of parameters that can make a difference to a trial. A parameter also counts
/// if it only decides whether a used parameter is active. Conditions mention earlier parameters
/// only, so one pass from the last parameter to the first finds all chains.
Names used_names(const StudySpec& study) {
  Names names = study.used;
  const auto& parameters = study.space.parameters();
  for (const Parameter& parameter : std::views::reverse(parameters)) {
    if (!names.contains(parameter.name) || !parameter.when) continue;
    for (std::string& name : document::identifiers_in(*parameter.when))
      names.insert(std::move(name));
  }
  return names;
}

void check_usage(const StudySpec& study, Faults& faults) {
  if (study.runner->traits().takes_all_parameters) return;
  const Names used = used_names(study);
  for (const Parameter& parameter : study.space.parameters()) {
    if (used.contains(parameter.name)) continue;
    const bool is_knob = study.hooks.python && find_python_knob(parameter.name) != nullptr;
    const std::string way =
        is_knob ? fmt::format(R"(give it to the hook, "hooks": {{"python": {{"{0}": "{{{0}}}"}}}})",
                              parameter.name)
                : fmt::format(R"(mention {{{}}} in "command" or "env")", parameter.name);
    faults.add("/parameters/" + parameter.name,
               fmt::format("nothing uses this parameter: {}, or remove it", way));
  }
}

void check_money(const StudySpec& study, Faults& faults) {
  const bool priced = study.runner->traits().has_price;
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    if (!study.objectives[i].is_cost() || priced) continue;
    faults.add(fmt::format("/objectives/{}", i),
               "\"cost\" needs a price: give \"price_per_hour\" in \"runner\"");
  }
  if (study.budget.cost_usd && !priced) {
    faults.add("/budget/cost", "a cost limit needs a price: give \"price_per_hour\" in \"runner\"");
  }
  if (study.planned_run.max_cost_usd && !priced) {
    faults.add("/planned_run/max_cost",
               "a cost limit needs a price: give \"price_per_hour\" in \"runner\"");
  }
  if (study.budget.stop_at_payback && !study.planned_run.samples) {
    faults.add("/budget/stop",
               "\"payback\" compares with the planned run: give \"samples\" in \"planned_run\"");
  }
}

void check_waiting(const StudySpec& study, Faults& faults) {
  if (!study.search.waiting_per_hour) return;
  const RunnerTraits& traits = study.runner->traits();
  if (!traits.has_price) {
    faults.add("/search/waiting_per_hour",
               "has no effect: the study's runner has no price to weigh it against");
  } else if (!traits.machines_vary) {
    faults.add("/search/waiting_per_hour",
               "has no effect: all trials of this study need the same machine");
  } else if (study.search.searcher != "bayes") {
    faults.add("/search/waiting_per_hour",
               fmt::format("the searcher {} does not weigh prices: use bayes, or leave it out",
                           study.search.searcher));
  }
}

void check_earlier_studies(const StudySpec& study, Faults& faults) {
  if (!study.search.learn_from.empty() && study.search.searcher != "bayes") {
    faults.add(
        "/search/learn_from",
        fmt::format("the searcher {} does not learn from other studies: use bayes, or leave it out",
                    study.search.searcher));
  }
}

void check_streams(const StudySpec& study, Faults& faults) {
  if (study.runner->traits().gives_streams) return;
  const auto refuse = [&](const char* pointer, const char* what) {
    faults.add(pointer, fmt::format("the runner {} cannot give its trials {}: leave it out, or use "
                                    "the runner local",
                                    study.runner->kind().name(), what));
  };
  if (study.terminal) refuse("/terminal", "a terminal");
  if (!study.standard_input.empty()) refuse("/stdin", "standard input from a file");
}

void check_hooks(const StudySpec& study, const std::vector<Configuration>& examples,
                 Faults& faults) {
  if (!study.hooks.python) return;
  const RunnerTraits& traits = study.runner->traits();
  if (!traits.takes_hooks) {
    faults.add("/hooks",
               fmt::format("the runner {} starts no program that a hook could enter: leave it out",
                           study.runner->kind().name()));
  } else if (study.command.empty() && !traits.needs_command) {
    faults.add("/hooks", "a hook enters the program that \"command\" starts: give \"command\"");
  }
  for (const Configuration& configuration : examples) {
    const auto why =
        why_out_of_reach(render_command(study, configuration).argv, study.working_directory);
    if (!why) continue;
    faults.add("/hooks/python",
               fmt::format("the hook cannot reach the program: {}; change \"command\"", *why));
    return;
  }
}

/// Returns examples that together write each text value into the file at least once, the baseline
/// first. Ignores numbers: if one number can be written, all can.
std::vector<const Configuration*> examples_of_texts(const ConfigFileSpec& config,
                                                    const std::vector<Configuration>& examples) {
  std::vector<const Configuration*> found;
  std::set<std::pair<std::string, Value>> texts;
  for (const Configuration& example : examples) {
    bool is_new = found.empty();
    const ConfigValues wanted = config_values(config, example);
    for (const auto& [name, value] : wanted.values.values()) {
      if (!std::holds_alternative<std::string>(value)) continue;
      is_new = texts.emplace(name, value).second || is_new;
    }
    if (is_new) found.push_back(&example);
  }
  return found;
}

/// Checks that trials read the files, and that the files can be edited. If nothing reads a trial's
/// copy, the trial runs with other settings than its configuration.
void check_config_files(const StudySpec& study, const std::vector<Configuration>& examples,
                        Faults& faults) {
  if (study.config_files.empty()) return;
  if (study.command.empty() && !study.runner->traits().sees_files) {
    faults.add("/config_files", "a trial gets its copy when \"command\" starts: give \"command\"");
  }
  for (const auto& [name, config] : study.config_files) {
    const std::string pointer = "/config_files/" + name;
    if (!study.mentioned.contains(name)) {
      faults.add(pointer, fmt::format("nothing reads this file: mention {{{}}}, its path, in "
                                      "\"command\", \"env\" or the options of \"launch\"",
                                      name));
    }
    for (const Configuration* example : examples_of_texts(config, examples)) {
      const auto text = config_text(config, *example);
      if (text) continue;
      faults.add(pointer + "/edits", fmt::format("{}: {} (for {})", config.file.filename().string(),
                                                 text.error().message, example->text()));
      break;
    }
  }
}

/// Checks the choice of `trials`. All trials of an attached program share one training and one
/// loss.
void check_trials(const StudySpec& study, Faults& faults) {
  if (study.trials == TrialsIn::fresh) return;
  if (!study.hooks.python) {
    faults.add("/trials",
               "forked trials need PyTorch's hook: give \"hooks\", or leave \"trials\" out");
  }
  if (study.hooks.python && !study.runner->traits().uses_this_machine) {
    faults.add("/trials",
               fmt::format("forked trials are processes of this machine, and the runner is {}: "
                           "leave \"trials\" out",
                           study.runner->kind().name()));
    return;
  }
  if (study.trials == TrialsIn::forked) return;
  if (study.runner->traits().parallel > 1) {
    faults.add("/trials", "trials of an attached program run one at a time: set \"parallel\" to 1");
  }
  const bool all_timed = std::ranges::all_of(study.objectives, &Objective::is_timed);
  if (!all_timed || !study.guards.empty()) {
    faults.add("/trials",
               "trials of an attached program are all in one training, whose metrics belong to no "
               "configuration: leave \"guards\" and objectives other than time and cost out");
  }
}

/// Checks that a campaign has one parameter with two values: the champion and the edit.
void check_campaign(const StudySpec& study, Faults& faults) {
  if (!study.campaign) return;
  const bool is_of_two =
      study.space.parameters().size() == 1 && study.space.product_size() == std::uint64_t{2};
  if (study.measure.confirm_all && is_of_two) return;
  faults.add("/campaign",
             "needs \"confirm_all\" and one parameter with two values: use steptune "
             "judge --campaign, or leave it out");
}

/// Checks `confirm_all`. Each configuration is confirmed, so only a few are allowed.
void check_confirm_all(const StudySpec& study, Faults& faults) {
  for (std::size_t i = 0; i < study.guards.size() && !study.measure.confirm_all; ++i) {
    if (!study.guards[i].over_launches) continue;
    faults.add(fmt::format("/guards/{}/over_launches", i),
               "needs \"confirm_all\" in \"measure\", which launches each configuration often");
  }
  if (!study.measure.confirm_all) return;
  const auto size = confirmed_configurations(study);
  if (!study.search.hints.empty() && study.budget.trials != 1 + std::ssize(study.search.hints)) {
    faults.add("/budget/trials",
               fmt::format("with \"confirm_all\" and \"try\", only the baseline and \"try\" are "
                           "compared: give {}",
                           1 + study.search.hints.size()));
  }
  if (size && *size >= 2 && *size <= k_most_judged) return;
  faults.add("/measure/confirm_all",
             fmt::format("confirms each configuration: for 2 to {} of them", k_most_judged));
}

void check_times(const StudySpec& study, Faults& faults) {
  if (study.measure.max_trial_s <= study.limits.wall_s) return;
  faults.add("/measure/max_trial",
             fmt::format(
                 "a trial may be measured for {}, but is ended as timed out after {}: raise "
                 "\"wall\" in \"limits\"",
                 format_duration(study.measure.max_trial_s), format_duration(study.limits.wall_s)));
}

void check_step_size(const StudySpec& study, Faults& faults) {
  const auto forgotten = forgotten_accumulation(study);
  if (!forgotten) return;
  faults.add("/planned_run/batch_size",
             fmt::format(
                 "a step of the preset \"hf-trainer\" is an optimizer step of {0} batches: write "
                 "\"({1}) * {0}\"; if this includes them already, give \"{0}\" \"role\": \"other\"",
                 *forgotten, study.planned_run.batch_size->text()));
}

/// Checks that all parameters of a part have values if its condition is true. A missing value would
/// also remove arguments that do not depend on it.
void check_part(const StudySpec& study, std::size_t index,
                const std::vector<Configuration>& configurations, Faults& faults) {
  const CommandPart& part = study.command[index];
  if (!part.when) return;
  Names mentioned;
  for (const document::StringTemplate& argument : part.args) {
    for (std::string& name : argument.parameters())
      mentioned.insert(std::move(name));
  }
  for (const Configuration& configuration : configurations) {
    if (!part.when->holds(configuration)) continue;
    for (const std::string& name : mentioned) {
      if (configuration.contains(name)) continue;
      faults.add(fmt::format("/command/{}/when", index),
                 fmt::format("is also true for {}, where {{{}}} has no value: put the arguments "
                             "that depend on it into a separate part, {{\"args\": [...]}}",
                             configuration.text(), name));
      return;
    }
  }
}

bool is_free(const StudySpec& study, const std::vector<Configuration>& examples) {
  return study.runner->traits().has_price &&
         std::ranges::all_of(examples, [&](const Configuration& configuration) {
           const auto price = study.runner->price_of(configuration);
           return price && !(price->expected_usd > 0.0);
         });
}

}  // namespace

void check_prices(const StudySpec& study, const std::vector<Configuration>& examples,
                  Faults& faults) {
  if (!is_free(study, examples)) return;
  const auto add = [&](const std::string& pointer, const char* what, const char* key) {
    faults.add(
        pointer,
        fmt::format("{}, as the price per hour is 0: give the machine's \"price_per_hour\" in "
                    "\"runner\", or leave \"{}\" out",
                    what, key));
  };
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    if (!study.objectives[i].is_cost()) continue;
    add(fmt::format("/objectives/{}", i), "\"cost\" is the same for all configurations", "cost");
  }
  if (study.budget.cost_usd) add("/budget/cost", "the limit is never reached", "cost");
  if (study.planned_run.max_cost_usd) {
    add("/planned_run/max_cost", "the limit is always kept", "max_cost");
  }
}

void cross_check(const StudySpec& study, const std::vector<Configuration>& examples,
                 Faults& faults) {
  check_usage(study, faults);
  check_money(study, faults);
  check_waiting(study, faults);
  check_times(study, faults);
  check_confirm_all(study, faults);
  check_campaign(study, faults);
  check_launch(study, examples, faults);
  check_streams(study, faults);
  check_hooks(study, examples, faults);
  check_config_files(study, examples, faults);
  check_trials(study, faults);
  check_earlier_studies(study, faults);
  for (std::size_t i = 0; i < study.command.size(); ++i) {
    check_part(study, i, examples, faults);
  }
  check_step_size(study, faults);
  check_positive(study.planned_run.batch_size, "/planned_run/batch_size", examples, faults);
}

}  // namespace steptune::study

namespace steptune {

std::optional<std::uint64_t> confirmed_configurations(const StudySpec& study) {
  if (!study.search.hints.empty()) return 1 + study.search.hints.size();
  return study.space.product_size();
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "trial_runner/hooks/knob_table.hpp"
#include "trial_runner/hooks/python_path.hpp"
#include "trial_runner/launch/launch_words.hpp"
#include "trial_runner/section_limits.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

bool is_fixed(const KnobRule& rule) {
  const auto* text = std::get_if<document::StringTemplate>(&rule);
  return text == nullptr || !text->has_parameters();
}

/// Returns the hook's settings. Leaves out a setting that depends on parameters if it has the
/// baseline's value: the hook then does not touch it.
PythonHookRequest hook_request(const StudySpec& study, const Configuration& configuration) {
  PythonHookRequest request;
  std::set<std::string> named;
  for (const auto& [name, rule] : *study.hooks.python)
    named.insert(name);
  request.families = families_of_knobs(named);
  const auto usual = knob_values(study, study.baseline);
  for (auto& [name, value] : knob_values(study, configuration)) {
    const auto same = usual.find(name);
    if (!is_fixed(study.hooks.python->at(name)) && same != usual.end() && same->second == value)
      continue;
    request.knobs.insert_or_assign(name, value);
  }
  request.samples_per_step = samples_per_step(study, configuration);
  return request;
}

/// Returns a path for each placeholder of a configuration file: from `copies`, otherwise the
/// study's own file.
document::NamedTexts file_texts(const StudySpec& study, document::NamedTexts copies = {}) {
  for (const auto& [name, config] : study.config_files)
    copies.emplace(name, config.file.string());
  return copies;
}

/// Returns `value` as an integer; 0 if it is not a whole number from 1 to `most`.
int whole(double value, double most) {
  return value >= 1.0 && value <= most && value == std::floor(value) ? static_cast<int>(value) : 0;
}

std::vector<std::string> words_of(const StudySpec& study, const Configuration& configuration,
                                  const document::NamedTexts& files) {
  std::vector<std::string> argv;
  for (const CommandPart& part : study.command) {
    if (part.when && !part.when->holds(configuration)) continue;
    std::vector<std::string> arguments;
    for (const document::StringTemplate& rule : part.args) {
      if (auto argument = rule.render(configuration, files))
        arguments.push_back(*std::move(argument));
    }
    if (arguments.size() != part.args.size()) continue;  // a parameter is inactive
    argv.insert(argv.end(), arguments.begin(), arguments.end());
  }
  return argv;
}

std::optional<Launch> launch_with(const StudySpec& study, const Configuration& configuration,
                                  const document::NamedTexts& files) {
  if (!study.launch) return std::nullopt;
  Launch launch;
  launch.with = study.launch->with;
  launch.nodes = study.launch->nodes
                     ? whole(study.launch->nodes->evaluate(configuration), k_most_machines)
                     : study.runner->resources_of(configuration).instance_count;
  launch.processes_per_node =
      whole(study.launch->processes_per_node.evaluate(configuration), k_most_processes_per_machine);
  for (const document::StringTemplate& rule : study.launch->options) {
    auto word = rule.render(configuration, files);
    if (word && !word->empty()) launch.options.push_back(*std::move(word));
  }
  return launch;
}

}  // namespace

std::vector<std::string> plain_command(const StudySpec& study, const Configuration& configuration) {
  return words_of(study, configuration, file_texts(study));
}

std::optional<Launch> launch_of(const StudySpec& study, const Configuration& configuration) {
  return launch_with(study, configuration, file_texts(study));
}

RenderedCommand render_command(const StudySpec& study, const Configuration& configuration,
                               const document::NamedTexts& copies) {
  const document::NamedTexts files = file_texts(study, copies);
  RenderedCommand rendered;
  rendered.argv = words_of(study, configuration, files);
  rendered.launch = launch_with(study, configuration, files);
  if (rendered.launch && !rendered.argv.empty()) {
    const auto& supported = study.runner->traits().launchers;
    rendered.launch = as_started(*std::move(rendered.launch), supported);
    const LauncherSupport* support = find_launcher(supported, rendered.launch->with);
    if (support != nullptr) {
      rendered.argv = launched_words(*rendered.launch, *support, std::move(rendered.argv));
    }
  }
  for (const auto& [name, rule] : study.environment) {
    const auto value = rule.render(configuration, files);
    // If a choice's text is empty, the variable is not set. A literal "" sets it to the empty text.
    if (!value || (value->empty() && rule.has_parameters())) continue;
    rendered.environment[name] = *value;
  }
  if (study.hooks.python) rendered.hook = hook_request(study, configuration);
  return rendered;
}

std::map<std::string, Value> knob_values(const StudySpec& study,
                                         const Configuration& configuration) {
  std::map<std::string, Value> values;
  if (!study.hooks.python) return values;
  for (const auto& [name, rule] : *study.hooks.python) {
    const auto* fixed = std::get_if<Value>(&rule);
    const auto value = fixed != nullptr
                           ? std::optional(*fixed)
                           : std::get<document::StringTemplate>(rule).value(configuration);
    if (value) values.insert_or_assign(name, *value);
  }
  return values;
}

Result<void> add_hook(const std::optional<PythonHookRequest>& hook, std::string_view python_path,
                      std::map<std::string, std::string>& environment) {
  if (!hook) return {};
  const auto folder = python_hook_folder();
  if (!folder) return tl::unexpected(folder.error());
  set_hook_variables(*hook, environment);
  const auto own = environment.find(k_python_path);
  environment[k_python_path] =
      with_python_path(*folder, own == environment.end() ? python_path : own->second);
  return {};
}

std::optional<double> samples_per_step(const StudySpec& study, const Configuration& configuration) {
  return study.planned_run.batch_size
             ? samples_per_step(*study.planned_run.batch_size, configuration)
             : std::nullopt;
}

std::optional<double> samples_per_step(const document::Formula& batch_size,
                                       const Configuration& configuration) {
  const double samples = batch_size.evaluate(configuration);
  return samples > 0.0 && std::isfinite(samples) ? std::optional(samples) : std::nullopt;
}

std::optional<double> buffered_steps(const StudySpec& study, const Configuration& configuration) {
  if (!study.measure.buffers) return std::nullopt;
  const double steps = study.measure.buffers->evaluate(configuration);
  return steps >= 0.0 ? std::optional(steps) : std::nullopt;
}

double usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  return study.runner->price_of(configuration).value_or(HourlyPrice{}).expected_usd;
}

double on_demand_usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  return study.runner->price_of(configuration).value_or(HourlyPrice{}).on_demand_usd;
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/planned_length.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/init/command_line.hpp"

namespace steptune {
namespace {

using Names = std::vector<std::string>;

const Names k_epoch_options = {"epochs",  "num_epochs",       "max_epochs",   "n_epochs",
                               "nepochs", "num_train_epochs", "train_epochs", "niter"};
const Names k_step_options = {"steps",          "max_steps",   "num_steps",  "total_steps",
                              "train_steps",    "n_steps",     "max_iters",  "num_iterations",
                              "max_iter",       "train_iters", "iterations", "num_iters",
                              "num_boost_round"};

/// Returns `--epochs 14`, or `--epochs 14 (train.py)`.
std::string text_of(const CurrentNumber& length) {
  const std::string text = fmt::format("{} {}", length.option, count_text(length.number));
  return length.from.empty() ? text : fmt::format("{} ({})", text, length.from);
}

/// True if a setting of this plain name may be the length of the run: true for
/// `trainer.max_epochs`, false for `diffusion.num_steps`.
bool is_of_run(const std::string& plain) {
  static const RE2 k_of_run(
      R"((?:[^.]*\.)*\+*(?:train(?:er|ing)?|run(?:ner)?|fit|solver|schedule|optimi[sz]ation|)"
      R"(experiment|exp|learning|loop|general|common|global|args|arguments|cfg|config|settings|)"
      R"(h?params|(?:hyper_?)?parameters)(?:_(?:cfg|config|args|arguments|params|settings|options))?)"
      R"(\.[^.]*)");
  return plain.find('.') == std::string::npos || RE2::FullMatch(plain, k_of_run);
}

/// True if the option concerns the run as a whole, and the command has all options that this option
/// needs.
bool may_set_length(const ProgramFacts& program, const ProgramOption& option) {
  return is_of_run(plain_name(option.name)) && program.missing_for(option).empty();
}

/// Returns how the command spells an option of this plain name: `--nEpochs`, or
/// `trainer.max_epochs` in `trainer.max_epochs=10` or `--trainer.max_epochs 10`. Returns nullopt if
/// the command does not have the option.
std::optional<ProgramOption> spelled_in_command(const std::vector<std::string>& argv,
                                                const std::string& name) {
  const auto [begin, end] = program_words(argv);
  for (std::size_t at = begin; at < std::min(end, argv.size()); ++at) {
    const std::size_t equals = argv[at].find('=');
    const std::string word = argv[at].substr(0, equals);
    const std::string plain = plain_name(word);
    const bool is_option = word.starts_with("--");
    const bool is_setting = !word.starts_with('-') && equals != std::string::npos;
    const bool is_called = plain == name || plain.ends_with("." + name);
    if (!(is_option || is_setting) || !is_called || !is_of_run(plain)) continue;
    return ProgramOption{.name = word,
                         .form = is_option ? OptionForm::separate : OptionForm::assignment,
                         .kind = OptionKind::number};
  }
  return std::nullopt;
}

/// Returns the first of the options `names` that the command sets to a positive number. Accepts any
/// spelling, and short names that the program declares.
std::optional<CurrentNumber> number_in_command(const ProgramFacts& program, const Names& names) {
  for (const std::string& name : names) {
    auto option = spelled_in_command(program.argv, name);
    if (!option) {
      const ProgramOption* declared = find_option(program.options, name);
      if (declared != nullptr && may_set_length(program, *declared)) option = *declared;
    }
    const auto value = option ? value_on_command_line(program.argv, *option) : std::nullopt;
    if (const auto number = value ? length_number(*value) : std::nullopt) {
      return CurrentNumber{option->name, *number, ""};
    }
  }
  return std::nullopt;
}

std::optional<CurrentNumber> number_of(const std::vector<ProgramOption>& settings,
                                       const Names& names) {
  for (const std::string& name : names) {
    const ProgramOption* setting = find_option(settings, name);
    if (setting == nullptr || !setting->default_value) continue;
    if (const auto number = length_number(*setting->default_value)) {
      return CurrentNumber{setting->name, *number, setting->default_from};
    }
  }
  return std::nullopt;
}

/// Returns the steps or epochs of the settings. Returns neither if the settings have both, because
/// it is unknown which default ends the run. One of the two may also mean something else
/// (`num_steps` of a sequence).
RunLength length_by(const ProgramFacts& program, const std::vector<ProgramOption>& settings) {
  std::vector<ProgramOption> of_run = settings;
  std::erase_if(of_run, [&](const ProgramOption& setting) {
    return setting.is_assigned || !may_set_length(program, setting);
  });
  RunLength length{number_of(of_run, k_step_options), number_of(of_run, k_epoch_options)};
  return length.steps && length.epochs ? RunLength{} : length;
}

/// Returns a text for people if `first` and `later` differ in the number of steps or of epochs;
/// otherwise an empty text.
std::string disagreement_of(const RunLength& first, const RunLength& later) {
  for (const auto length_unit : {&RunLength::steps, &RunLength::epochs}) {
    const auto& one = first.*length_unit;
    const auto& other = later.*length_unit;
    if (!one || !other || one->number == other->number) continue;
    return fmt::format("{} and {} disagree: the first is used", text_of(*one), text_of(*other));
  }
  return "";
}

/// Returns the length that the program gave to the framework, as by Keras's `fit(epochs=...)`.
/// Returns nullopt if the hook saw no number of epochs, or no size of an epoch.
std::optional<PlannedLength> length_by_hook(const Survey& survey) {
  const Json& seen = survey.log.event("program");
  const auto epochs = seen.find("epochs");
  const auto samples = samples_of_epoch(survey.log);
  if (!samples || epochs == seen.end() || !epochs->is_number_integer()) return std::nullopt;
  const auto count = epochs->get<double>();
  if (!(count > 0.0)) return std::nullopt;
  return PlannedLength{
      count * *samples,
      fmt::format("fit(epochs={}) of {} samples", count_text(count), count_text(*samples)),
      count > 1.0 ? samples : std::nullopt,
      {}};
}

}  // namespace

std::optional<double> length_number(const std::string& text) {
  const auto number = parse_finite(text);
  return number && *number > 0.0 && *number <= k_max_whole ? number : std::nullopt;
}

RunLength run_length(const ProgramFacts& program) {
  // If the command sets the steps or the epochs, ignore the default of the other.
  RunLength length{number_in_command(program, k_step_options),
                   number_in_command(program, k_epoch_options)};
  if (length.steps || length.epochs) return length;
  const auto look_at = [&](const std::vector<ProgramOption>& settings,
                           const std::string& file = "") {
    RunLength found = length_by(program, settings);
    for (auto* const found_length : {&found.steps, &found.epochs}) {
      if (*found_length && !file.empty()) (*found_length)->from = file;
    }
    if (!length.steps && !length.epochs) {
      length = std::move(found);
    } else if (length.disagreement.empty()) {
      length.disagreement = disagreement_of(length, found);
    }
  };
  for (const NamedConfig& config : program.configs)
    look_at(config.settings, config.name);
  look_at(program.options);
  look_at(program.source_defaults);
  look_at(program.loop_bounds);
  return length;
}

std::string count_text(double count) {
  return count == std::round(count) ? fmt::format("{:.0f}", count) : fmt::format("{:g}", count);
}

std::optional<double> samples_of_epoch(const HookLog& log) {
  std::optional<double> samples;
  for (const HookedLoader& loader : log.loaders()) {
    if (loader.training != true) continue;
    if (samples || !loader.batches || !loader.batch_size) return std::nullopt;
    samples = static_cast<double>(loader.samples.value_or(*loader.batches * *loader.batch_size));
  }
  if (!samples || !(*samples > 0.0)) return std::nullopt;
  const Json& patched = log.event("patched");
  const auto ranks = patched.find("world_size");
  const bool has_ranks = ranks != patched.end() && ranks->is_number_integer();
  return has_ranks ? *samples * ranks->get<double>() : *samples;
}

std::optional<PlannedLength> planned_length(const ProgramFacts& program, const Survey& survey) {
  if (auto planned = length_by_hook(survey)) return planned;
  const auto [steps, epochs, disagreement] = run_length(program);
  if (steps) {
    const auto per_step = survey.samples_per_step();
    if (!per_step) return std::nullopt;
    return PlannedLength{steps->number * *per_step,
                         fmt::format("{} of {} samples", text_of(*steps), count_text(*per_step)),
                         {},
                         disagreement};
  }
  const auto samples = samples_of_epoch(survey.log);
  if (!epochs || !samples) return std::nullopt;
  return PlannedLength{epochs->number * *samples,
                       fmt::format("{} of {} samples", text_of(*epochs), count_text(*samples)),
                       epochs->number > 1.0 ? samples : std::nullopt, disagreement};
}

}  // namespace steptune

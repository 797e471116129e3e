// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/planned_length.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/init/command_line.hpp"

namespace steptune {
namespace {

struct ToldNumber {
  std::string option;
  double number = 0.0;
};

/// The first of these options that the command gives a positive number, with `-` or `_` in it.
std::optional<ToldNumber> number_in_command(const std::vector<std::string>& argv,
                                            const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::string dashed = name;
    std::ranges::replace(dashed, '_', '-');
    ProgramOption option;
    option.name = "--" + dashed;
    option.aliases = {"--" + name};
    option.kind = OptionKind::number;
    const auto value = value_on_command_line(argv, option);
    const auto number = value ? parse_finite(*value) : std::nullopt;
    if (number && *number > 0.0) return ToldNumber{option.name, *number};
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& epoch_options() {
  static const std::vector<std::string> k_names = {"epochs",       "num_epochs", "max_epochs",
                                                   "n_epochs",     "nepochs",    "num_train_epochs",
                                                   "train_epochs", "niter"};
  return k_names;
}

const std::vector<std::string>& step_options() {
  static const std::vector<std::string> k_names = {
      "steps",     "max_steps",      "num_steps", "total_steps", "train_steps", "n_steps",
      "max_iters", "num_iterations", "max_iter",  "train_iters", "iterations",  "num_iters"};
  return k_names;
}

std::optional<double> samples_of_epoch(const HookLog& log) {
  std::optional<double> samples;
  for (const HookedLoader& loader : log.loaders()) {
    if (loader.training != true) continue;
    if (samples || !loader.batches || !loader.batch_size) return std::nullopt;
    samples = static_cast<double>(*loader.batches * *loader.batch_size);
  }
  if (!samples || !(*samples > 0.0)) return std::nullopt;
  const Json& patched = log.event("patched");
  const auto ranks = patched.find("world_size");
  const bool told = ranks != patched.end() && ranks->is_number_integer();
  return told ? *samples * ranks->get<double>() : *samples;
}

std::optional<PlannedLength> planned_length(const std::vector<std::string>& argv,
                                            const Survey& survey) {
  if (const auto steps = number_in_command(argv, step_options())) {
    const auto per_step = survey.samples_per_step();
    if (!per_step) return std::nullopt;
    return PlannedLength{
        steps->number * *per_step,
        fmt::format("{} {:g} of {:g} samples", steps->option, steps->number, *per_step)};
  }
  const auto epochs = number_in_command(argv, epoch_options());
  const auto samples = samples_of_epoch(survey.log);
  if (!epochs || !samples) return std::nullopt;
  return PlannedLength{
      epochs->number * *samples,
      fmt::format("{} {:g} of {:g} samples", epochs->option, epochs->number, *samples),
      epochs->number > 1.0 ? samples : std::nullopt};
}

}  // namespace steptune

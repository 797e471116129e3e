// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/draft.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/document/identifiers.hpp"
#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/knobs/draft_defaults.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/survey/draft_knobs.hpp"
#include "tuner/survey/possible_gain.hpp"

namespace steptune {
namespace {

/// Returns the most batches that the training loader can have ready with today's workers; null if
/// unknown. A PyTorch program without a DataLoader prepares its batches between its steps.
Json buffers_today(const Survey& survey, bool tunes_prefetch) {
  const HookLog& log = survey.log;
  const std::vector<HookedLoader> loaders = log.loaders();
  const auto workers = count_today(log, "num_workers");
  if (loaders.empty() && !workers && family_of(survey) == k_pytorch_family) return 0;
  const auto training = std::ranges::count_if(
      loaders, [](const HookedLoader& loader) { return loader.training == true; });
  if (training != 1 || !workers) return nullptr;
  if (*workers > 0 && tunes_prefetch) return fmt::format("{} * prefetch_factor", *workers);
  return *workers * count_today(log, "prefetch_factor").value_or(k_default_prefetch_factor);
}

/// Returns the samples of a step for the study file: today's number, scaled with the batch size if
/// that is tuned.
Json step_size(double samples_per_step, const Json& document) {
  if (!document["parameters"].contains(k_batch_size)) return samples_per_step;
  return fmt::format("{} * {} / {}", samples_per_step, k_batch_size,
                     dump_json(document["baseline"][k_batch_size]));
}

}  // namespace

Result<Draft> draft_study(const Survey& survey, const DraftOptions& options) {
  DraftKnobs knobs(survey, options);
  if (knobs.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("nothing can be tuned in this program from outside:\n  {}",
                            fmt::join(knobs.left_out(), "\n  ")),
                "", "give the program options, and write a study file: docs/tutorial.md");
  }
  if (knobs.lacks_guard()) {
    return fail(ErrorKind::usage,
                fmt::format("--semantic changes the loss: {}", why_no_guard(survey)), "",
                "leave --semantic out, or write the study file's \"guards\" yourself: "
                "docs/study-file.md");
  }
  Draft draft;
  Json& document = draft.document;
  document["name"] = options.name;
  document["command"] = command_template(options.argv);
  const bool has_workers = knobs.contains("num_workers");
  const bool has_prefetch = knobs.contains("prefetch_factor");
  std::move(knobs).write_into(document, draft);
  draft.ceiling = ceiling_text(survey);
  if (const auto replay = survey.log.replay()) {
    document["loading_ceiling"] = std::round(1e3 * replay->ceiling()) / 1e3;  // three decimals
  }
  if (options.planned_samples) document["planned_run"]["samples"] = *options.planned_samples;
  // The study's result then includes the cost of ends of epochs, or says that no trial reached one.
  if (options.epoch_samples) {
    document["planned_run"]["phases"]["epoch_end"]["every_samples"] = *options.epoch_samples;
  }
  if (options.samples_per_step) {
    document["planned_run"]["batch_size"] = step_size(*options.samples_per_step, document);
  }
  if (has_workers) {
    document["measure"]["buffers"] =
        has_prefetch ? "num_workers * prefetch_factor" : "2 * num_workers";
  } else if (Json buffers = buffers_today(survey, has_prefetch); !buffers.is_null()) {
    document["measure"]["buffers"] = std::move(buffers);
  }
  // The parameters are in the order in which an expert would try them.
  document["search"]["first_guesses"] = true;
  // Forked trials start faster: the fork server has already imported PyTorch.
  if (family_of(survey) == k_pytorch_family) document["trials"] = "forked";
  document["budget"] = {{"trials", k_default_trials}, {"time", "30m"}};
  return draft;
}

Json command_template(const std::vector<std::string>& argv) {
  Json command = Json::array();
  for (const std::string& word : argv) {
    std::string text;
    for (const char letter : word)
      text += letter == '{' ? std::string("{{") : std::string(1, letter);
    command.push_back(std::move(text));
  }
  return command;
}

std::string study_name_of(const std::vector<std::string>& argv) {
  std::string name =
      argv.empty() ? "study" : std::filesystem::path(argv[handed_over_to(argv)]).stem().string();
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i].ends_with(".py")) {
      name = std::filesystem::path(argv[i]).stem().string();
      break;
    }
    if (argv[i] == "-m" && i + 1 < argv.size()) {
      name = argv[i + 1].substr(argv[i + 1].rfind('.') + 1);
      // Launchers such as `-m torch.distributed.run` start the script that follows.
      if (name != "run" && name != "launch") break;
    }
  }
  for (char& letter : name) {
    const bool fits = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
    if (!fits) letter = '-';
  }
  name.resize(std::min<std::size_t>(name.size(), 50));
  if (!document::is_study_name(name)) name = "study" + name;
  return name;
}

double fact_value(const std::string& expression, const Facts& machine) {
  const auto compiled = Expression::compile(expression, {}, machine);
  return compiled ? compiled->evaluate(Configuration{}) : k_nan;
}

std::string range_text(const Json& declaration, const Facts& machine) {
  if (declaration.contains("choices")) {
    const Json& declared = declaration["choices"];
    std::vector<std::string> choices;
    for (const auto& [label, choice] : declared.items())
      choices.push_back(declared.is_object() ? label : plain_text(choice));
    return fmt::format("{}", fmt::join(choices, "|"));
  }
  if (!declaration.contains("low")) return "false|true";
  return fmt::format("{}..{}", fact_value(plain_text(declaration["low"]), machine),
                     fact_value(plain_text(declaration["high"]), machine));
}

bool is_power_of_two(double value) {
  return value >= 1.0 && std::exp2(std::floor(std::log2(value))) == value;
}

}  // namespace steptune

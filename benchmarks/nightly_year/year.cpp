// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/nightly_year/year.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "common/clock.hpp"
#include "common/rng.hpp"
#include "trial_runner/replay/replay_runner.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/retune/retune.hpp"

namespace steptune::nightly_year {
namespace {

constexpr const char* k_document = R"({
  "name": "nightly",
  "command": ["train", "--batch", "{batch}", "--workers", "{workers}", "--precision",
              "{precision}", "--threads", "{threads}"],
  "parameters": {
    "batch":     {"type": "int", "low": 32, "high": 256, "scale": "log2"},
    "workers":   {"type": "int", "low": 0, "high": 6},
    "precision": {"type": "categorical", "choices": ["fp32", "bf16"]},
    "threads":   {"type": "int", "low": 1, "high": 4}
  },
  "baseline": {"batch": 64, "workers": 0, "precision": "fp32", "threads": 1},
  "planned_run": {"samples": 5e6, "batch_size": "batch"},
  "objectives": ["time"],
  "search": {"searcher": "bayes", "scheduler": "asha"},
  "budget": {"trials": 40},
  "measure": {"max_trial": "60s"},
  "runner": {"type": "local", "price_per_hour": 1.2}
})";

constexpr double k_night_s = 86'400.0;
constexpr double k_seconds_per_sample = 0.002;
constexpr double k_step_noise = 0.02;

double number(const Configuration& configuration, const char* name) {
  return to_number(*configuration.find(name));
}

bool is_bfloat16(const Configuration& configuration) {
  return std::get<std::string>(*configuration.find("precision")) == "bf16";
}

bool is_in_season(const YearModel& model, std::int64_t night) {
  return std::ranges::any_of(model.seasons, [&](const auto& season) {
    return night >= season.first && night <= season.second;
  });
}

bool has_upgrade(const YearModel& model, std::int64_t night) {
  return model.library_upgrade > 0 && night >= model.library_upgrade;
}

bool has_slower_machine(const YearModel& model, std::int64_t night) {
  return model.slower_machine > 0 && night >= model.slower_machine;
}

MachineDescription machine_of(const YearModel& model, std::int64_t night) {
  MachineDescription machine{{"cpu", "Xeon 6348"}, {"cpus", "8"}, {"kernel", "6.1.0-25"}};
  machine["torch"] = has_upgrade(model, night) ? "2.5.1" : "2.4.0";
  if (has_slower_machine(model, night)) machine["kernel"] = "6.1.0-27";
  return machine;
}

Result<StudySpec> study_of(const YearModel& model) {
  auto document = parse_json(k_document, "nightly");
  if (!document) return tl::unexpected(document.error());
  (*document)["search"]["searcher"] = model.searcher;
  (*document)["search"]["seed"] = model.seed;
  return study_from_json(*document, "/studies/nightly.json",
                         {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}});
}

Result<StudyParts> parts_of(const YearModel& model, std::int64_t night, const StudySpec& study,
                            VirtualClock& clock) {
  StudyParts parts;
  auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  parts.searcher = *std::move(searcher);
  auto scheduler = make_study_scheduler(study);
  if (!scheduler) return tl::unexpected(scheduler.error());
  parts.scheduler = *std::move(scheduler);
  const double factor = is_in_season(model, night) ? model.season_factor : 1.0;
  const auto seed = static_cast<std::uint64_t>(night);
  Rng rng(model.seed, "night", seed);
  const double common = 1.0 + factor * model.night_variation * rng.normal();
  ReplayOptions options;
  options.seed = model.seed * 100'000 + seed;
  options.startup_s = 8.0;
  options.noise.step = factor * k_step_noise;
  options.noise.run = factor * model.launch_variation;
  const auto step_times =
      [model, night, common](const TrialSpec& spec) -> tl::expected<ReplayBehaviour, std::string> {
    ReplayBehaviour behaviour;
    behaviour.seconds_per_sample =
        common * true_seconds_per_sample(model, night, spec.configuration);
    behaviour.samples_per_step = number(spec.configuration, "batch");
    return behaviour;
  };
  parts.runner.clock = &clock;
  parts.runner.runner = std::make_unique<ReplayRunner>(clock, step_times, options);
  return parts;
}

/// Returns the seconds of a whole study on one night, without earlier results.
Result<double> tune_from_scratch(const YearModel& model, std::int64_t night,
                                 const std::filesystem::path& folder) {
  const auto study = study_of(model);
  if (!study) return tl::unexpected(study.error());
  VirtualClock clock;
  auto history = History::open_for_writing(folder / "history.db", clock);
  if (!history) return tl::unexpected(history.error());
  auto parts = parts_of(model, night, *study, clock);
  if (!parts) return tl::unexpected(parts.error());
  LoopListener listener;
  const auto result = run_loop({*study,
                                *parts->searcher,
                                *parts->scheduler,
                                *parts->runner.runner,
                                *history,
                                clock,
                                listener,
                                folder / "logs",
                                {}});
  if (!result) return tl::unexpected(result.error());
  return history->study(study->name).map([](const StudyRecord& record) {
    return record.elapsed_s;
  });
}

}  // namespace

YearModel usual_year(std::uint64_t seed) {
  YearModel model;
  model.seed = seed;
  model.seasons = {{50, 85}, {270, 310}};
  model.library_upgrade = 130;
  model.slower_machine = 230;
  return model;
}

double true_seconds_per_sample(const YearModel& model, std::int64_t night,
                               const Configuration& configuration) {
  const double workers = number(configuration, "workers");
  const double threads = number(configuration, "threads");
  const bool upgraded = has_upgrade(model, night);
  // With the upgraded library, bfloat16 does not use the vector units, and threads scale better.
  const double precision = !is_bfloat16(configuration) ? 1.0 : upgraded ? 1.25 : 0.6;
  const double scaling = upgraded ? 0.9 : 0.5;
  const double compute = precision * ((1.0 - scaling) + scaling / threads) +
                         20.0 / number(configuration, "batch") * 0.2;
  const double loading = 1.2 / (0.6 + workers);
  // If there are more processes than processors, they wait for each other.
  const double crowd = 1.0 + 0.12 * std::max(0.0, workers + threads - 8.0);
  const double machine = has_slower_machine(model, night) ? model.machine_factor : 1.0;
  return k_seconds_per_sample * machine * crowd * (std::max(compute, loading) + 0.1 * loading);
}

double best_seconds_per_sample(const YearModel& model, std::int64_t night) {
  double best = std::numeric_limits<double>::infinity();
  Configuration configuration;
  for (const std::int64_t batch : {32, 64, 128, 256}) {
    for (std::int64_t workers = 0; workers <= 6; ++workers) {
      for (const char* precision : {"fp32", "bf16"}) {
        for (std::int64_t threads = 1; threads <= 4; ++threads) {
          configuration.set("batch", batch);
          configuration.set("workers", workers);
          configuration.set("precision", std::string(precision));
          configuration.set("threads", threads);
          best = std::min(best, true_seconds_per_sample(model, night, configuration));
        }
      }
    }
  }
  return best;
}

Result<Year> play(const YearModel& model, const std::filesystem::path& folder,
                  const std::vector<std::int64_t>& scratch_nights) {
  const auto study = study_of(model);
  if (!study) return tl::unexpected(study.error());
  Year year;
  VirtualClock clock;
  auto history = History::open_for_writing(folder / "history.db", clock);
  if (!history) return tl::unexpected(history.error());
  LoopListener listener;
  for (std::int64_t night = 1; night <= model.nights; ++night) {
    clock.advance_to(static_cast<double>(night) * k_night_s);
    auto outcome =
        retune({*study,
                *history,
                clock,
                listener,
                [&](const StudySpec& spec) { return parts_of(model, night, spec, clock); },
                [&](const std::string& name) { return folder / "logs" / name; },
                {},
                machine_of(model, night)},
               {});
    if (!outcome) return tl::unexpected(outcome.error());
    year.nights.push_back(*std::move(outcome));
  }
  for (const std::int64_t night : scratch_nights) {
    const auto seconds =
        tune_from_scratch(model, night, folder / ("scratch-" + std::to_string(night)));
    if (!seconds) return tl::unexpected(seconds.error());
    year.scratch_s += *seconds / static_cast<double>(scratch_nights.size());
  }
  return year;
}

}  // namespace steptune::nightly_year

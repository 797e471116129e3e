// SPDX-License-Identifier: Apache-2.0
// Nights of replayed trials. Only the processes are not real, and a night takes a few milliseconds.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/units.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/replay/replay_runner.hpp"
#include "tuner/retune/retune.hpp"

namespace steptune {

inline constexpr std::int64_t k_season_trials = 6;

inline StudySpec study_called(const std::string& name, int most_workers = 4) {
  Json document = Json::parse(R"json({
    "command": ["train", "--workers={workers}", "--kind={kind}"],
    "parameters": {"workers": {"type": "int", "low": 0, "high": 4},
                   "kind": {"type": "categorical", "choices": ["plain", "fused"]}},
    "baseline": {"workers": 0, "kind": "plain"},
    "planned_run": {"samples": 1e8},
    "search": {"searcher": "random", "scheduler": "none", "seed": 7},
    "runner": {"type": "replay", "price_per_hour": 2.0, "seconds_per_sample": 1}
  })json");
  document["name"] = name;
  document["parameters"]["workers"]["high"] = most_workers;
  document["budget"]["trials"] = k_season_trials;
  return must(study_from_json(document, "/studies/" + name + ".json",
                              {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
}

/// A history, and the settings of its nights.
class Season {
 public:
  /// Sets the milliseconds per sample for each kind of kernel, with very many workers.
  void set_speeds(double plain_ms, double fused_ms) {
    seconds_per_sample_ = fmt::format(
        "0.001 * (kind == 'fused' ? {} : {}) * (1 + 1 / (1 + workers))", fused_ms, plain_ms);
  }

  /// Makes trials with fused kernels fail from now on, or no trials if `broken` is false.
  void break_fused(bool broken = true) {
    is_broken_ = nullptr;
    if (!broken) return;
    is_broken_ = [](const Configuration& trial) { return to_text(*trial.find("kind")) == "fused"; };
  }
  /// Makes trials with workers fail from now on, and no others.
  void break_workers() {
    is_broken_ = [](const Configuration& trial) { return to_number(*trial.find("workers")) > 0.0; };
  }

  /// Makes trials without workers fail from now on, and no others.
  void break_baseline() {
    is_broken_ = [](const Configuration& trial) {
      return to_number(*trial.find("workers")) == 0.0;
    };
  }

  Result<Night> try_night(const StudySpec& study, const RetuneOptions& options = {}) {
    clock_.advance_to(clock_.now_s() + k_day_s);
    return retune({study,
                   history_,
                   clock_,
                   listener_,
                   [this](const StudySpec& spec) { return make_parts(spec); },
                   [this](const std::string& name) { return logs_of(name); },
                   [this] { return played_.size() > interrupted_after_ ? 1 : 0; },
                   {{"cpu", "Xeon 6348"}}},
                  options);
  }
  Night night(const StudySpec& study, const RetuneOptions& options = {}) {
    return must(try_night(study, options));
  }
  /// Does the same as `steptune run`.
  void tune(const StudySpec& study) {
    StudyParts made = must(make_parts(study));
    const LoopParts loop{study,
                         *made.searcher,
                         *made.scheduler,
                         *made.runner.runner,
                         history_,
                         *made.runner.clock,
                         listener_,
                         logs_of(study.name),
                         [] { return 0; },
                         false,
                         {{"cpu", "Xeon 6348"}}};
    must(run_loop(loop));
  }
  /// Plays a night that finds fused kernels with four workers, and one that keeps them.
  void begin(const StudySpec& study) {
    EXPECT_EQ(night(study).result, NightResult::improved);
    EXPECT_EQ(night(study).result, NightResult::kept);
  }

  [[nodiscard]] std::vector<std::string> studies() const {
    std::vector<std::string> names;
    for (const StudyRecord& study : must(history_.studies()))
      names.push_back(study.name);
    return names;
  }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] History& history() { return history_; }
  /// Returns the number of studies that nights have played so far, one for each phase.
  [[nodiscard]] std::size_t played() const { return played_.size(); }
  /// Makes the user interrupt all studies after the first `count`.
  void interrupt_after(std::size_t count) { interrupted_after_ = count; }
  [[nodiscard]] std::filesystem::path logs_of(const std::string& study) const {
    return folder_.path() / "logs" / study;
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return listener_.warnings; }

 private:
  struct Listener final : LoopListener {
    void on_warning(const std::string& message) override { warnings.push_back(message); }
    std::vector<std::string> warnings;
  };

  Result<StudyParts> make_parts(const StudySpec& spec) {
    // Plays at the current speed, which does not make it another study.
    Json document = spec.document;
    document["runner"]["seconds_per_sample"] = seconds_per_sample_;
    played_.push_back(
        std::make_unique<StudySpec>(must(study_from_json(document, spec.file, spec.facts))));
    auto made = make_study_parts(*played_.back(), clock_);
    if (!made || !is_broken_) return made;
    const auto clock = std::make_shared<VirtualClock>(clock_.wall_time_s());
    ReplayOptions options;
    options.end_of = [is_broken = is_broken_](const TrialSpec& trial) -> std::optional<ReplayEnd> {
      if (!is_broken(trial.configuration)) return std::nullopt;
      return ReplayEnd{OutcomeKind::failed, 1.0, 132, "illegal instruction"};
    };
    const auto seconds_per_sample = [](const Configuration& trial) {
      return std::optional(0.001 * (1.0 + 1.0 / (1.0 + to_number(*trial.find("workers")))));
    };
    made->runner = {clock, clock.get(),
                    std::make_unique<ReplayRunner>(
                        *clock, synthetic_replay_model(seconds_per_sample), std::move(options))};
    return made;
  }

  DatabaseFolder folder_;
  VirtualClock clock_;
  History history_ = must(History::open_for_writing(folder_.path() / "history.db", clock_));
  Listener listener_;
  std::string seconds_per_sample_ = "0.001 * (kind == 'fused' ? 0.6 : 1) * (1 + 1 / (1 + workers))";
  std::function<bool(const Configuration&)> is_broken_;
  std::size_t interrupted_after_ = std::numeric_limits<std::size_t>::max();
  std::vector<std::unique_ptr<StudySpec>> played_;  ///< searchers refer to them
};

inline std::string kind_in_use(const Night& night) {
  return std::get<std::string>(*night.after.configuration.find("kind"));
}

inline RetuneOptions bounded(NightBounds bounds) {
  RetuneOptions options;
  options.bounds = bounds;
  return options;
}

}  // namespace steptune

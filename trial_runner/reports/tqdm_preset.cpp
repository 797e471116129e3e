// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include <re2/re2.h>

#include "trial_runner/reports/bar_phases.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/progress_bar.hpp"
#include "trial_runner/reports/training_bar.hpp"

namespace steptune {
namespace {

/// True for bars that are neither the training's steps nor a phase.
bool is_preparation(std::string_view description) {
  // Ultralytics scans and caches images; Accelerate and the Trainer skip batches. `mAP` is a metric
  // and does not match.
  static const re2::RE2 k_regex(
      R"(\b[Mm]ap\b|(?i:\b(?:download\w*|filter|tokeniz\w*|load\w*|sanity|extract\w*|fetch\w*)"
      R"(|resolving|scanning|caching|skipping|preparing|pre-?processing|indexing|parsing)\b))",
      re2::RE2::Quiet);
  return re2::RE2::PartialMatch(re2::StringPiece(description.data(), description.size()), k_regex);
}

bool counts_samples(std::string_view unit) {
  constexpr std::array<std::string_view, 11> k_units{"sample",   "samples", "img", "imgs",
                                                     "image",    "images",  "ex",  "example",
                                                     "examples", "seq",     "seqs"};
  return std::find(k_units.begin(), k_units.end(), unit) != k_units.end();
}

/// Returns a higher rank (`CounterSet::add`) for bars that name a unit of training. For example, a
/// bar `Episode 3` encloses a bar that counts the episode's prompts.
int rank_of(std::string_view description) {
  static const re2::RE2 k_regex(
      R"((?i)\b(?:steps?|iters?|iterations?|updates?|episodes?|rollouts?)\b)", re2::RE2::Quiet);
  const re2::StringPiece text(description.data(), description.size());
  return re2::RE2::PartialMatch(text, k_regex) ? 1 : 0;
}

/// Returns a key for the bar that is equal in all epochs: the letters of its description, and its
/// total. The description's numbers and blanks change from line to line.
std::string bar_key(const ProgressBar& bar) {
  std::string key;
  for (const char c : bar.description) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) key += c;
  }
  return key + "/" + std::to_string(bar.total.value_or(0.0));
}

class TqdmPreset final : public Preset {
 public:
  void read(std::string_view line, Report& report) override {
    const auto bar = parse_progress_bar(line);
    if (!bar) {
      if (const auto message = phase_message(line)) named_phases_.read(*message, report);
      return;
    }
    // A bar that counts bytes is a download; its description is the file's name.
    if (is_preparation(bar->description) || bar->unit == "B") return;
    if (const auto phase = phase_of_description(bar->description)) {
      return named_phases_.read(*phase, bar->done, bar->total, report);
    }
    const std::string key = bar_key(*bar);
    const std::size_t known = report.metrics.size() + report.not_finite.size();
    read_metrics(*bar, report);
    const bool has_metrics = report.metrics.size() + report.not_finite.size() > known;
    const int rank = rank_of(bar->description);
    const bool takes_lead = training_.takes_lead(key, *bar, has_metrics, report.received_s);
    if (rank > 0 && bar->done > 0.0) training_.settle();
    if (training_.was_before(key)) return;
    if (training_.is_evaluation(key)) return unnamed_phases_.on_other(key, *bar, report);
    Count count{bar->done, bar->total, epoch_of(bar->description), /*per_epoch=*/true};
    if (!count.epoch) count.epoch = times_full(key, *bar);
    const bool samples = counts_samples(bar->unit);
    if (samples) {
      if (takes_lead) samples_.lead(key);
      if (const auto done = samples_.add(key, count)) report.samples = done;
    } else if (!bar->unit.empty() || bar->done == 0.0) {
      if (takes_lead) steps_.lead(key);
      if (const auto done = steps_.add(key, count, rank)) report.step = done;
    }
    const auto counted = samples ? report.samples : report.step;
    if (counted) {
      training_.leads(key);
      named_phases_.on_training(*counted);
      if (takes_lead) unnamed_phases_ = {};
      unnamed_phases_.on_training(*counted);
    } else {
      unnamed_phases_.on_other(key, *bar, report);
    }
    if (bar->units_per_s && !samples) set_metric(report, "steps_per_second", *bar->units_per_s);
  }

  [[nodiscard]] std::optional<std::string> counter_fault() const override {
    if (!steps_.several_writers() && !samples_.several_writers()) return std::nullopt;
    return several_writers_fault("a progress bar");
  }

 private:
  /// Counts the draws of a bar that is drawn only when it is full: each is an epoch. Returns
  /// nullopt for a bar that has also been drawn before that.
  std::optional<double> times_full(const std::string& key, const ProgressBar& bar) {
    if (!full_bars_.contains(key) && full_bars_.size() >= k_most_counters) return std::nullopt;
    auto& times = full_bars_.try_emplace(key, 0.0).first->second;
    if (!bar.total || bar.done < *bar.total) times.reset();
    if (times) ++*times;
    return times;
  }
  static void read_metrics(const ProgressBar& bar, Report& report) {
    for (const std::string_view text : {bar.description, bar.postfix}) {
      for (auto& pair : number_pairs(text)) {
        if (metric_name(pair.name) != "epoch") set_metric(report, std::move(pair.name), pair.value);
      }
    }
  }

  TrainingBar training_;
  BarPhases named_phases_;
  UnnamedBarPhases unnamed_phases_;
  CounterSet steps_;
  CounterSet samples_;
  std::map<std::string, std::optional<double>> full_bars_;  ///< by the bar's key
};

}  // namespace

std::unique_ptr<Preset> make_tqdm_preset() {
  return std::make_unique<TqdmPreset>();
}

}  // namespace steptune

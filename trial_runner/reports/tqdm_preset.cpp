// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {
namespace {

/// Bars that are part of a training script but not its steps.
bool is_no_training(std::string_view description) {
  static const re2::RE2 k_regex(
      R"((?i)\b(val|valid|validat\w*|eval|evaluat\w*|test|testing|download\w*|map|filter|tokeniz\w*|)"
      R"(load\w*|predict\w*|generat\w*|sanity|extract\w*|fetch\w*|resolving)\b)",
      re2::RE2::Quiet);
  return re2::RE2::PartialMatch(re2::StringPiece(description.data(), description.size()), k_regex);
}

bool counts_samples(std::string_view unit) {
  constexpr std::array<std::string_view, 11> k_units{"sample",   "samples", "img", "imgs",
                                                     "image",    "images",  "ex",  "example",
                                                     "examples", "seq",     "seqs"};
  return std::find(k_units.begin(), k_units.end(), unit) != k_units.end();
}

/// The same bar in every epoch: the letters of its description, and its length. Numbers and the
/// blanks around them change from line to line.
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
    if (!bar || is_no_training(bar->description)) return;
    Count count{bar->done, bar->total, epoch_of(bar->description), /*per_epoch=*/true};
    const bool samples = counts_samples(bar->unit);
    if (samples) {
      if (const auto done = samples_.add(bar_key(*bar), count)) report.samples = done;
    } else if (!bar->unit.empty() || bar->done == 0.0) {
      if (const auto done = steps_.add(bar_key(*bar), count)) report.step = done;
    }
    for (const std::string_view text : {bar->description, bar->postfix}) {
      for (auto& pair : number_pairs(text)) {
        if (metric_name(pair.name) != "epoch") set_metric(report, std::move(pair.name), pair.value);
      }
    }
    if (bar->units_per_s && !samples) set_metric(report, "steps_per_second", *bar->units_per_s);
  }

 private:
  CounterSet steps_;
  CounterSet samples_;
};

}  // namespace

std::unique_ptr<Preset> make_tqdm_preset() {
  return std::make_unique<TqdmPreset>();
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"

namespace steptune {
namespace {

// Keras 2: ` 12/100 [==>.....] - ETA: 15s - loss: 2.3`, verbose 2 ` 100/100 - 3s - loss: 2.3`;
// Keras 3: ` 12/100 ━━━━━━━━━ 15s 150ms/step - accuracy: 0.1 - loss: 2.3`; ` 12/Unknown ...`.
const re2::RE2& line_regex() {
  static const re2::RE2 k_regex(
      R"(^\s*(\d{1,15})/(\d{1,15}|Unknown)\s+(?:\[[=>.\s]*\]|[━╸╺ ]+)?\s*)"
      R"(((?:-|\d[\d:]*(?:s|:\d\d)\s).*)?$)",
      re2::RE2::Quiet);
  return k_regex;
}

/// Matches `Epoch 3/10` on a line of its own.
const re2::RE2& epoch_line_regex() {
  static const re2::RE2 k_regex(R"(^\s*Epoch (\d{1,9})(?:/\d+)?:?\s*$)", re2::RE2::Quiet);
  return k_regex;
}

class KerasPreset final : public Preset {
 public:
  void read(std::string_view line, Report& report) override {
    const re2::StringPiece text(line.data(), line.size());
    re2::StringPiece done, total, rest;
    if (re2::RE2::PartialMatch(text, epoch_line_regex(), &done)) {
      epoch_ = parse_finite({done.data(), done.size()});
      return;
    }
    if (!re2::RE2::PartialMatch(text, line_regex(), &done, &total, &rest)) return;
    const auto value = parse_finite({done.data(), done.size()});
    if (!value) return;
    const std::string_view shown_values(rest.data(), rest.size());
    // Before Keras 2.3 bars counted samples; the rate in their last line shows it.
    counts_samples_ = counts_samples_ || shown_values.find("s/sample") != std::string_view::npos;
    const Count count{*value, parse_finite({total.data(), total.size()}), epoch_,
                      /*per_epoch=*/true};
    // Bars of other lengths are evaluations; their counter never exceeds the training's.
    const auto cumulative = counter_.add(std::string(total.data(), total.size()), count);
    if (cumulative) (counts_samples_ ? report.samples : report.step) = cumulative;
    read_metrics(shown_values, report);
    if (cumulative && count.total) note_evaluation(count, report);
  }

 private:
  /// Reads ` - loss: 2.3 - accuracy: 0.1`; parts without a name are times.
  static void read_metrics(std::string_view text, Report& report) {
    while (!text.empty()) {
      const std::size_t end = text.find(" - ");
      for (auto& pair : number_pairs(text.substr(0, end))) {
        if (pair.name != "ETA") set_metric(report, std::move(pair.name), pair.value);
      }
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + 3);
    }
  }

  /// After an evaluation, Keras draws the epoch's last line again, with `val_` metrics. If the line
  /// before does not show the last step, the missing steps are assumed to be as long as earlier
  /// steps.
  void note_evaluation(const Count& count, Report& report) {
    const bool evaluated = std::ranges::any_of(
        report.metrics, [](const auto& metric) { return metric.first.starts_with("val_"); });
    if (!evaluated) {
      if (!first_ || count.value < last_.done) first_ = {count.value, report.received_s};
      last_ = {count.value, report.received_s};
      return;
    }
    if (!first_) return;
    const double steps = last_.done - first_->done;
    const double left = *count.total - last_.done;
    if (left > 0.0 && steps <= 0.0) return;
    const double step_s = steps > 0.0 ? (last_.time_s - first_->time_s) / steps : 0.0;
    const double seconds = report.received_s - last_.time_s - left * step_s;
    if (seconds > 0.0) report.phase = PhaseReport{"evaluation", seconds, /*by_receipt=*/true};
    first_.reset();
  }

  struct Drawn {
    double done = 0.0;
    double time_s = 0.0;
  };
  std::optional<Drawn> first_;  ///< first line of this epoch
  Drawn last_;
  CounterSet counter_;
  std::optional<double> epoch_;
  bool counts_samples_ = false;
};

}  // namespace

std::unique_ptr<Preset> make_keras_preset() {
  return std::make_unique<KerasPreset>();
}

}  // namespace steptune

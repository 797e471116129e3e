// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/bar_phases.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {
namespace {

// RichProgressBar: `Epoch 0/9 ━━━━━━━ 12/100 0:00:03 • 0:00:20 4.10it/s v_num: 0 loss: 0.3`.
const re2::RE2& rich_regex() {
  static const re2::RE2 k_regex(
      R"(^\s*(?:Epoch|stage) (\d+)(?:/-?\d+)?\s+\S*[━╸╺]\S*[\s━╸╺]*\s(\d+)/(\d+)\s(.*))",
      re2::RE2::Quiet);
  return k_regex;
}

/// Reads `Epoch 3:  12%|█▏ | 12/100 [00:03<00:20,  4.10it/s, v_num=0, train_loss=0.3]`. Bars of
/// validation, tests and sanity checks begin with other words; validation and tests are phases.
class LightningPreset final : public Preset {
 public:
  void read(std::string_view line, Report& report) override {
    re2::StringPiece epoch, done, total, rest;
    if (re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), rich_regex(), &epoch,
                               &done, &total, &rest)) {
      count(number(epoch), number(done).value_or(0.0), number(total), report);
      metrics({rest.data(), rest.size()}, report);
      return;
    }
    if (read_rich_phase(line, report)) return;
    const auto bar = parse_progress_bar(line);
    if (!bar) {
      if (const auto message = phase_message(line)) phases_.read(*message, report);
      return;
    }
    if (const auto phase = phase_name(bar->description)) {
      return phases_.read(*phase, bar->done, bar->total, report);
    }
    if (!bar->description.starts_with("Epoch ")) return;
    count(epoch_of(bar->description), bar->done, bar->total, report);
    metrics(bar->postfix, report);
    if (bar->units_per_s) set_metric(report, "steps_per_second", *bar->units_per_s);
  }

 private:
  /// Returns the phase that a bar shows: `evaluation` for `Validation DataLoader 0`. Further
  /// loaders are separate phases.
  static std::optional<std::string> phase_name(std::string_view description) {
    static const re2::RE2 k_regex(R"(^(Validation|Testing|Predicting)(?: DataLoader (\d{1,4}))?)",
                                  re2::RE2::Quiet);
    re2::StringPiece what, loader;
    if (!re2::RE2::PartialMatch(re2::StringPiece(description.data(), description.size()), k_regex,
                                &what, &loader)) {
      return std::nullopt;
    }
    auto name = phase_of_description({what.data(), what.size()});
    if (name && !loader.empty() && loader != "0") *name += " " + std::string(loader);
    return name;
  }
  bool read_rich_phase(std::string_view line, Report& report) {
    static const re2::RE2 k_regex(
        R"(^\s*(Validation|Testing|Predicting|\w+ DataLoader \d+)\s+\S*[━╸╺]\S*[\s━╸╺]*\s(\d+)/(\d+)\s)",
        re2::RE2::Quiet);
    re2::StringPiece description, done, total;
    if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), k_regex, &description,
                                &done, &total)) {
      return false;
    }
    if (const auto phase = phase_name({description.data(), description.size()})) {
      phases_.read(*phase, number(done).value_or(0.0), number(total), report);
    }
    return true;
  }
  static std::optional<double> number(const re2::StringPiece& text) {
    return parse_finite({text.data(), text.size()});
  }
  void count(std::optional<double> epoch, double done, std::optional<double> total,
             Report& report) {
    const double former = step_.value();
    report.step = step_.add({done, total, epoch, /*per_epoch=*/true});
    // The epoch's bar may be drawn again during a phase.
    if (*report.step > former) phases_.on_training(*report.step);
  }
  static void metrics(std::string_view text, Report& report) {
    for (auto& pair : number_pairs(text)) {
      if (pair.name != "v_num") set_metric(report, std::move(pair.name), pair.value);
    }
  }

  CumulativeCounter step_;
  BarPhases phases_;
};

}  // namespace

std::unique_ptr<Preset> make_lightning_preset() {
  return std::make_unique<LightningPreset>();
}

}  // namespace steptune

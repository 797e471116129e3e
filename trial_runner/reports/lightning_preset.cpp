// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/progress_bar.hpp"

namespace steptune {
namespace {

// RichProgressBar: `Epoch 0/9 ━━━━━━━ 12/100 0:00:03 • 0:00:20 4.10it/s v_num: 0 loss: 0.3`.
const re2::RE2& rich_regex() {
  static const re2::RE2 k_regex(
      R"(^\s*Epoch (\d+)(?:/-?\d+)?\s+\S*[━╸╺]\S*[\s━╸╺]*\s(\d+)/(\d+)\s(.*))", re2::RE2::Quiet);
  return k_regex;
}

/// `Epoch 3:  12%|█▏ | 12/100 [00:03<00:20,  4.10it/s, v_num=0, train_loss=0.3]`; the bars of
/// sanity checks, validation and tests begin with other words.
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
    const auto bar = parse_progress_bar(line);
    if (!bar || !bar->description.starts_with("Epoch ")) return;
    count(epoch_of(bar->description), bar->done, bar->total, report);
    metrics(bar->postfix, report);
    if (bar->units_per_s) set_metric(report, "steps_per_second", *bar->units_per_s);
  }

 private:
  static std::optional<double> number(const re2::StringPiece& text) {
    return parse_finite({text.data(), text.size()});
  }
  void count(std::optional<double> epoch, double done, std::optional<double> total,
             Report& report) {
    report.step = step_.add({done, total, epoch, /*per_epoch=*/true});
  }
  static void metrics(std::string_view text, Report& report) {
    for (auto& pair : number_pairs(text)) {
      if (pair.name != "v_num") set_metric(report, std::move(pair.name), pair.value);
    }
  }

  CumulativeCounter step_;
};

}  // namespace

std::unique_ptr<Preset> make_lightning_preset() {
  return std::make_unique<LightningPreset>();
}

}  // namespace steptune

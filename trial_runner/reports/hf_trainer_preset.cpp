// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>

#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/progress_bar.hpp"
#include "trial_runner/reports/training_bar.hpp"

namespace steptune {
namespace {

/// Returns the number in header lines such as `Num examples = 10,000` and `Total train batch size
/// (w. parallel, ...) = 32`, which are printed at the start at log level `info`.
std::optional<double> header_number(std::string_view line, const re2::RE2& regex) {
  re2::StringPiece match;
  if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), regex, &match)) {
    return std::nullopt;
  }
  std::string digits(match.data(), match.size());
  std::erase(digits, ',');
  return parse_finite(digits);
}

/// The Trainer's bar ` 10%|█  | 50/500 [00:10<01:30,  4.98it/s]` counts optimizer steps over all
/// epochs. Its log lines are dictionaries: `{'loss': 0.69, 'learning_rate': 5e-05, 'epoch': 0.01}`.
class HfTrainerPreset final : public Preset {
 public:
  void read(std::string_view line, Report& report) override {
    read_header(line);
    read_heading(line, report);
    if (const auto bar = parse_progress_bar(line)) read_bar(*bar, report);
    const std::size_t open = line.find('{');
    if (open != std::string_view::npos) read_log(line.substr(open), report);
  }

 private:
  void read_header(std::string_view line) {
    static const re2::RE2 k_examples(R"(Num examples = ([\d,]{1,20}))", re2::RE2::Quiet);
    static const re2::RE2 k_batch(R"(Total train batch size [^=]*= ([\d,]{1,20}))",
                                  re2::RE2::Quiet);
    if (const auto number = header_number(line, k_examples); number && !examples_) {
      examples_ = number;
    }
    if (const auto number = header_number(line, k_batch)) batch_ = number;
  }
  void read_bar(const ProgressBar& bar, Report& report) {
    // The training's bar is the first one without a description. Evaluations have bars of other
    // lengths, and data preparation has descriptions.
    if (!bar.description.empty() || !bar.total) return;
    const std::string key = std::to_string(*bar.total);
    const bool takes_lead =
        training_.takes_lead(key, bar, /*has_metrics=*/false, report.received_s);
    if (training_.was_before(key)) return;
    if (!total_ || takes_lead) {
      total_ = bar.total;
      step_ = 0.0;
      evaluating_ = false;
      training_.leads(key);
    }
    if (bar.total != total_) return begin_evaluation(report);
    // A run resumed from a checkpoint jumps to its step.
    if (bar.done <= 0.0) return;
    if (bar.done < step_) return;
    if (bar.done > step_) evaluating_ = false;
    step_ = bar.done;
    trained_ = trained_ || step_ > 0.0;
    report.step = step_;
    if (batch_) report.samples = step_ * *batch_;
    if (bar.units_per_s) set_metric(report, "steps_per_second", *bar.units_per_s);
  }
  /// Reads headings that are printed at log level `info`.
  void read_heading(std::string_view line, Report& report) {
    if (line.find("***** Running Evaluation *****") != line.npos) begin_evaluation(report);
    if (line.find("Saving model checkpoint to ") != line.npos && trained_) {
      report.phase = PhaseReport{"checkpoint", std::nullopt};
    }
  }
  void begin_evaluation(Report& report) {
    if (evaluating_ || !trained_) return;
    evaluating_ = true;
    report.phase = PhaseReport{"evaluation", std::nullopt};
  }
  void read_log(std::string_view log, Report& report) {
    std::optional<double> epoch;
    bool training = false;
    for (auto& pair : number_pairs(log)) {
      if (pair.name == "epoch") epoch = pair.value;
      training = training || pair.name == "loss";
      if (training || pair.name == "train_runtime") training_.settle();
      const bool runtime = pair.name == "eval_runtime" && trained_;
      if (runtime && pair.value >= 0.0 && std::isfinite(pair.value)) {
        evaluating_ = false;
        report.phase = PhaseReport{"evaluation", pair.value};
      }
      set_metric(report, std::move(pair.name), pair.value);
    }
    // Without a bar (`disable_tqdm`), the epoch with its fraction is the only counter.
    if (!total_ && epoch && training && examples_) report.samples = *epoch * *examples_;
    trained_ = trained_ || report.samples;
  }

  TrainingBar training_;
  std::optional<double> total_;
  std::optional<double> examples_;
  std::optional<double> batch_;
  double step_ = 0.0;
  bool trained_ = false;  ///< false: phases still belong to the start-up
  bool evaluating_ = false;
};

}  // namespace

std::unique_ptr<Preset> make_hf_trainer_preset() {
  return std::make_unique<HfTrainerPreset>();
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/bar_phases.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/counter_names.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"

namespace steptune {
namespace {

/// Behind `train/` and the like, too. `steps_per_epoch`, `max_epoch` and `best_epoch` do not tell
/// where the run is.
constexpr std::array<std::string_view, 6> k_epoch_names{
    "epoch", "train_epoch", "training_epoch", "current_epoch", "cur_epoch", "global_epoch"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Heading {
  const char* pattern;  ///< epoch (which may be empty), counter, total
  bool samples;         ///< the counter counts samples, not steps
};
// What the examples of PyTorch, OpenMMLab and timm print, and what was copied from them ten
// thousand times: epoch and counter stand in brackets, without a name.
constexpr std::array<Heading, 6> k_headings{{
    {R"(Train Epoch:?\s*(\d{1,9})\s*\[\s*(\d{1,15})/\s*(\d{1,15}) \()", true},
    {R"(Epoch(?:\(train\))?:?\s*\[(\d{1,9})\]\s*\[\s*(\d{1,15})/(\d{1,15})\])", false},
    {R"(()Iter\(train\)\s*\[\s*(\d{1,15})/(\d{1,15})\])", false},
    {R"(^\s*Train: (\d{1,9}) \[\s*(\d{1,15})/(\d{1,15}) )", false},
    {R"(\bepoch\s+(\d{1,9})\s*\|\s*(\d{1,15})/\s*(\d{1,15}) batches\b)", false},
    {R"(Epoch \[(\d{1,9})/\d{1,9}\],? ?(?:Step|Iter|Batch):? ?\[(\d{1,15})/(\d{1,15})\])", false},
}};

/// Whose value is the seconds of a whole phase, and which one.
std::optional<std::string> timed_phase(std::string_view name) {
  static const re2::RE2 k_regex(
      R"(^(eval|evaluation|val|validation|test|checkpoint|save)_(?:runtime|time|seconds|duration)(?:_s|_sec)?$)",
      re2::RE2::Quiet);
  re2::StringPiece what;
  if (!re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), k_regex, &what)) {
    return std::nullopt;
  }
  if (what == "checkpoint" || what == "save") return "checkpoint";
  return what == "test" ? "test" : "evaluation";
}

/// `val_loss`, `eval_accuracy`: told once an evaluation is done.
bool is_evaluated(std::string_view name) {
  return name.starts_with("val_") || name.starts_with("valid_") || name.starts_with("eval_") ||
         name.starts_with("validation_");
}

/// Time between lines that tell counters; what a line with an evaluation's result has in excess of
/// its steps was the evaluation.
class EvaluationGap {
 public:
  /// A line with a training counter and no result of an evaluation.
  void on_training(double count, double time_s) {
    if (last_ && count > last_->count) {
      seconds_per_count_ = (time_s - last_->time_s) / (count - last_->count);
    }
    last_ = {count, time_s};
  }
  /// A line with such a result. `count`: its counter, if it tells one. Seconds of the evaluation,
  /// if it is longer than two steps: a line that repeats an old result took none.
  std::optional<double> on_evaluated(std::optional<double> count, double time_s) {
    if (!last_ || !seconds_per_count_) return std::nullopt;
    const double steps = count ? std::max(0.0, *count - last_->count) : 0.0;
    const double seconds = time_s - last_->time_s - steps * *seconds_per_count_;
    const double least_s = std::max(2.0, 0.5 * steps) * *seconds_per_count_;
    last_ = {last_->count + steps, time_s};
    return seconds > least_s ? std::optional(seconds) : std::nullopt;
  }

 private:
  struct Told {
    double count = 0.0;
    double time_s = 0.0;
  };
  std::optional<Told> last_;
  std::optional<double> seconds_per_count_;
};

/// `test`, `val` of a line about something else than training, else empty: as it begins, or where
/// MMEngine (`Epoch(val) [1][ 20/313]`) and fairseq (`| valid on 'valid' subset |`) say so.
std::string phase_of(std::string_view line) {
  static const re2::RE2 k_regex(
      R"((?i)^\s*(test|val|valid|validation|eval|evaluation|evaluating)\b)"
      R"(|\b(?:epoch|iter)\((val|test)\)|\| (valid) on ')",
      re2::RE2::Quiet);
  std::array<re2::StringPiece, 3> words;
  if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), k_regex, &words[0],
                              &words[1], &words[2])) {
    return {};
  }
  for (const re2::StringPiece& word : words) {
    if (!word.empty()) return metric_name({word.data(), word.size()});
  }
  return {};
}

class KeyValuePreset final : public Preset {
 public:
  KeyValuePreset() {
    for (const Heading& heading : k_headings) {
      headings_.push_back(std::make_unique<re2::RE2>(heading.pattern, re2::RE2::Quiet));
    }
  }

  void read(std::string_view line, Report& report) override {
    // A counter in a message is that of the step before; what the program prints in front is its
    // own.
    const auto message = phase_message(line);
    read_line(message ? line.substr(0, message->at) : line, report);
    if (!message || report.phase) return;
    bars_.read(*message, report);
    note_phase(report);
  }

  [[nodiscard]] std::optional<std::string> counter_fault() const override {
    if (!steps_.several_writers() && !samples_.several_writers()) return std::nullopt;
    return several_writers_fault(steps_.several_writers() ? "step" : "samples");
  }

  [[nodiscard]] std::optional<std::string> counter_note() const override {
    return uncounted_note(steps_.uncounted_share(), samples_.uncounted_share());
  }

 private:
  void read_line(std::string_view line, Report& report) {
    const std::string phase = phase_of(line);
    const bool heading = phase.empty() && read_heading(line, report);
    const std::vector<NumberPair> pairs = number_pairs(line);
    if (!heading) note_epoch(pairs);
    for (const NumberPair& pair : pairs) {
      std::string name = metric_name(pair.name);
      if (name == "train_epoch") name = "epoch";
      if (const auto counter = counter_name(name)) {
        if (phase.empty() && !heading) read_counter(pair, name, *counter, report);
      } else if (pair.scaled) {
        continue;
      } else if (name.starts_with(phase)) {
        set_metric(report, name, pair.value);
      } else {
        set_metric(report, phase + "_" + name, pair.value);
      }
    }
    if (phase.empty()) {
      read_phase(report);
    } else {
      read_phase_line(line, phase, report);
    }
  }
  void read_phase(Report& report) {
    const auto count = report.step ? report.step : report.samples;
    bool evaluated = false;
    for (const auto& [name, value] : report.metrics) {
      evaluated = evaluated || is_evaluated(name);
      auto phase = timed_phase(name);
      if (phase && value > 0.0) report.phase = PhaseReport{*std::move(phase), value};
    }
    if (evaluated) return end_evaluation("evaluation", count, report);
    if (!count) return;
    gap_.on_training(*count, report.received_s);
    bars_.on_training(*count);
  }
  /// `Test: [ 10/196] Loss 0.5`, `Evaluating iter 10/100` are on their way; `Test set: Average
  /// loss: 0.5` is a result.
  void read_phase_line(std::string_view line, const std::string& heading, Report& report) {
    static const re2::RE2 k_regex(
        R"((?:(?:^[^\[]{0,40}|\((?:val|test)\)\s*(?:\[\d+\]\s*)?)\[|^\s*Evaluating iter ))"
        R"(\s*(\d{1,15})/(\d{1,15})\b)",
        re2::RE2::Quiet);
    const std::string name = phase_of_description(heading).value_or(heading);
    double done = 0.0, total = 0.0;
    const bool on_its_way =
        re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), k_regex, &done, &total);
    const bool result = !report.metrics.empty() && (!on_its_way || done >= total);
    if (on_its_way) {
      bars_.read(name, done, total, report);
    } else if (result) {
      bars_.end(name, report);
    }
    if (report.phase) return note_phase(report);
    if (result) end_evaluation(name, std::nullopt, report);
  }
  /// What a phase took that told its own end is in no later gap.
  void note_phase(const Report& report) {
    if (report.phase && report.phase->seconds) gap_.on_evaluated(std::nullopt, report.received_s);
  }
  void end_evaluation(const std::string& name, std::optional<double> count, Report& report) {
    const auto seconds = gap_.on_evaluated(count, report.received_s);
    // The pause belongs to the phase that began in it.
    if (seconds && !report.phase && !bars_.under_way()) report.phase = PhaseReport{name, *seconds};
  }

  bool read_heading(std::string_view line, Report& report) {
    const re2::StringPiece text(line.data(), line.size());
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      re2::StringPiece epoch;
      double done = 0.0, total = 0.0;
      if (!re2::RE2::PartialMatch(text, *headings_[i], &epoch, &done, &total)) continue;
      const Count count{done, total, parse_finite({epoch.data(), epoch.size()}),
                        /*per_epoch=*/!epoch.empty()};
      const bool samples = k_headings[i].samples;
      (samples ? report.samples : report.step) =
          (samples ? heading_samples_ : heading_steps_).add(count);
      return true;
    }
    return false;
  }
  void note_epoch(const std::vector<NumberPair>& pairs) {
    for (const NumberPair& pair : pairs) {
      const std::string name = metric_name(pair.name);
      const std::size_t folder = name.rfind('/');
      const bool is_epoch =
          contains(k_epoch_names, std::string_view(name).substr(folder + 1));  // npos + 1 is 0
      if (is_epoch && std::isfinite(pair.value)) epoch_ = std::floor(pair.value);
    }
  }
  void read_counter(const NumberPair& pair, const std::string& name, const CounterName& counter,
                    Report& report) {
    if (!pair.whole || !(pair.value >= 0.0 && pair.value <= 1e15)) return;
    const Count count{pair.value, pair.total, epoch_, /*per_epoch=*/false};
    const bool doubtful = counter.may_be_size || (counter.may_be_of_window && report.step);
    if (doubtful && !pair.total && !watched_[name].is_counter(count)) return;
    CounterSet& counters = counter.counts_samples ? samples_ : steps_;
    const auto cumulative = counters.add(name, count, counter.rank);
    if (cumulative) (counter.counts_samples ? report.samples : report.step) = cumulative;
  }

  std::vector<std::unique_ptr<re2::RE2>> headings_;
  std::map<std::string, GrowthWatch> watched_;
  CumulativeCounter heading_steps_;
  CumulativeCounter heading_samples_;
  CounterSet steps_;
  CounterSet samples_;
  std::optional<double> epoch_;
  EvaluationGap gap_;
  BarPhases bars_;
};

}  // namespace

std::unique_ptr<Preset> make_key_value_preset() {
  return std::make_unique<KeyValuePreset>();
}

}  // namespace steptune

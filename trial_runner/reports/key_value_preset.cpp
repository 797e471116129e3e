// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/bar_phases.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/counter_names.hpp"
#include "trial_runner/reports/line_heading.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/printed_table.hpp"
#include "trial_runner/reports/text_phase.hpp"

namespace steptune {
namespace {

/// Names under which programs print the current epoch, also after a prefix such as `train/`. Others
/// (`steps_per_epoch`, `max_epoch`, `best_epoch`) do not show the run's position.
constexpr std::array<std::string_view, 7> k_epoch_names{
    "epoch", "ep.", "train_epoch", "training_epoch", "cur_epoch", "global_epoch", "current_epoch"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the phase whose duration, in seconds, is the value of this name.
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

/// Measures evaluations by the time between lines. A line with an evaluation's result comes later
/// than the steps since the last line explain. The excess is the evaluation's time.
class EvaluationGap {
 public:
  /// Records a line with a training counter and without an evaluation's result.
  void on_training(double count, double time_s) {
    if (last_ && count > last_->count) {
      seconds_per_count_ = (time_s - last_->time_s) / (count - last_->count);
    }
    last_ = {count, time_s};
  }
  /// Records a line with a result, and with the counter `count` if it has one. Returns the
  /// evaluation's seconds if they exceed both the time of two steps and half the time of the steps
  /// since the last line. A smaller excess means that the line repeats an old result; then returns
  /// nullopt.
  std::optional<double> on_evaluated(std::optional<double> count, double time_s) {
    if (!last_ || !seconds_per_count_) return std::nullopt;
    const double steps = count ? std::max(0.0, *count - last_->count) : 0.0;
    const double seconds = time_s - last_->time_s - steps * *seconds_per_count_;
    const double least_s = std::max(2.0, 0.5 * steps) * *seconds_per_count_;
    last_ = {last_->count + steps, time_s};
    return seconds > least_s ? std::optional(seconds) : std::nullopt;
  }

 private:
  struct ReportedCount {
    double count = 0.0;
    double time_s = 0.0;
  };
  std::optional<ReportedCount> last_;
  std::optional<double> seconds_per_count_;
};

class KeyValuePreset final : public Preset {
 public:
  void read(std::string_view line, Report& report) override {
    // Read only the text before the message: a counter inside the message belongs to an earlier
    // step.
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

  [[nodiscard]] CountUnit unit() const override { return unit_; }

 private:
  void read_line(std::string_view line, Report& report) {
    if (const auto bar = parse_progress_bar(line)) return read_bar(*bar, report);
    // Ray Tune counts reports, and the number of steps between them is unknown.
    if (line.find("finished iteration") != line.npos) return;
    const std::string phase = phase_of(line);
    const std::vector<NumberPair> pairs = number_pairs(line);
    note_epoch(pairs);
    const auto episode = std::ranges::find_if(
        pairs, [](const NumberPair& pair) { return metric_name(pair.name) == "episode"; });
    episode_ = episode == pairs.end() ? std::nullopt : std::optional(episode->value);
    if (const auto epoch = epoch_in_brackets(line)) epoch_ = epoch;
    std::set<std::string> seen;  // if a name occurs twice, its first value counts
    for (const NumberPair& pair : pairs) {
      const bool may_count = counter_name(metric_name(pair.name)).has_value();
      if (may_count && (counts_several(pairs, pair) || is_no_position(line, pair))) continue;
      // `Epoch 5 (train)0.8s + (eval)0.4s: train loss = 0.2` names the training itself.
      const bool names_training = metric_name(pair.name).starts_with("train_");
      const std::string section =
          names_training ? std::string() : evaluation_before(line.substr(0, pair.at));
      const std::string evaluation = phase.empty() ? section : phase;
      if (seen.insert(evaluation + " " + metric_name(pair.name)).second) {
        read_pair(pair, evaluation, report);
      }
    }
    if (!phase.empty()) return read_phase_line(line, phase, report);
    if (const auto heading = line_heading(line)) {
      position_ = heading->count;
      if (heading->count.epoch) epoch_ = heading->count.epoch;
      heading_counts_samples_ = heading_counts_samples_ || heading->counts_samples;
      CounterSet& counters = heading_counts_samples_ ? samples_ : steps_;
      if (heading_counts_samples_ || !counts_parts_of_steps(heading->count, report)) {
        const auto count = counters.add("(heading)", heading->count, iteration_rank);
        if (count) (heading_counts_samples_ ? report.samples : report.step) = count;
      }
    }
    read_row(line, report);
    if (!report.step && !report.samples) read_leading(line, report);
    if (report.step || report.samples) {
      is_counted_ = true;
      unit_ = CountUnit::steps;
    } else if (!is_counted_) {
      read_share_of_run(line, report);
    }
    read_phase(report);
  }
  /// True for `start from step 1500`, `best iteration: 219` and `fps step: 37500`.
  static bool is_no_position(std::string_view line, const NumberPair& pair) {
    static const re2::RE2 k_regex(R"((?i)(?:^|\W)(?:from|until|every|best|fps|per|max)\s$)",
                                  re2::RE2::Quiet);
    const std::size_t end = pair.shortened ? line.find(' ', pair.at) + 1 : pair.at;
    return re2::RE2::PartialMatch(re2::StringPiece(line.data(), end), k_regex);
  }
  /// True for each of `Actor Steps = 825 | Learner Steps = 2`: one name for several counts.
  static bool counts_several(const std::vector<NumberPair>& pairs, const NumberPair& pair) {
    return pair.shortened && std::ranges::any_of(pairs, [&](const NumberPair& other) {
             return other.shortened && other.value != pair.value &&
                    metric_name(other.name) == metric_name(pair.name);
           });
  }
  /// Lines under a heading such as `Test Error:` or `--> EVAL PERFORMANCE` belong to it if they are
  /// indented further.
  std::string phase_of(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string phase = evaluation_of_line(line);
    if (!phase.empty()) {
      static const re2::RE2 k_heading(R"(\D*:\s*|[^a-z\d]*)", re2::RE2::Quiet);
      const re2::StringPiece text(line.data(), line.size());
      section_ = re2::RE2::FullMatch(text, k_heading) ? phase : std::string();
      section_indent_ = indent;
      return phase;
    }
    if (indent <= section_indent_ || line_heading(line)) section_.clear();
    return section_;
  }
  void read_bar(const ProgressBar& bar, Report& report) {
    const auto phase = phase_of_description(bar.description);
    if (!phase) return;
    bars_.read(*phase, bar.done, bar.total, report);
    note_phase(report);
  }
  /// `evaluation` is the prefix of an evaluation's metrics; empty for training.
  void read_pair(const NumberPair& pair, const std::string& evaluation, Report& report) {
    std::string name = metric_name(pair.name);
    if (name == "train_epoch") name = "epoch";
    if (const auto counter = counter_name(name)) {
      if (evaluation.empty()) read_counter(pair, name, *counter, report);
    } else if (!pair.scaled) {
      const bool prefixed = name.starts_with(evaluation);
      set_metric(report, prefixed ? name : evaluation + "_" + name, pair.value);
    }
  }
  void read_row(std::string_view line, Report& report) {
    const std::vector<TableCell> row = table_.read(line);
    std::vector<NumberPair> pairs;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].value) continue;
      NumberPair pair;
      pair.name = metric_name(row[i].name);
      pair.value = *row[i].value;
      pair.whole = row[i].whole;
      pairs.push_back(pair);
      if (counter_name(pair.name) || contains(k_epoch_names, pair.name)) continue;
      const std::string column = fmt::format("(column {} of {})", i, row.size());
      const Count count{pair.value, std::nullopt, std::nullopt, /*per_epoch=*/false};
      const bool may_count = row.size() > 1 && pair.whole && !row[i].is_named;
      if (may_count && is_counter(watched_[column], count)) {
        add_step(column, count, unnamed_rank, report);
      }
    }
    note_epoch(pairs);
    for (const NumberPair& pair : pairs) {
      if (!pair.name.empty()) read_pair(pair, {}, report);
    }
  }
  void read_leading(std::string_view line, Report& report) {
    auto count = leading_count(line);
    if (!count) return;
    position_ = count;
    const auto epoch = report.metrics.find("epoch");
    // `2/100 * Epoch 2 (train): loss=0.5` begins with its epoch.
    if (epoch != report.metrics.end() && epoch->second == count->value) return;
    count->epoch = epoch_;
    // The rows of a list, such as a summary of the model's layers, have other words each.
    if (leading_.size() >= k_most_counters) leading_.clear();
    if (is_counter(leading_[words_of_line(line)], *count)) {
      add_step("(leading)", *count, unnamed_rank, report);
    }
  }
  /// Reports epochs or percent if the output has no other counter. They are reported as samples,
  /// because the batch size does not change the amount of training in an epoch.
  void read_share_of_run(std::string_view line, Report& report) {
    if (const auto percent = percent_of_run(line)) {
      const Count count{*percent, std::nullopt, std::nullopt, /*per_epoch=*/false};
      if (!watched_["(percent)"].is_counter(count)) return;
      unit_ = CountUnit::percent;
      report.samples = percent;
    } else if (epoch_ && unit_ != CountUnit::percent) {
      const bool is_new = reported_epoch_ && *epoch_ > *reported_epoch_;
      if (!reported_epoch_ || is_new) reported_epoch_ = epoch_;
      if (!is_new || std::exchange(awaits_counter_, false)) return;
      unit_ = CountUnit::epochs;
      report.samples = epoch_;
    }
  }
  /// True for `[Epoch 3 3360/3668][Iteration 96]`, whose iterations advance far more slowly than
  /// the heading. The first such line reports no step, because its number may be an outer loop's.
  bool counts_parts_of_steps(const Count& heading, Report& report) {
    if (heading_counts_parts_ || !report.step || heading.value <= 2.0 * *report.step) {
      return heading_counts_parts_;
    }
    const double step = *report.step;
    const auto before = std::exchange(step_beside_heading_, step);
    if (!before) report.step.reset();
    heading_counts_parts_ = before && step > *before;
    return heading_counts_parts_ || !before;
  }
  bool is_counter(GrowthWatch& watch, const Count& count) {
    const bool counts = watch.is_counter(count);
    if (!counts && watch.is_growing()) awaits_counter_ = true;
    return counts;
  }
  void add_step(const std::string& key, const Count& count, int rank, Report& report) {
    if (const auto step = steps_.add(key, count, rank)) report.step = step;
  }
  void read_phase(Report& report) {
    const auto count = report.step ? report.step : report.samples;
    bool evaluated = false;
    for (const auto& [name, value] : report.metrics) {
      evaluated = evaluated || is_evaluation_name(name);
      auto phase = timed_phase(name);
      if (phase && value > 0.0) report.phase = PhaseReport{*std::move(phase), value};
    }
    if (evaluated) return end_evaluation("evaluation", count, report);
    if (!count) return;
    gap_.on_training(*count, report.received_s);
    bars_.on_training(*count);
  }
  /// `Test: [ 10/196] Loss 0.5` and `Evaluating iter 10/100` are progress. `Test set: Average loss:
  /// 0.5` is a result, and so is `[300/9000] valid loss: 0.5` at the training's position.
  void read_phase_line(std::string_view line, const std::string& heading, Report& report) {
    static const re2::RE2 k_regex(
        R"((?:(?:^[^\[]{0,40}|\((?:val|test)\)\s*(?:\[\d+\]\s*)?|(?i:\b(?:test|val|eval):?\s*))\[)"
        R"(|(?i:\b(?:done|batch|iter|step)[\s=:]+)))"
        R"(\s*(\d{1,15})/(\d{1,15})\b)",
        re2::RE2::Quiet);
    const std::string name = phase_of_description(heading).value_or(heading);
    double done = 0.0, total = 0.0;
    const bool has_fraction =
        re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), k_regex, &done, &total);
    const bool is_of_training = position_ && position_->value == done && position_->total == total;
    const bool on_its_way = has_fraction && !is_of_training;
    const bool has_number = line.find_first_of("0123456789") != line.npos;
    const bool result = has_number && (!on_its_way || done >= total);
    if (on_its_way) {
      bars_.read(name, done, total, report);
    } else if (result) {
      bars_.end(name, report);
    }
    if (report.phase) return note_phase(report);
    if (result) end_evaluation(name, std::nullopt, report);
  }
  /// If a phase has reported its own duration, the next gap starts after it.
  void note_phase(const Report& report) {
    if (report.phase && report.phase->seconds) gap_.on_evaluated(std::nullopt, report.received_s);
  }
  void end_evaluation(const std::string& name, std::optional<double> count, Report& report) {
    const auto seconds = gap_.on_evaluated(count, report.received_s);
    // If a phase began in the gap, the time belongs to that phase.
    if (seconds && !report.phase && !bars_.under_way())
      report.phase = PhaseReport{name, *seconds, /*by_receipt=*/true};
  }

  void note_epoch(const std::vector<NumberPair>& pairs) {
    for (const NumberPair& pair : pairs) {
      const std::string name = metric_name(pair.name);
      const std::size_t folder = name.rfind('/');
      const bool is_epoch =
          contains(k_epoch_names, std::string_view(name).substr(folder + 1));  // npos + 1 is 0
      if (is_epoch && pair.whole) epoch_ = pair.value;
    }
  }
  void read_counter(const NumberPair& pair, const std::string& name, const CounterName& counter,
                    Report& report) {
    if (!pair.whole || !(pair.value >= 0.0 && pair.value <= 1e15)) return;
    const Count count{pair.value, pair.total, epoch_, /*per_epoch=*/false};
    // `Total steps: 98304` below `Learning iteration 1/1500` counts steps of environments.
    const bool is_of_environments =
        name == "total_steps" && position_ && pair.value > 100.0 * (position_->value + 1.0);
    const bool counts_samples = counter.counts_samples || is_of_environments;
    CounterSet& counters = counts_samples ? samples_ : steps_;
    // `Episode 3 steps 150` is the length of the episode.
    const bool may_be_length =
        episode_ && name != "episode" && (counter.rank < update_rank || counter.may_be_size);
    const std::string key = may_be_length ? name + " of episode" : name;
    if (may_be_length && !watched_[key].is_no_length({pair.value, pair.total, episode_, false})) {
      return counters.forget(key);
    }
    if (pair.total && !watched_[name + "/"].may_be_position(count)) return;
    if (pair.total) position_ = count;
    const bool doubtful = counter.may_be_size || (counter.may_be_of_window && report.step);
    if (doubtful && !is_counter(watched_[name], count)) return;
    const auto cumulative = counters.add(key, count, counter.rank);
    if (cumulative) (counts_samples ? report.samples : report.step) = cumulative;
  }

  std::map<std::string, GrowthWatch> watched_;
  std::map<std::string, GrowthWatch> leading_;  ///< by the words of the line
  CounterSet steps_;
  CounterSet samples_;
  PrintedTable table_;
  std::optional<double> epoch_;
  std::optional<double> reported_epoch_;
  /// True if a number has grown since the last epoch and may turn out to be a counter. Epochs are
  /// then not reported, because a trial cannot change from epochs to steps.
  bool awaits_counter_ = false;
  CountUnit unit_ = CountUnit::steps;
  bool is_counted_ = false;  ///< steps or samples were reported
  /// True if a heading has counted samples. All headings then count samples, since not every line
  /// shows its unit.
  bool heading_counts_samples_ = false;
  /// The heading counts parts of the steps that are named in its line.
  bool heading_counts_parts_ = false;
  std::optional<double> step_beside_heading_;
  std::optional<Count> position_;  ///< latest count of the training as printed, `12/100`
  std::optional<double> episode_;  ///< number of the line's episode
  std::string section_;            ///< evaluation under whose heading the line stands
  std::size_t section_indent_ = 0;
  EvaluationGap gap_;
  BarPhases bars_;
};

}  // namespace

std::unique_ptr<Preset> make_key_value_preset() {
  return std::make_unique<KeyValuePreset>();
}

}  // namespace steptune

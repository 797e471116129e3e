// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/clock.hpp"
#include "common/text.hpp"
#include "tuner/init/guess_parts.hpp"
#include "tuner/init/planned_length.hpp"
#include "tuner/init/usual_knobs.hpp"
#include "tuner/knobs/draft_defaults.hpp"
#include "tuner/study/counted_steps.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Epochs or percent of the run before the guard is checked: a trial covers only a few of them.
constexpr double k_guard_shares = 3.0;
/// Factor by which `probe` raises the batch size, if its range allows. The effect should exceed the
/// noise.
constexpr std::int64_t k_probe = 4;

const std::vector<std::string> k_samples = {"samples",           "num_samples", "train_samples",
                                            "max_train_samples", "n_samples",   "dataset_size",
                                            "num_images",        "images",      "train_size"};
const std::vector<std::string> k_batches = {"batch_size", "train_batch_size", "batchsize"};
const std::vector<std::string> k_accumulations = {"gradient_accumulation_steps", "accumulate",
                                                  "accumulation_steps", "accum_iter"};
const std::vector<std::string> k_data = {"data",      "data_path",   "data_dir",
                                         "train_dir", "dataset_dir", "data_root"};

struct CurrentValue {
  std::string option;
  std::string value;
  std::string from;
};

/// Returns today's value of the first of these options that has one.
std::optional<CurrentValue> current_value(const ProgramFacts& program,
                                          const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const ProgramOption* option = find_option(program.options, name);
    // Skip an option that concerns another use of the program.
    if (option == nullptr || !program.missing_for(*option).empty()) continue;
    if (const auto today = program.today(*option)) {
      return CurrentValue{option->name, today->value, today->from};
    }
  }
  for (const NamedConfig& config : program.configs) {
    for (const std::string& name : names) {
      const ProgramOption* setting = find_option(config.settings, name);
      if (setting != nullptr)
        return CurrentValue{setting->name, *setting->default_value, config.name};
    }
  }
  return std::nullopt;
}

std::optional<double> positive(const std::optional<CurrentValue>& given) {
  if (!given) return std::nullopt;
  const auto number = parse_finite(given->value);
  return number && *number > 0.0 ? number : std::nullopt;
}

/// Returns the length of the run as a study file states it: a whole number of at least 1.
std::int64_t whole_count(double length) {
  return static_cast<std::int64_t>(std::max(1.0, std::round(length)));
}

/// Returns `--epochs 14 (the command)`.
std::string number_text(const CurrentNumber& given) {
  return fmt::format("{} {} ({})", given.option, count_text(given.number),
                     given.from.empty() ? "the command" : given.from);
}

/// Counts the images and sounds below a folder, or below its `train` folder if it has one. Returns
/// nullopt if counting takes too long.
std::optional<double> files_of_data(const fs::path& folder,
                                    const std::function<bool()>& interrupted) {
  static const std::array<std::string, 8> k_kinds = {".jpg", ".jpeg", ".png",  ".webp",
                                                     ".wav", ".flac", ".JPEG", ".JPG"};
  std::error_code error;
  const fs::path train = folder / "train";
  const fs::path top = fs::is_directory(train, error) ? train : folder;
  std::size_t count = 0;
  fs::recursive_directory_iterator entry(top, fs::directory_options::skip_permission_denied, error);
  const SystemClock clock;
  const double give_up_s = clock.now_s() + 5.0;
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (clock.now_s() >= give_up_s) return std::nullopt;
    if (interrupted && interrupted()) return std::nullopt;
    const std::string kind = entry->path().extension().string();
    count += std::ranges::find(k_kinds, kind) != k_kinds.end() ? 1U : 0U;
  }
  if (count == 0) return std::nullopt;
  return static_cast<double>(count);
}

class Goal {
 public:
  Goal(const GuessInput& input, StudyGuess& guess) : input_(input), guess_(guess) {}

  void plan() {
    if (counts_shares()) return plan_in_own_unit();
    const auto [formula, today] = step_size();
    if (!formula.is_null()) guess_.document["planned_run"]["batch_size"] = formula;
    if (formula.is_null() && counts_by_steps()) {
      unit_ = "steps";
      guess_.document["unit"] = unit_;
    }
    if (const auto planned = planned_samples(today)) {
      const std::int64_t samples = whole_count(*planned);
      guess_.document["planned_run"]["samples"] = samples;
      guess_.notes.push_back(fmt::format("planned run of {} {}: {}", samples, unit_, why_));
      guess_.comments["/planned_run"] = why_;
    } else {
      guess_.notes.push_back(fmt::format(
          "planned run not known: times are per million {}; give \"samples\" in the file", unit_));
    }
    for (const std::string& note : {disagreement_, counts_}) {
      if (!note.empty()) guess_.notes.push_back(note);
    }
  }

  /// Adds a trial that changes only the batch size. A program that reports only steps may ignore
  /// its batch size, and this trial shows whether it has an effect.
  void probe() {
    const std::string batch = guess_.parameter_of("batch");
    const bool reports_samples = input_.survey || seen_samples_per_step(input_) || counts_shares();
    const Json& baseline = guess_.document["baseline"];
    if (batch.empty() || varies("accumulation") || reports_samples || !baseline.contains(batch)) {
      return;
    }
    const Json& declared = guess_.document["parameters"][batch];
    const auto high = declared.contains("high") && declared["high"].is_number()
                          ? declared["high"].get<std::int64_t>()
                          : std::int64_t{0};
    Json other = baseline;
    other[batch] = std::min(high, k_probe * baseline[batch].get<std::int64_t>());
    if (other[batch].get<std::int64_t>() <= baseline[batch].get<std::int64_t>()) return;
    guess_.document["try"] = Json::array({std::move(other)});
    guess_.comments["/try"] = "shows whether the batch size alone has an effect";
  }

  void reports() {
    Json& document = guess_.document;
    const Json published = input_.space == nullptr ? Json() : input_.space->reports;
    if (input_.reading && published.is_null()) {
      const OutputFormat& format = input_.reading->format;
      if (!format.reports.is_null()) document["reports"] = format.reports;
      guess_.notes.push_back(fmt::format("output read by {}, seen in its output", format.name));
      guess_.comments["/reports"] = "seen in its output";
    } else if (!published.is_null()) {
      document["reports"] = published;
      guess_.notes.push_back(fmt::format("output read as {} prints it", input_.space->title));
      guess_.comments["/reports"] = fmt::format("as {} prints", input_.space->title);
    } else if (input_.survey) {
      guess_.notes.emplace_back("steps reported by the Python hook");
    } else {
      guess_.notes.emplace_back(
          "how it reports progress is not known: give \"reports\" (docs/reporting.md)");
    }
  }

  void guard() {
    if (!varies("batch") && !varies("precision")) return;
    const std::string loss = known_loss(input_);
    if (loss.empty()) return;
    const double samples = std::max(1.0, samples_per_step_);
    const double after =
        counts_shares() ? k_guard_shares : std::max(1000.0, k_guard_steps * samples);
    guess_.document["guards"] =
        Json::array({{{"metric", loss},
                      {"after_samples", static_cast<std::int64_t>(std::round(after))},
                      {"max_ratio_to_baseline", k_guard_ratio}}});
    guess_.comments["/guards"] = "batch size and precision change what is learnt";
  }

  void buffers() {
    if (!varies("workers")) return;
    const std::string workers = guess_.parameter_of("workers");
    guess_.document["measure"]["buffers"] =
        varies("prefetch") ? fmt::format("{} * {}", workers, guess_.parameter_of("prefetch"))
                           : fmt::format("2 * {}", workers);
  }

 private:
  /// True if the study counts epochs, percent or boosting rounds. A hook counts steps, and so do
  /// the published reports of a trainer.
  [[nodiscard]] bool counts_shares() const {
    if (!input_.reading || input_.survey) return false;
    const bool published = input_.space != nullptr && !input_.space->reports.is_null();
    if (published && input_.reading->unit != CountUnit::steps) return false;
    return input_.reading->counts_shares();
  }
  /// Plans a run in epochs, percent or boosting rounds. Their number of samples does not depend on
  /// the batch size.
  void plan_in_own_unit() {
    const CountUnit unit = input_.reading->unit;
    const RunLength length = length_of_run();
    const auto& given = unit == CountUnit::epochs ? length.epochs : length.steps;
    std::int64_t counts = unit == CountUnit::percent ? 100 : 1;
    why_ = unit == CountUnit::percent ? "the program reports its progress in percent"
                                      : "the length of the long run is not known";
    if (unit != CountUnit::percent && given) {
      counts = whole_count(given->number);
      why_ = number_text(*given);
    }
    guess_.document["planned_run"]["samples"] = counts;
    guess_.document["unit"] = input_.reading->unit_name();
    guess_.notes.push_back(
        fmt::format("planned run of {} {}: {}", counts, input_.reading->unit_name(), why_));
    guess_.comments["/planned_run"] =
        fmt::format("each of the {} counts as a sample: {}", input_.reading->unit_name(), why_);
  }
  [[nodiscard]] bool varies(const std::string& role) const {
    return !guess_.parameter_of(role).empty();
  }

  /// Returns the samples of an optimizer step: first the number or formula for the study file, then
  /// today's number.
  std::pair<Json, std::optional<double>> step_size() {
    std::string formula;
    double today = 1.0;
    for (const char* role : {"batch", "accumulation"}) {
      const std::string parameter = guess_.parameter_of(role);
      if (parameter.empty() || !guess_.document["baseline"].contains(parameter)) continue;
      formula += (formula.empty() ? "" : " * ") + parameter;
      today *= guess_.document["baseline"][parameter].get<double>();
    }
    const std::optional<double> seen = seen_samples_per_step(input_);
    const std::string option = input_.space == nullptr ? "" : input_.space->step_size;
    auto given = option.empty() ? std::nullopt
                                : positive(current_value(input_.program, {plain_name(option)}));
    if (input_.space == nullptr) {
      if (const auto step = usual_knobs(input_.program).step) given = step->samples;
    }
    if (!varies("batch")) {
      if (given) {
        samples_per_step_ = *given;
        return {*given, given};
      }
      const auto known = seen ? seen : batch_of_step();
      if (seen)
        compare_counts(*seen, positive(current_value(input_.program, k_batches)), "batch size");
      if (known) samples_per_step_ = *known;
      return {known ? Json(static_cast<std::int64_t>(std::round(*known))) : Json(), known};
    }
    if (seen) compare_counts(*seen, today, formula);
    // The program may count tokens as samples, or run a step on several devices. Its count is then
    // a multiple of today's batch.
    if (const auto whole = given ? given : seen) {
      const double times = std::round(*whole / today);
      if (times >= 2.0 && std::abs(*whole / today - times) < 1e-3 * times) {
        formula = fmt::format("{} * {:.0f}", formula, times);
        today *= times;
      }
    }
    samples_per_step_ = today;
    return {formula, today};
  }

  /// Records a note if the program's count differs from its options.
  void compare_counts(double seen, const std::optional<double>& options, const std::string& what) {
    if (!options || std::abs(seen / *options - 1.0) <= k_same_count) return;
    counts_ = fmt::format(
        "the program counts {} samples a step, its {} says {}: the program's count is used",
        count_text(seen), what, count_text(*options));
  }

  [[nodiscard]] bool counts_steps_alone() const {
    return input_.reading && !input_.reading->reports_samples;
  }

  /// True if the study counts only steps: there is neither a hook nor a published report.
  [[nodiscard]] bool counts_by_steps() const {
    const bool published = input_.space != nullptr && !input_.space->reports.is_null();
    return counts_steps_alone() && !input_.survey && !published;
  }

  /// Returns today's batch size of a program that reports only steps. Returns nullopt if it is
  /// unknown, or if a step has several batches.
  [[nodiscard]] std::optional<double> batch_of_step() const {
    if (!counts_steps_alone()) return std::nullopt;
    const auto accumulation = positive(current_value(input_.program, k_accumulations));
    if (accumulation && *accumulation > 1.0)
      return std::nullopt;  // a count may mean batches or optimizer steps
    return positive(current_value(input_.program, k_batches));
  }

  /// Returns the length of the run. For a known trainer, uses that trainer's own options.
  [[nodiscard]] RunLength length_of_run() const {
    RunLength length = run_length(input_.program);
    const auto own = [&](const std::string& option) {
      const auto given = current_value(input_.program, {plain_name(option)});
      const auto number = given ? length_number(given->value) : std::nullopt;
      return number ? std::optional(CurrentNumber{given->option, *number, given->from})
                    : std::nullopt;
    };
    if (input_.space != nullptr && !input_.space->steps.empty()) {
      length.steps = own(input_.space->steps);
    }
    if (input_.space != nullptr && !input_.space->epochs.empty()) {
      length.epochs = own(input_.space->epochs);
    }
    return length;
  }

  std::optional<double> planned_samples(const std::optional<double>& per_step) {
    const RunLength length = length_of_run();
    disagreement_ = length.disagreement;
    if (length.steps && per_step) {
      why_ = fmt::format("{} of {} samples", number_text(*length.steps), count_text(*per_step));
      return length.steps->number * *per_step;
    }
    if (length.steps && !varies("batch")) {
      // Without known samples a step counts as one sample (docs/study-file.md, planned_run).
      why_ = number_text(*length.steps) + (unit_ == "steps" ? "" : ", each counted as a sample");
      return length.steps->number;
    }
    // The number of data samples is useless if the study counts steps of unknown size.
    if (!length.epochs || (!per_step && counts_steps_alone())) return std::nullopt;
    const auto given = current_value(input_.program, k_samples);
    std::optional<double> data = positive(given);
    std::string from = data ? fmt::format("{} {}", given->option, given->value) : "";
    if (!data && input_.survey) {
      data = samples_of_epoch(input_.survey->log);
      if (data) from = fmt::format("{} samples that its loader hands out", count_text(*data));
    }
    if (!data) {
      const auto folder = current_value(input_.program, k_data);
      if (folder && !folder->value.empty())
        data = files_of_data(input_.folder / folder->value, input_.interrupted);
      if (data) from = fmt::format("{} files below {}", count_text(*data), folder->value);
    }
    if (!data) return std::nullopt;
    why_ = fmt::format("{} of {}", number_text(*length.epochs), from);
    return length.epochs->number * *data;
  }

  const GuessInput& input_;
  StudyGuess& guess_;
  double samples_per_step_ = 1.0;
  std::string unit_ = "samples";
  std::string why_;
  std::string disagreement_;  ///< note on the length of the run
  std::string counts_;        ///< note on the samples of a step
};

}  // namespace

void guess_goal(const GuessInput& input, StudyGuess& guess) {
  Goal goal(input, guess);
  goal.plan();
  goal.guard();
  goal.reports();
  goal.buffers();
  goal.probe();
}

}  // namespace steptune

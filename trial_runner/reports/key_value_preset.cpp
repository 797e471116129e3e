// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <re2/re2.h>

#include "common/text.hpp"
#include "trial_runner/reports/counter.hpp"
#include "trial_runner/reports/number_pairs.hpp"
#include "trial_runner/reports/preset.hpp"

namespace steptune {
namespace {

constexpr std::array<std::string_view, 10> k_step_names{
    "step",        "global_step", "train_step",  "iter",  "iteration",
    "global_iter", "update",      "num_updates", "batch", "minibatch"};
constexpr std::array<std::string_view, 10> k_sample_names{
    "samples",       "consumed_samples", "seen_samples", "samples_seen", "total_samples",
    "train_samples", "examples",         "images",       "num_samples",  "consumed_train_samples"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Heading {
  const char* pattern;
  bool samples;  ///< the counter counts samples, not steps
};
// What the examples of PyTorch, OpenMMLab and timm print, and what was copied from them ten
// thousand times: epoch and counter stand in brackets, without a name.
constexpr std::array<Heading, 4> k_headings{{
    {R"(Train Epoch:? ?(\d{1,9})\s*\[\s*(\d{1,15})/(\d{1,15}) \()", true},
    {R"(Epoch(?:\(train\))?:?\s*\[(\d{1,9})\]\s*\[\s*(\d{1,15})/(\d{1,15})\])", false},
    {R"(^\s*Train: (\d{1,9}) \[\s*(\d{1,15})/(\d{1,15}) )", false},
    {R"(Epoch \[(\d{1,9})/\d{1,9}\],? ?(?:Step|Iter|Batch):? ?\[(\d{1,15})/(\d{1,15})\])", false},
}};

/// `test`, `val` of a line about something else than training, else empty.
std::string phase_of(std::string_view line) {
  static const re2::RE2 k_regex(R"((?i)^\s*(test|val|valid|validation|eval|evaluation)\b)",
                                re2::RE2::Quiet);
  re2::StringPiece word;
  if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), k_regex, &word))
    return {};
  return metric_name({word.data(), word.size()});
}

class KeyValuePreset final : public Preset {
 public:
  KeyValuePreset() {
    for (const Heading& heading : k_headings) {
      headings_.push_back(std::make_unique<re2::RE2>(heading.pattern, re2::RE2::Quiet));
    }
  }

  void read(std::string_view line, Report& report) override {
    const std::string phase = phase_of(line);
    const bool heading = phase.empty() && read_heading(line, report);
    const std::vector<NumberPair> pairs = number_pairs(line);
    if (!heading) note_epoch(pairs);
    for (const NumberPair& pair : pairs) {
      std::string name = metric_name(pair.name);
      if (name == "train_epoch") name = "epoch";
      const bool step = contains(k_step_names, name);
      if (step || contains(k_sample_names, name)) {
        if (phase.empty() && !heading) read_counter(pair, name, step, report);
      } else if (name.starts_with(phase)) {
        set_metric(report, name, pair.value);
      } else {
        set_metric(report, phase + "_" + name, pair.value);
      }
    }
  }

 private:
  bool read_heading(std::string_view line, Report& report) {
    const re2::StringPiece text(line.data(), line.size());
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      double epoch = 0.0, done = 0.0, total = 0.0;
      if (!re2::RE2::PartialMatch(text, *headings_[i], &epoch, &done, &total)) continue;
      const Count count{done, total, epoch, /*per_epoch=*/true};
      const bool samples = k_headings[i].samples;
      (samples ? report.samples : report.step) =
          (samples ? heading_samples_ : heading_steps_).add(count);
      return true;
    }
    return false;
  }
  void note_epoch(const std::vector<NumberPair>& pairs) {
    for (const NumberPair& pair : pairs) {
      if (metric_name(pair.name).ends_with("epoch") && std::isfinite(pair.value)) {
        epoch_ = std::floor(pair.value);
      }
    }
  }
  void read_counter(const NumberPair& pair, const std::string& name, bool step, Report& report) {
    if (!(pair.value >= 0.0 && pair.value <= 1e15)) return;
    const Count count{pair.value, pair.total, epoch_, /*per_epoch=*/false};
    const auto cumulative = (step ? steps_ : samples_).add(name, count);
    if (cumulative) (step ? report.step : report.samples) = cumulative;
  }

  std::vector<std::unique_ptr<re2::RE2>> headings_;
  CumulativeCounter heading_steps_;
  CumulativeCounter heading_samples_;
  CounterSet steps_;
  CounterSet samples_;
  std::optional<double> epoch_;
};

}  // namespace

std::unique_ptr<Preset> make_key_value_preset() {
  return std::make_unique<KeyValuePreset>();
}

}  // namespace steptune

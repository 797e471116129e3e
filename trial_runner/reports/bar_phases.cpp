// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/bar_phases.hpp"

#include <array>
#include <memory>

#include <re2/re2.h>

namespace steptune {
namespace {

struct PhaseWords {
  const char* name;
  const char* pattern;
};
constexpr std::array<PhaseWords, 5> k_words{{
    {"evaluation", R"((?i)\b(?:val|valid|validat\w*|eval|evaluat\w*|dev)\b)"
                   R"(|\bClass\s+Images\s+(?:Instances|Labels|Targets)\b)"
                   R"(|\b(?:calculating|computing|estimating) (?:\w+ )?loss\b)"},
    {"test", R"((?i)\b(test|testing)\b)"},
    {"prediction", R"((?i)\bpredict\w*\b)"},
    {"generation", R"((?i)\bgenerat\w*\b)"},
    {"checkpoint", R"((?i)\b(checkpoint\w*|saving)\b)"},
}};

// Messages of the Trainer, Accelerate, Lightning, MMEngine, fairseq, Megatron-LM and nanoGPT.
constexpr const char* k_saving =
    R"((?i)\bsaving (?:the |current |best |latest |last |model |training )*)"
    R"((?:checkpoint|model|state|weights)\b (?:to|at|in)\b|\bpreparing to save checkpoint\b)";
constexpr const char* k_saved =
    R"((?i)\bsuccessfully saved checkpoint\b|\bsaved checkpoint\b.* took )";
constexpr const char* k_evaluating =
    R"((?i)\bbegin (?:validation|evaluation) on\b|\*\*\* running (?:evaluation|validation) \*\*\*)"
    R"(|\b(?:computing|running|starting) (?:the )?(?:validation|evaluation)\b\D*$)"
    R"(|^\W*(?:evaluating|validating)\b\D*$)";

/// Returns the position of the words in the line.
std::optional<std::size_t> place_of(const re2::RE2& words, std::string_view line) {
  re2::StringPiece found;
  const re2::StringPiece text(line.data(), line.size());
  if (!words.Match(text, 0, text.size(), re2::RE2::UNANCHORED, &found, 1)) return std::nullopt;
  return static_cast<std::size_t>(found.data() - line.data());
}

}  // namespace

std::optional<PhaseMessage> phase_message(std::string_view line) {
  static const re2::RE2 k_saving_regex(k_saving, re2::RE2::Quiet);
  static const re2::RE2 k_saved_regex(k_saved, re2::RE2::Quiet);
  static const re2::RE2 k_evaluating_regex(k_evaluating, re2::RE2::Quiet);
  if (const auto at = place_of(k_saved_regex, line)) return PhaseMessage{"checkpoint", true, *at};
  if (const auto at = place_of(k_saving_regex, line)) return PhaseMessage{"checkpoint", false, *at};
  if (const auto at = place_of(k_evaluating_regex, line)) {
    return PhaseMessage{"evaluation", false, *at};
  }
  return std::nullopt;
}

std::optional<std::string> phase_of_description(std::string_view description) {
  static const auto k_regexes = [] {
    std::array<std::unique_ptr<re2::RE2>, k_words.size()> regexes;
    for (std::size_t i = 0; i < k_words.size(); ++i)
      regexes[i] = std::make_unique<re2::RE2>(k_words[i].pattern, re2::RE2::Quiet);
    return regexes;
  }();
  const re2::StringPiece text(description.data(), description.size());
  for (std::size_t i = 0; i < k_words.size(); ++i) {
    if (re2::RE2::PartialMatch(text, *k_regexes[i])) return k_words[i].name;
  }
  return std::nullopt;
}

void BarPhases::read(const std::string& name, double done, std::optional<double> total,
                     Report& report) {
  if (!trained_) return;
  const bool full = total && done >= *total;
  if (name_ != name) {
    name_ = name;
    begin_s_ = report.received_s;
    full_ = full;
    if (!full) report.phase = PhaseReport{name, std::nullopt};
  } else if (!full_ && full) {
    full_ = true;
    report.phase = PhaseReport{name, report.received_s - begin_s_, /*by_receipt=*/true};
  } else if (full_ && !full) {
    full_ = false;
    begin_s_ = report.received_s;
    report.phase = PhaseReport{name, std::nullopt};
  }
}

void BarPhases::read(const PhaseMessage& message, Report& report) {
  if (!message.is_over) {
    read(message.name, 0.0, std::nullopt, report);
  } else {
    end(message.name, report);
  }
}

void BarPhases::end(const std::string& name, Report& report) {
  if (name_ != name || full_) return;
  full_ = true;
  report.phase = PhaseReport{name, report.received_s - begin_s_, /*by_receipt=*/true};
}

void BarPhases::on_training(double step) {
  trained_ = trained_ || step > 0.0;
  name_.reset();
}

void UnnamedBarPhases::on_training(double done) {
  if (done <= training_done_) return;  // drawn again without progress
  training_done_ = done;
  key_.clear();
}

void UnnamedBarPhases::on_other(const std::string& key, const ProgressBar& bar, Report& report) {
  if (training_done_ <= 0.0 || !bar.total) return;
  if (key_ != key || bar.done < last_done_) {
    key_ = key;
    begin_s_ = report.received_s;
    advances_ = 0;
  } else if (bar.done > last_done_) {
    ++advances_;
    // A bar in every step is part of the step, not a phase.
    const bool is_apart = training_done_ - counted_before_ >= 2.0;
    // A bar that is drawn only when it is full shows no duration.
    if (bar.done >= *bar.total && advances_ >= 2) {
      counted_before_ = training_done_;
      last_done_ = bar.done;
      if (!is_apart) return;
      const auto phase_name = phase_of_description(bar.description);
      report.phase = PhaseReport{phase_name.value_or("evaluation"), report.received_s - begin_s_,
                                 /*by_receipt=*/true};
    }
  }
  last_done_ = bar.done;
}

}  // namespace steptune

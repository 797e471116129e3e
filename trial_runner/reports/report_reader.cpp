// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/report_reader.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/terminal_text.hpp"
#include "common/text.hpp"
#include "trial_runner/reports/metric_regexes.hpp"
#include "trial_runner/reports/preset.hpp"

namespace steptune {
namespace {

/// True if the report contains nothing about the training's progress.
bool has_no_progress(const Report& report) {
  return !report.step && !report.samples && !report.clock_s && report.metrics.empty() &&
         report.parts.empty() && report.not_finite.empty() && !report.phase;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// Returns the line as a person sees it: without colours, cursor movements and control characters.
/// Keeps tabs, because regular expressions may match them.
std::string visible_text(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t skip = escape_sequence_length(text.substr(at)); skip > 0) {
      at += skip;
      continue;
    }
    if (!is_control(text[at]) || text[at] == '\t') visible += text[at];
    ++at;
  }
  return visible;
}

bool has_counter(const Report& report) {
  return report.step || report.samples;
}

}  // namespace

struct ReportReader::State {
  std::vector<std::unique_ptr<Preset>> presets;
  std::optional<double> samples_per_step;
  std::map<std::string, double> metrics;
  std::set<std::string> not_finite;
  bool counters_by_protocol = false;
  bool names_counter_fault = false;
  bool has_named_too_many_metrics = false;
  bool phase_under_way = false;
  std::uint64_t rejected_lines = 0;
  std::optional<Rejection> first_rejection;

  void reject(Rejection rejection) {
    ++rejected_lines;
    if (!first_rejection) first_rejection = std::move(rejection);
  }

  /// Reads one piece between carriage returns into `report`.
  void read_piece(std::string_view piece, Report& report) {
    const std::size_t document = find_steptune_document(piece);
    if (document != std::string_view::npos) {
      const std::size_t end = piece.find_last_not_of(" \t");
      const std::string_view text = piece.substr(document, end + 1 - document);
      if (is_hook_document(text)) return read_hook_event(text, report);
      auto parsed = parse_steptune_document(text);
      if (!parsed) return reject(parsed.error());
      counters_by_protocol = counters_by_protocol || has_counter(*parsed);
      return merge(*std::move(parsed), report);
    }
    if (presets.empty()) return;
    const std::string text = visible_text(piece);
    for (const auto& preset : presets) {
      Report by_preset;
      by_preset.received_s = report.received_s;
      preset->read(text, by_preset);
      if (auto fault = preset->counter_fault(); fault && !names_counter_fault) {
        names_counter_fault = true;
        reject(*std::move(fault));
      }
      if (counters_by_protocol)
        by_preset.step = by_preset.samples = by_preset.clock_s = std::nullopt;
      merge(std::move(by_preset), report);
    }
  }

  void read_hook_event(std::string_view document, Report& report) {
    auto event = parse_hook_document(document);
    if (!event) return reject(event.error());
    report.hook_events.push_back(*std::move(event));
  }

  static void merge(Report&& by_preset, Report& report) {
    if (by_preset.global_rank) report.global_rank = by_preset.global_rank;
    if (by_preset.step) report.step = by_preset.step;
    if (by_preset.samples) report.samples = by_preset.samples;
    if (by_preset.clock_s) report.clock_s = by_preset.clock_s;
    if (by_preset.phase) report.phase = std::move(by_preset.phase);
    for (auto& [name, value] : by_preset.metrics) {
      report.not_finite.erase(name);
      report.metrics.insert_or_assign(name, value);
    }
    for (const auto& name : by_preset.not_finite) {
      report.metrics.erase(name);
      report.not_finite.insert(name);
    }
    for (auto& [name, value] : by_preset.parts)
      report.parts.insert_or_assign(name, value);
  }

  [[nodiscard]] Report with_samples(Report report) const {
    if (!report.samples && report.step && samples_per_step) {
      report.samples = *report.step * *samples_per_step;
      report.samples_assumed = true;
    }
    return report;
  }

  /// Stores the line's metrics, and adds the metrics of earlier lines to the report.
  void accumulate(Report& report) {
    for (const auto& [name, value] : metrics)
      report.repeated.insert(name);
    report.repeated.insert(not_finite.begin(), not_finite.end());
    for (const auto& [name, value] : report.metrics) {
      report.repeated.erase(name);
      not_finite.erase(name);
      if (room_for(name)) metrics.insert_or_assign(name, value);
    }
    for (const auto& name : report.not_finite) {
      report.repeated.erase(name);
      if (!room_for(name)) continue;
      metrics.erase(name);
      not_finite.insert(name);
    }
    report.metrics = metrics;
    report.not_finite = not_finite;
  }
  bool room_for(const std::string& name) {
    if (metrics.contains(name) || not_finite.contains(name)) return true;
    if (metrics.size() + not_finite.size() < k_max_metrics) return true;
    if (!has_named_too_many_metrics) {
      has_named_too_many_metrics = true;
      reject(fmt::format("more than {} metrics; \"{}\" is ignored", k_max_metrics,
                         printable_line(name, 60)));
    }
    return false;
  }
};

ReportReader::ReportReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ReportReader::ReportReader(ReportReader&&) noexcept = default;
ReportReader& ReportReader::operator=(ReportReader&&) noexcept = default;
ReportReader::~ReportReader() = default;

Result<ReportReader> ReportReader::create(const ReportFormat& format) {
  auto state = std::make_unique<State>();
  if (format.preset) {
    auto preset = make_preset(*format.preset);
    if (!preset) {
      const auto names = preset_names();
      return fail(
          ErrorKind::usage,
          fmt::format("there is no metric preset \"{}\"{}", printable_line(*format.preset, 60),
                      did_you_mean(*format.preset, names)),
          {}, fmt::format("presets: {}", fmt::join(names, ", ")));
    }
    state->presets.push_back(std::move(preset));
  }
  if (!format.metrics.empty()) {
    auto regexes = make_metric_regexes(format.metrics);
    if (!regexes) return tl::unexpected(regexes.error());
    state->presets.push_back(*std::move(regexes));
  }
  if (format.samples_per_step && *format.samples_per_step > 0.0) {
    state->samples_per_step = format.samples_per_step;
  }
  return ReportReader(std::move(state));
}

std::optional<Report> ReportReader::read_line(std::string_view line, double received_s) {
  Report report;
  report.received_s = received_s;
  std::string_view rest = line.substr(0, k_max_report_line_bytes + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of("\r\n");
    if (end != 0) state_->read_piece(rest.substr(0, end), report);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (has_no_progress(report)) {
    if (report.hook_events.empty()) return std::nullopt;
    return report;
  }
  // Metrics, and the state of phases, come only from rank 0.
  if (report.global_rank.value_or(0) != 0) {
    report.metrics.clear();
    report.not_finite.clear();
    return state_->with_samples(std::move(report));
  }
  if (report.phase) {
    state_->phase_under_way = !report.phase->seconds;
  } else if (has_counter(report)) {
    state_->phase_under_way = false;
  }
  state_->accumulate(report);
  return state_->with_samples(std::move(report));
}

bool ReportReader::phase_under_way() const {
  return state_->phase_under_way;
}
CountUnit ReportReader::unit() const {
  for (const auto& preset : state_->presets) {
    if (preset->unit() != CountUnit::steps) return preset->unit();
  }
  return CountUnit::steps;
}
std::uint64_t ReportReader::rejected_lines() const {
  return state_->rejected_lines;
}
const std::optional<Rejection>& ReportReader::first_rejection() const {
  return state_->first_rejection;
}
std::string ReportReader::rejections() const {
  std::vector<std::string> texts;
  if (state_->first_rejection) {
    texts.push_back(fmt::format("faults in reports: {}; the first: {}", state_->rejected_lines,
                                *state_->first_rejection));
  }
  for (const auto& preset : state_->presets) {
    if (state_->counters_by_protocol || preset->counter_fault()) continue;
    if (auto note = preset->counter_note()) texts.push_back(*std::move(note));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace steptune

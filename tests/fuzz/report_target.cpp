// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <map>

#include "common/json.hpp"
#include "tests/fuzz/targets.hpp"
#include "trial_runner/reports/preset.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune::fuzz {
namespace {

/// Returns every shipped format of a trial's output, by name.
std::map<std::string, ReportFormat, std::less<>> shipped_formats() {
  std::map<std::string, ReportFormat, std::less<>> formats;
  for (const std::string& name : preset_names())
    formats[name].preset = name;
  for (const auto& entry :
       std::filesystem::directory_iterator(STEPTUNE_SOURCE_DIR "/configs/presets")) {
    const auto document = read_json_file(entry.path());
    require(document.has_value(), entry.path().string() + " cannot be read");
    const Json& reports = document->at("reports");
    ReportFormat& format = formats[entry.path().stem().string()];
    if (reports.contains("preset")) format.preset = reports["preset"].get<std::string>();
    for (const Json& metric : reports.value("metrics", Json::array())) {
      format.metrics.push_back(
          {metric["name"].get<std::string>(), metric["regex"].get<std::string>()});
    }
  }
  return formats;
}

void require_bounded(const Report& report) {
  for (const auto& counter : {report.step, report.samples, report.clock_s}) {
    require(!counter || (std::isfinite(*counter) && *counter >= 0.0), "a counter below 0");
  }
  require(report.metrics.size() + report.not_finite.size() <= k_max_metrics, "too many metrics");
  for (const auto& [name, value] : report.metrics) {
    require(std::isfinite(value), "a metric that is not finite: " + name);
    require(!report.not_finite.contains(name), "a metric is both finite and not finite: " + name);
  }
  for (const auto& [name, seconds] : report.parts)
    require(std::isfinite(seconds) && seconds >= 0.0, "a part below 0 s: " + name);
  if (!report.phase) return;
  require(!report.phase->name.empty() && report.phase->name.size() <= k_max_metric_name_bytes,
          "a phase without a name or with one that is too long");
  const double phase_s = report.phase->seconds.value_or(0.0);
  require(std::isfinite(phase_s) && phase_s >= 0.0, "a phase below 0 s");
}

void read_all(ReportReader& reader, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::uint64_t rejected = reader.rejected_lines();
    if (const auto report = reader.read_line(text.substr(0, end), 1.0)) require_bounded(*report);
    require(reader.rejected_lines() == rejected || reader.first_rejection().has_value(),
            "a line is refused without a reason");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

void run_report_lines(std::string_view input) {
  static const auto k_formats = shipped_formats();
  const std::size_t end = std::min(input.find('\n'), input.size());
  auto format = k_formats.find(input.substr(0, end));
  // An unknown name selects some format, so that edits of the name are not wasted.
  if (format == k_formats.end()) {
    const auto first = input.empty() ? 0U : static_cast<unsigned char>(input.front());
    format = std::next(k_formats.begin(), static_cast<std::ptrdiff_t>(first % k_formats.size()));
  }
  auto reader = ReportReader::create(format->second);
  require(reader.has_value(), reader ? "" : reader.error().text());
  read_all(*reader, input.substr(std::min(end + 1, input.size())));
}

void run_steptune_lines(std::string_view input) {
  auto reader = ReportReader::create({});
  require(reader.has_value(), reader ? "" : reader.error().text());
  read_all(*reader, input);
  const std::size_t document = find_steptune_document(input);
  if (document == std::string_view::npos) return;
  const auto report = parse_steptune_document(input.substr(document));
  if (report) {
    require_bounded(*report);
  } else {
    require(!report.error().empty(), "a refusal without a reason");
  }
}

}  // namespace steptune::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_output.hpp"

#include <string_view>
#include <utility>

#include "common/clauses.hpp"
#include "trial_runner/output/out_of_memory.hpp"

namespace steptune {

Result<JobOutput> JobOutput::create(const TrialSpec& spec) {
  if (auto reader = ReportReader::create(spec.report_format); !reader) {
    return tl::unexpected(reader.error());
  }
  auto log = LogFile::create(spec.log_path, spec.limits.log_bytes);
  if (!log) return tl::unexpected(log.error());
  return JobOutput(spec.report_format, *std::move(log));
}

std::optional<Report> JobOutput::read_line(double time_s, const LogLine& line) {
  for (const std::string_view part : {std::string_view(line.text), std::string_view("\n")}) {
    log_.write(part);
    tail_.feed(part);
  }
  auto reader = readers_.find(line.host);
  if (reader == readers_.end()) {
    // `create` has already checked the format.
    reader = readers_.emplace(line.host, ReportReader::create(format_).value()).first;
  }
  auto report = reader->second.read_line(line.text, time_s);
  if (!report) return std::nullopt;
  // Return hook events of all hosts, because they are few and concern the whole trial.
  if (!report->hook_events.empty()) return report;
  mark_progress(tail_, *report);
  if (reporting_host_.empty()) reporting_host_ = line.host;
  if (reporting_host_ != line.host && !report->global_rank) return std::nullopt;
  return report;
}

std::string JobOutput::faults() const {
  std::string text;
  for (const auto& [host, reader] : readers_) {
    text = reader.rejections();
    if (!text.empty()) break;
  }
  add_clause(text, log_.fault());
  return text;
}

bool JobOutput::phase_under_way() const {
  const auto reader = readers_.find(reporting_host_);
  return reader != readers_.end() && reader->second.phase_under_way();
}

}  // namespace steptune

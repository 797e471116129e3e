// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/unread_trial.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {
namespace {

/// Most programs report progress within this time.
constexpr double k_until_progress_s = 60.0;

/// Returns advice for people: how to read the output.
std::string remedy(const OutputLook& look) {
  if (look.unread) return unread_text(*look.unread);
  if (!look.reading) return look.ending;
  return fmt::format("{} reads its output: write \"reports\": {} into the study file",
                     look.reading->format.name, dump_json(look.reading->format.reports));
}

}  // namespace

UnreadTrial::UnreadTrial(const StudySpec& study, const Clock& clock, Say say)
    : clock_(clock),
      say_(std::move(say)),
      is_hooked_(study.hooks.python.has_value()),
      has_counters_(std::ranges::any_of(study.report_format.metrics, [](const auto& metric) {
        return metric.name == "step" || metric.name == "samples";
      })) {}

std::optional<std::string> UnreadTrial::why_unread(const std::filesystem::path& log, double run_s) {
  if (is_hooked_ || has_said_ || clock_.now_s() < next_poll_s_) return std::nullopt;
  next_poll_s_ = clock_.now_s() + 0.5;
  // Simulated and replayed trials have no log.
  std::error_code missing;
  if (!std::filesystem::exists(log, missing)) return std::nullopt;
  if (watch_ == nullptr || log != log_) {
    log_ = log;
    watch_ = std::make_unique<OutputWatch>(log, clock_, LookOptions().watch_s);
  }
  const bool is_certain = watch_->is_not_understood(HookProgress::none);
  if (!is_certain && run_s < k_until_progress_s) return std::nullopt;
  has_said_ = true;
  const OutputLook look = watch_->result({});
  say_(fmt::format("nothing that the first trial printed within {} was read as progress: {}",
                   format_duration(run_s), remedy(look)));
  if (!is_certain || has_counters_ || !look.unread) return std::nullopt;
  return fmt::format("nothing that it printed was read as progress: {}", unread_note(*look.unread));
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judge_reports.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/whole_file.hpp"

namespace steptune {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

const char* annotation_level(const JudgedCommand& command, const JudgedCommands& judged,
                             const std::vector<FailResult>& results) {
  const bool holds = std::ranges::any_of(results, [&](const FailResult& result) {
    return std::ranges::find(result.commands, command.name) != result.commands.end();
  });
  if (holds || command.verdict == CommandVerdict::failed ||
      judged.first.verdict == CommandVerdict::failed) {
    return "error";
  }
  const bool is_good =
      command.verdict == CommandVerdict::faster || command.verdict == CommandVerdict::tied;
  return is_good || !results.empty() ? "notice" : "warning";
}

/// Returns the text of a table's cell.
std::string cell(const std::string& text) {
  return replaced(printable_line(text, k_any_length), "|", "\\|");
}

std::string speed_cell(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.ratio)) return "";
  if (!std::isfinite(speed_up.low)) return fmt::format("{:.3f}", speed_up.ratio);
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", speed_up.ratio, speed_up.low, speed_up.high);
}

std::string loss_cell(const std::optional<LaunchMeans>& loss) {
  if (!loss) return "";
  return fmt::format("{:+.1f} % +-{:.1f} %", 100.0 * loss->difference, 100.0 * loss->half_width);
}

/// Values of one metric for all commands. In OpenMetrics, the lines of a metric must be together.
class MetricFamily {
 public:
  MetricFamily(std::string name, const std::string& help) : name_(std::move(name)) {
    head_ = fmt::format("# TYPE {0} gauge\n# HELP {0} {1}\n", name_, help);
  }
  void add(const std::string& command, double value) {
    if (!std::isfinite(value)) return;
    const std::string label = replaced(replaced(command, "\\", "\\\\"), "\"", "\\\"");
    lines_ += fmt::format("{}{{command=\"{}\"}} {:.4g}\n", name_, label, value);
  }
  [[nodiscard]] std::string text() const { return lines_.empty() ? "" : head_ + lines_; }

 private:
  std::string name_;
  std::string head_;
  std::string lines_;
};

Result<void> append_to(const std::filesystem::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::app);
  stream << text;
  stream.flush();
  if (stream) return {};
  return fail(ErrorKind::unavailable, "cannot be written", file.string(),
              "it is named by GITHUB_STEP_SUMMARY");
}

ExitCode exit_code_of(CommandVerdict verdict) {
  switch (verdict) {
    case CommandVerdict::faster:
      return ExitCode::ok;
    case CommandVerdict::slower:
      return ExitCode::judged_slower;
    case CommandVerdict::tied:
      return ExitCode::judged_tied;
    case CommandVerdict::undecided:
      return ExitCode::judged_undecided;
    case CommandVerdict::worse:
      return ExitCode::judged_worse;
    case CommandVerdict::failed:
      break;
  }
  return ExitCode::failure;
}

}  // namespace

ExitCode exit_code_of(const JudgedCommands& judged, const std::vector<FailResult>& results) {
  if (results.empty()) return exit_code_of(verdict_of_all(judged));
  const auto has_failed = [](const JudgedCommand& command) {
    return command.verdict == CommandVerdict::failed;
  };
  if (has_failed(judged.first) || std::ranges::any_of(judged.others, has_failed)) {
    return ExitCode::failure;
  }
  for (const CommandVerdict verdict :
       {CommandVerdict::slower, CommandVerdict::worse, CommandVerdict::undecided}) {
    const bool holds = std::ranges::any_of(results, [&](const FailResult& result) {
      return result.condition.verdict == verdict && result.holds.value_or(false);
    });
    if (holds) return exit_code_of(verdict);
  }
  return ExitCode::ok;
}

std::string github_annotations(const JudgedCommands& judged,
                               const std::vector<FailResult>& results) {
  std::string text;
  for (const JudgedCommand& command : judged.others) {
    // GitHub's runner decodes %25 to a percent sign. A sentence has no line breaks to encode.
    const std::string sentence =
        replaced(printable_line(judged_sentence(command, judged), k_any_length), "%", "%25");
    text += fmt::format("::{} title=steptune judge::{}\n",
                        annotation_level(command, judged, results), sentence);
  }
  return text;
}

std::string markdown_table(const JudgedCommands& judged) {
  std::string text = fmt::format(
      "| | verdict | times as fast as {} | loss | command |\n|---|---|---|---|---|\n| {} | {}| | | "
      "`{}` |\n",
      judged.first.name, judged.first.name,
      judged.first.verdict == CommandVerdict::failed ? "failed " : "", cell(judged.first.command));
  for (const JudgedCommand& command : judged.others) {
    text +=
        fmt::format("| {} | {} | {} | {} | `{}` |\n", command.name, to_text(*command.verdict),
                    speed_cell(command.speed_up), loss_cell(command.loss), cell(command.command));
  }
  return text + "\n";
}

std::string open_metrics(const JudgedCommands& judged) {
  MetricFamily ratio("steptune_judge_speed_up", "Times as fast as the first command");
  MetricFamily low("steptune_judge_speed_up_low", "Lower end of its 95 % interval");
  MetricFamily high("steptune_judge_speed_up_high", "Upper end of its 95 % interval");
  MetricFamily loss("steptune_judge_loss_difference", "Loss above the first command's, as a share");
  for (const JudgedCommand& command : judged.others) {
    ratio.add(command.name, command.speed_up.ratio);
    low.add(command.name, command.speed_up.low);
    high.add(command.name, command.speed_up.high);
    if (command.loss) loss.add(command.name, command.loss->difference);
  }
  return ratio.text() + low.text() + high.text() + loss.text() + "# EOF\n";
}

Result<void> report_to_pipeline(Console& console, const JudgedCommands& judged,
                                const std::vector<FailResult>& results,
                                const std::filesystem::path& report) {
  const Environment& environment = console.environment();
  if (environment("GITHUB_ACTIONS") == "true") console.message(github_annotations(judged, results));
  if (const auto summary = environment("GITHUB_STEP_SUMMARY"); summary && !summary->empty()) {
    if (auto appended = append_to(*summary, markdown_table(judged)); !appended) return appended;
  }
  return report.empty() ? Result<void>() : write_whole_file(report, open_metrics(judged));
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/report/html/html_report.hpp"
#include "tuner/report/study_report.hpp"

namespace steptune {
namespace {

struct ReportOptions {
  std::string study;
  std::string html;
};

ExitCode write_report(CommandContext& context, const ReportOptions& options) {
  const auto study = open_stored_study(context, options.study);
  if (!study) return context.console.error(study.error());
  const auto report = read_study_report(*study, study_context(context, *study));
  if (!report) return context.console.error(report.error());
  const std::string page = html_report(*report);
  if (options.html == "-") {
    context.console.result(page);
    return ExitCode::ok;
  }
  if (const auto written = write_whole_file(options.html, page); !written) {
    return context.console.error(written.error());
  }
  context.console.message(fmt::format("wrote {}", printable_line(options.html, k_any_length)));
  return ExitCode::ok;
}

}  // namespace

void add_report_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<ReportOptions>(
      program, context, "report", "Write a study as one page that opens in any browser",
      "  steptune report --html report.html\n"
      "  steptune report resnet-nightly --html - | gzip > report.html.gz",
      write_report);
  command->add_option("STUDY", options->study, "Study, by name or file [default: the latest]");
  add_value_option(*command, "--html", options->html, "FILE",
                   "File of the page, which needs no other file; -: stdout")
      ->required();
}

}  // namespace steptune

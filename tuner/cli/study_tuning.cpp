// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/study_tuning.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "trial_runner/machine_holder.hpp"
#include "tuner/cli/line_printer.hpp"
#include "tuner/cli/live_display.hpp"
#include "tuner/cli/machine_of_trials.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/terminal.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/init/unread_trial.hpp"
#include "tuner/survey/interpreter_versions.hpp"

namespace steptune {
namespace {

/// Prints once how the tuning ends after the first signal, as soon as the loop checks for signals.
class InterruptNotice {
 public:
  /// `first` is the message after the first signal, about running trials.
  InterruptNotice(const SignalFlags& flags, LinePrinter& printer, std::string first,
                  std::string continue_with)
      : flags_(flags),
        printer_(printer),
        first_(std::move(first)),
        continue_with_(std::move(continue_with)) {}

  [[nodiscard]] int operator()() {
    const int count = flags_.count();
    if (count > said_) {
      said_ = count;
      printer_.print(count == 1 ? first_text() : "stopping at once");
    }
    return count;
  }

 private:
  [[nodiscard]] std::string first_text() const {
    std::string text =
        fmt::format("{}; results are saved; press Ctrl-C again to stop at once", first_);
    if (!continue_with_.empty()) text += "\ncontinue later with: " + continue_with_;
    return text;
  }

  const SignalFlags& flags_;
  LinePrinter& printer_;
  std::string first_;
  std::string continue_with_;
  int said_ = 0;
};

}  // namespace

Result<LoopResult> tune_study(CommandContext& context, const StudyTuning& tuning,
                              const StudySpec& study, History& history, const SignalFlags& flags) {
  MachineDescription machine = machine_of_trials(study);
  machine.merge(interpreter_versions(study, context.clock, context.console.environment(),
                                     log_directory(context.database(), study.name)));
  auto parts = make_study_parts(study, context.clock);
  if (!parts) return tl::unexpected(parts.error());
  LinePrinter printer(STDERR_FILENO,
                      is_smart_terminal(STDERR_FILENO, context.console.environment()));
  LiveDisplay display(printer, context.clock, *parts->runner.clock, study, tuning.quiet);
  if (tuning.detach && !parts->runner.runner->machine_holder().holds_machines()) {
    return fail(ErrorKind::usage,
                fmt::format("trials of runner \"{}\" cannot continue without the tuner",
                            study.runner->kind().name()),
                "--on-interrupt", "leave it out: the next 'steptune run' continues the study");
  }
  InterruptNotice notice(
      flags, printer,
      tuning.detach ? "detaching: running trials continue" : "stopping the running trials",
      tuning.continue_with);
  UnreadTrial unread(study, *parts->runner.clock,
                     [&](const std::string& text) { printer.print("steptune: warning: " + text); });
  LoopParts loop{study,
                 *parts->searcher,
                 *parts->scheduler,
                 *parts->runner.runner,
                 history,
                 *parts->runner.clock,
                 display,
                 log_directory(context.database(), study.name),
                 [&notice] { return notice(); },
                 tuning.detach,
                 std::move(machine),
                 "stopped by the user",
                 tuning.inspected_s,
                 tuning.seen_startup_s};
  loop.why_unread = [&](const std::filesystem::path& log, double run_s) {
    return unread.why_unread(log, run_s);
  };
  auto result = run_loop(std::move(loop));
  display.finish();
  if (result && !result->left_running.empty()) context.console.message(result->left_running);
  return result;
}

}  // namespace steptune

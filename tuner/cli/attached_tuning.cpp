// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/attached_tuning.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "common/text.hpp"
#include "trial_runner/live/attached_runner.hpp"
#include "tuner/cli/line_printer.hpp"
#include "tuner/cli/live_display.hpp"
#include "tuner/cli/machine_of_trials.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/run_report.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/history/open_if_present.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/loop/trial_spec.hpp"
#include "tuner/survey/draft.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {
namespace {

constexpr const char* k_said_by = "steptune: ";

/// Makes a study that tunes a running program. If the program cannot be tuned, returns an error
/// with the reason.
Result<StudySpec> attached_study(const AttachedTuning& tuning, const Survey& survey) {
  DraftOptions wanted;
  wanted.name = tuning.name;
  wanted.argv = tuning.argv;
  wanted.numeric = false;
  wanted.is_running = true;
  wanted.must_not_fail = true;
  wanted.samples_per_step = tuning.samples_per_step;
  wanted.planned_samples = tuning.planned_samples;
  wanted.facts = detected_facts();
  auto draft = draft_study(survey, wanted);
  if (!draft) return tl::unexpected(draft.error());
  draft->document["trials"] = "attached";
  draft->document["budget"]["time"] = tuning.longest_s;
  return study_from_json(draft->document,
                         std::filesystem::current_path() / (tuning.name + ".study.json"),
                         wanted.facts);
}

/// True if the program has closed its connection to the tuner and ends within 5 s. If it closed the
/// connection but still runs after that, its hook has switched itself off.
bool has_ended(const live::AttachedProgram& program) {
  return program.is_gone() && program.ends_within(5.0);
}

/// Returns why a surveyed program cannot be tuned; empty if it can.
std::string why_not_tunable(const Survey& survey, const live::AttachedProgram& program) {
  if (program.unusable()) return *program.unusable();
  if (has_ended(program)) return "the program ended before it had been examined";
  if (program.is_gone()) return "the hook switched itself off";
  if (!survey.first) return "the program made no step while it was watched";
  return {};
}

/// Returns the values that the hook sets for a configuration.
live::KnobValues knobs_of(const StudySpec& study, const Configuration& configuration) {
  TrialRecord record;
  record.purpose = TrialPurpose::search;
  record.configuration = configuration;
  const auto live = make_trial_spec(study, record).live;
  return live ? live->knobs : live::KnobValues{};
}

class AttachedSession {
 public:
  AttachedSession(CommandContext& context, const AttachedTuning& tuning,
                  live::AttachedProgram& program)
      : context_(context), tuning_(tuning), program_(program) {}

  void run() {
    // Open the history before the survey, because the survey takes long.
    auto present = open_if_present(context_.database(), context_.clock);
    if (!present) return untuned(present.error().text());
    SurveyOptions options;
    options.seen_enough = [this](HookProgress /*hook*/) { return is_to_end(); };
    const Survey survey = survey_attached(program_, options, context_.clock);
    if (const auto why = why_not_tunable(survey, program_); !why.empty()) return untuned(why);
    auto study = attached_study(tuning_, survey);
    if (!study) return untuned(study.error().text());
    auto history = opened_or_new(*std::move(present), context_.database(), context_.clock);
    if (!history) return untuned(history.error().text());
    RunOptions naming;
    naming.fresh = tuning_.fresh;
    naming.yes = true;
    naming.quiet = tuning_.quiet;
    const auto former = settle_identity(context_.console, naming, *history, *study);
    if (!former) return untuned(former.error().error.text());
    tell(fmt::format("tunes the running program for up to {}: {}",
                     format_duration(tuning_.longest_s), fmt::join(names_of(*study), ", ")));
    const auto result = tune(*study, *history);
    if (!result) {
      close_study(*history, study->name);
      return untuned(result.error().text());
    }
    conclude(*study, *std::move(history), *result);
  }

 private:
  /// True if a signal asks the tuner to end. The program still gets its final settings, as after
  /// any other end.
  [[nodiscard]] bool is_to_end() const {
    if (signals_.count() == 0) return false;
    if (!program_.unusable()) program_.give_up("the tuner was asked to end");
    return true;
  }

  [[nodiscard]] bool is_over() const {
    return is_to_end() || program_.is_gone() || program_.unusable();
  }

  /// Marks an unfinished study as interrupted, so that no other run continues it.
  static void close_study(History& history, const std::string& name) {
    auto record = history.study(name);
    if (!record || record->status != StudyStatus::running) return;
    record->status = StudyStatus::interrupted;
    // Ignore a failure to write: perhaps the tuning failed because the database cannot be written.
    static_cast<void>(history.record_study(*record));
  }

  static std::vector<std::string> names_of(const StudySpec& study) {
    std::vector<std::string> names;
    for (const auto& [name, rule] : *study.hooks.python)
      names.push_back(name);
    return names;
  }

  void tell(const std::string& text) const {
    if (!tuning_.quiet) context_.console.message(k_said_by + text);
  }

  void untuned(const std::string& why) {
    if (!program_.is_gone()) program_.leave({});
    const std::string what =
        has_ended(program_) ? "nothing was tuned" : "the program continues with its own settings";
    context_.console.message(fmt::format("{}{}: {}", k_said_by, what, printable_line(why, 1000)));
  }

  Result<LoopResult> tune(const StudySpec& study, History& history) {
    const auto searcher = make_study_searcher(study, /*guesses=*/true);
    if (!searcher) return tl::unexpected(searcher.error());
    auto scheduler = make_study_scheduler(study);
    if (!scheduler) return tl::unexpected(scheduler.error());
    const auto runner = make_attached_runner(context_.clock, program_);
    LinePrinter printer(STDERR_FILENO, /*smart=*/false);
    LiveDisplay display(printer, context_.clock, context_.clock, study, /*quiet=*/true);
    LoopParts parts{study,
                    **searcher,
                    **scheduler,
                    *runner,
                    history,
                    context_.clock,
                    display,
                    log_directory(context_.database(), study.name),
                    [this] { return is_over() ? 1 : 0; }};
    parts.machine = machine_of_trials(study);
    parts.interrupted_because = "the long run could not be tuned any longer";
    // Do not advise the user to run the tuner again. The trials belong to this long run, so no
    // later run can continue the study.
    parts.after_too_little.clear();
    auto result = run_loop(std::move(parts));
    display.finish();
    return result;
  }

  void conclude(const StudySpec& study, History history, const LoopResult& result) {
    const bool proven = result.recommendation && result.recommendation->claim == Claim::faster;
    if (!program_.is_gone()) {
      program_.leave(proven ? knobs_of(study, result.recommendation->configuration)
                            : knobs_of(study, study.baseline));
    }
    const auto report = make_run_report(context_, std::move(history), study.name, result);
    if (!report) return context_.console.warning(report.error().text());
    tell(report->ended);
    tell(verdict_of(result, proven, *report));
    if (program_.unusable()) context_.console.warning(*program_.unusable());
  }

  [[nodiscard]] std::string verdict_of(const LoopResult& result, bool proven,
                                       const RunReport& report) const {
    std::string text;
    if (has_ended(program_)) {
      text = "the program ended before the tuning did";
    } else if (program_.is_gone()) {
      text = "the program continues with its own settings, which were restored";
    } else if (proven) {
      text = "the program continues with the settings that were shown to be faster";
    } else {
      text = "the program continues with its own settings: nothing was proven to be faster";
    }
    if (result.recommendation && !report.recommendation.empty()) {
      text += "\n" + report.recommendation;
      text.pop_back();
    }
    return text;
  }

  CommandContext& context_;
  const AttachedTuning& tuning_;
  live::AttachedProgram& program_;
  const SignalFlags signals_;
};

}  // namespace

void tune_attached(CommandContext& context, const AttachedTuning& tuning,
                   live::AttachedProgram& program) {
  AttachedSession(context, tuning, program).run();
}

}  // namespace steptune

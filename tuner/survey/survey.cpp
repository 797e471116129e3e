// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/survey.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/pause.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "tuner/study/sections.hpp"

namespace steptune {
namespace {

/// A replay starts this many seconds and one step before the end of a survey without a replay.
constexpr double k_replay_lead_s = 1.0;
/// Longest time of a replay with short steps.
constexpr double k_replay_s = 4.0;
/// Longest time of a replay with steps of some seconds.
constexpr double k_longest_replay_s = 10.0;

std::optional<HookReplay> replay_of(const SurveyOptions& options) {
  const double after_s =
      std::min(options.watch_s - k_replay_lead_s, options.longest_watch_s - k_replay_s);
  if (!options.replay || after_s < k_replay_lead_s) return std::nullopt;
  return HookReplay{after_s, options.watch_steps - 1.0};
}

Result<TrialSpec> survey_trial(const SurveyOptions& options, const std::filesystem::path& events) {
  TrialSpec trial;
  if (options.with_hook) {
    const auto folder = python_hook_folder();
    if (!folder) return tl::unexpected(folder.error());
    PythonHookRequest request;
    request.mode = HookMode::survey;
    request.samples_per_step = options.samples_per_step;
    request.replay = replay_of(options);
    request.events = events;
    trial.environment = hook_variables(request);
    trial.python_path = *folder;
  }
  for (const auto& [name, text] : options.environment)
    trial.environment.insert_or_assign(name, text);
  trial.key = {1, 1};
  trial.study = "survey";
  trial.argv = options.argv;
  trial.set_thread_counts = false;
  trial.working_directory = options.folder;
  trial.terminal = options.terminal;
  trial.standard_input = options.standard_input;
  trial.log_path = options.log_path;
  trial.limits.wall_s = options.longest_start_s + 2.0 * options.longest_watch_s;
  trial.limits.idle_s = trial.limits.wall_s;
  return trial;
}

/// Observes one run of the program by its events.
class Watch {
 public:
  /// `events` reads the hook's file of events. If `events` is empty, there is no such file, and
  /// PyTorch counts as imported.
  Watch(const SurveyOptions& options, double now_s, std::function<HookLog()> events = {})
      : options_(options), started_s_(now_s), events_(std::move(events)) {}

  void take(const TrialEvent& event) {
    if (const auto* reported = std::get_if<TrialReported>(&event)) {
      take(reported->report);
    } else if (const auto* finished = std::get_if<TrialFinished>(&event)) {
      finished_ = true;
      survey_.activity = finished->outcome.activity;
      // Ignore the end of the program during a replay. Repeated batches may make it fail or end
      // early.
      if (!asked_to_end_ && !replay_begun_s_) survey_.ended = finished->outcome;
    }
  }

  /// Records a step of an attached program. Ignores steps without measured parts, at which a
  /// measurement cannot start.
  void take(const live::LiveStep& step, double now_s) {
    if (step.parts.empty()) return;
    Report report;
    report.received_s = now_s;
    report.clock_s = step.seconds;
    report.step = step.step;
    report.samples = step.samples;
    report.parts = step.parts;
    report.metrics = step.metrics;
    take(report);
  }

  /// True if the survey has seen enough, or has waited too long.
  [[nodiscard]] bool wants_to_end(double now_s) {
    look_at_events(now_s);
    if (options_.seen_enough && options_.seen_enough(hook_progress())) return true;
    const double waited_s = now_s - started_s_;
    if (waited_s >= options_.longest_import_s && events_ && !has_imported_) return true;
    if (trained_unheard_s_ && now_s - *trained_unheard_s_ >= options_.longest_unheard_s)
      return true;
    if (!survey_.first) return waited_s >= options_.longest_start_s;
    const double watched_s = now_s - survey_.first->received_s;
    if (replay_begun_s_) {
      return survey_.log.event("replay_ended").is_object() ||
             watched_s >= options_.longest_watch_s ||
             now_s - *replay_begun_s_ >= k_longest_replay_s;
    }
    const double steps = survey_.last.step.value_or(0.0) - survey_.first->step.value_or(0.0);
    return watched_s >= options_.longest_watch_s ||
           (watched_s >= options_.watch_s && steps >= options_.watch_steps);
  }

  /// Calls `no_step_yet` if there was no step for a long time.
  void report_waiting(double now_s) {
    if (has_named_wait_ || survey_.first || now_s - started_s_ < options_.notice_s) return;
    has_named_wait_ = true;
    if (options_.no_step_yet) options_.no_step_yet();
  }

  void asked_to_end() { asked_to_end_ = true; }
  [[nodiscard]] bool is_asked_to_end() const { return asked_to_end_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] Survey survey() && { return std::move(survey_); }

 private:
  [[nodiscard]] HookProgress hook_progress() const {
    if (survey_.first) return HookProgress::reports_steps;
    return has_imported_ ? HookProgress::imported : HookProgress::none;
  }

  /// Reads the hook's file of events, which shows how far the program is until the hook's lines
  /// arrive.
  void look_at_events(double now_s) {
    if (survey_.first || !survey_.log.empty()) {
      has_imported_ = true;
      trained_unheard_s_.reset();
    } else if (events_ && !trained_unheard_s_) {
      const HookLog event_log = events_();
      has_imported_ = has_imported_ || event_log.imported();
      if (event_log.patched()) trained_unheard_s_ = now_s;
    }
  }

  void take(const Report& report) {
    for (const std::string& event : report.hook_events)
      survey_.log.add(event);
    if (!replay_begun_s_ && survey_.log.event("replay_begun").is_object()) {
      replay_begun_s_ = report.received_s;
    }
    if (report.phase &&
        std::ranges::find(survey_.phases, report.phase->name) == survey_.phases.end()) {
      survey_.phases.push_back(report.phase->name);
    }
    if (!report.step && !report.samples) return;
    if (!survey_.first) {
      survey_.first = report;
      survey_.startup_s = std::max(0.0, report.received_s - started_s_);
    }
    survey_.last = report;
  }

  const SurveyOptions& options_;
  double started_s_;
  std::function<HookLog()> events_;
  bool has_imported_ = false;
  /// Time at which the program was first known to train without a line from the hook.
  std::optional<double> trained_unheard_s_;
  std::optional<double> replay_begun_s_;
  Survey survey_;
  bool has_named_wait_ = false;
  bool asked_to_end_ = false;
  bool finished_ = false;
};

std::optional<double> difference(const std::optional<double>& from,
                                 const std::optional<double>& to) {
  if (!from || !to || !(*to > *from)) return std::nullopt;
  return *to - *from;
}

}  // namespace

std::optional<double> Survey::seconds_per_step() const {
  if (!first) return std::nullopt;
  const auto steps = difference(first->step, last.step);
  const auto seconds = difference(first->clock_s.value_or(first->received_s),
                                  last.clock_s.value_or(last.received_s));
  if (!steps || !seconds) return std::nullopt;
  return *seconds / *steps;
}

std::optional<double> Survey::samples_per_step() const {
  if (!first) return std::nullopt;
  const auto steps = difference(first->step, last.step);
  const auto samples = difference(first->samples, last.samples);
  if (!steps || !samples) return std::nullopt;
  return *samples / *steps;
}

std::optional<double> Survey::metric(const std::string& name) const {
  const auto found = last.metrics.find(name);
  return found == last.metrics.end() ? std::nullopt : std::optional(found->second);
}

std::map<std::string, double> Survey::part_shares() const {
  std::map<std::string, double> shares;
  if (!first) return shares;
  double sum = 0.0;
  for (const auto& [name, seconds] : last.parts) {
    const auto before = first->parts.find(name);
    const double spent = seconds - (before == first->parts.end() ? 0.0 : before->second);
    shares[name] = std::max(0.0, spent);
    sum += shares[name];
  }
  if (!(sum > 0.0)) return {};
  for (auto& [name, share] : shares)
    share /= sum;
  return shares;
}

Survey survey_attached(live::AttachedProgram& program, const SurveyOptions& options,
                       const Clock& clock) {
  Watch watch(options, clock.now_s());
  while (!program.is_gone() && !program.unusable() && !watch.wants_to_end(clock.now_s())) {
    const auto steps = program.steps(clock.now_s() + k_poll_s);
    for (const live::LiveStep& step : steps)
      watch.take(step, clock.now_s());
  }
  Survey survey = std::move(watch).survey();
  survey.log = program.log();
  return survey;
}

Result<Survey> survey_program(const SurveyOptions& options, const Clock& clock,
                              const std::function<bool()>& interrupted) {
  std::filesystem::path events = options.log_path;
  events += ".hook";
  std::error_code error;
  const std::filesystem::path folder = options.log_path.parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) {
    return fail(ErrorKind::store, "cannot create the folder: " + error.message(), folder.string(),
                "choose a history in a writable folder with --db");
  }
  std::filesystem::remove(events, error);
  const auto trial = survey_trial(options, events);
  if (!trial) return tl::unexpected(trial.error());
  document::Reading reading;
  const auto settings = study::default_runner(reading, TrialLimits{}, /*has_command=*/true);
  auto parts = settings->make(clock, /*seed=*/0);
  if (!parts) return tl::unexpected(parts.error());
  Runner& runner = *parts->runner;
  if (auto begun = runner.begin_study("survey", "survey"); !begun) {
    return tl::unexpected(begun.error());
  }
  if (auto started = runner.start(*trial); !started) return tl::unexpected(started.error());
  Watch watch(options, clock.now_s(), [&events] { return read_hook_events(events); });
  while (!watch.finished()) {
    const auto happened = runner.wait(clock.now_s() + k_poll_s);
    if (!happened) return tl::unexpected(happened.error());
    for (const TrialEvent& event : *happened)
      watch.take(event);
    watch.report_waiting(clock.now_s());
    if (interrupted())
      return fail(ErrorKind::usage, "stopped before the program had been examined");
    if (!watch.is_asked_to_end() && watch.wants_to_end(clock.now_s())) {
      watch.asked_to_end();
      runner.stop(trial->key);
    }
  }
  Survey survey = std::move(watch).survey();
  if (!survey.log.patched() && !survey.log.disabled()) {
    survey.log = read_hook_events(events);
    survey.is_unheard = survey.log.patched() && !survey.first;
  }
  std::filesystem::remove(events, error);
  return survey;
}

}  // namespace steptune

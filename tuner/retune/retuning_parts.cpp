// SPDX-License-Identifier: Apache-2.0
// Parts of `Retuning` without decisions: they begin a night, run studies, record times and end the
// night.
#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/loop/observations.hpp"
#include "tuner/report/library_versions.hpp"
#include "tuner/retune/night_times.hpp"
#include "tuner/retune/retuning.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/verdict/payback.hpp"
#include "tuner/verdict/recommendation_record.hpp"

namespace steptune {
namespace {

/// On a night without a change, a search takes at most this share of the study's trials. It may
/// always take the trials after which `PaybackRule` can end it.
constexpr double k_quiet_share = 0.1;

/// Returns the recommendation of a stored study; nullopt while it has no result.
Result<std::optional<UsedConfiguration>> recommended_by(const History& history,
                                                        const std::string& name) {
  const auto record = history.study(name);
  if (!record) return tl::unexpected(record.error());
  const Json& stored = record->recommendation;
  if (record->status != StudyStatus::finished || !has_recommendation(stored)) return std::nullopt;
  const auto recommendation = recommendation_from_json(stored, name);
  if (!recommendation) return tl::unexpected(recommendation.error());
  return UsedConfiguration{recommendation->configuration, name, recommendation->incumbent_trial};
}

Result<std::vector<Night>> stored_nights(const History& history, const std::string& study) {
  const auto rows = history.nights(study);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Night> nights;
  for (const NightRow& row : *rows) {
    auto night = night_from_row(row);
    if (!night) return tl::unexpected(night.error());
    nights.push_back(*std::move(night));
  }
  return nights;
}

/// True if a first night can tune under the study's own name. The history then has no study of this
/// name, or one that can be continued. A stored study that is finished, or without a measured
/// trial, would end in the same way again. A stored study with another definition cannot have
/// trials of this study.
Result<bool> can_tune_as_itself(const History& history, const StudySpec& study) {
  const auto record = history.study(study.name);
  if (!record && record.error().kind == ErrorKind::not_found) return true;
  if (!record) return tl::unexpected(record.error());
  if (record->status == StudyStatus::finished || record->fingerprint != study.fingerprint) {
    return false;
  }
  const auto counts = history.status_counts(record->id);
  if (!counts) return tl::unexpected(counts.error());
  return counts->contains(TrialStatus::completed);
}

}  // namespace

Result<void> Retuning::begin() {
  const StudySpec& study = parts_.study;
  if (!study.objectives.front().is_time() && !study.objectives.front().is_cost()) {
    return fail(ErrorKind::usage, "only times and costs can be compared from night to night",
                "/objectives", "make \"time\" or \"cost\" the first objective");
  }
  if (study.trials == TrialsIn::attached) return tl::unexpected(run_is_over(study.name));
  auto nights = stored_nights(parts_.history, study.name);
  if (!nights) return tl::unexpected(nights.error());
  nights_ = *std::move(nights);
  const double now_s = parts_.clock.wall_time_s();
  if (!nights_.empty() && nights_.back().result == NightResult::running) {
    Night& last = nights_.back();
    const bool is_recent = now_s - last.started_wall_s < options_.resume_within_s;
    if (is_recent && last.fingerprint == study.fingerprint) {
      night_ = last;
      return {};
    }
    last.result = NightResult::failed;
    // The user saw no report of that night. Drop its times, so that the next night reports the
    // slowdown.
    last.times = {};
    last.slowdown.reset();
    last.lead_shrank = false;
    last.ended_wall_s = now_s;
    last.reason = "the tuner ended before the night was over";
    if (auto recorded_night = parts_.history.record_night(study.name, to_row(last));
        !recorded_night)
      return recorded_night;
  }
  night_.number = nights_.empty() ? 1 : nights_.back().number + 1;
  night_.started_wall_s = now_s;
  night_.machine = parts_.machine;
  night_.commit = parts_.commit;
  night_.fingerprint = study.fingerprint;
  auto used = in_use();
  if (!used) return tl::unexpected(used.error());
  night_.phase = *used ? NightPhase::check : NightPhase::first;
  if (!*used && !options_.from.empty()) {
    parts_.listener.on_warning(fmt::format(
        "study \"{}\" has no result yet, so this night tunes from scratch", options_.from));
  }
  night_.before = *used ? **std::move(used) : UsedConfiguration{study.baseline, "", 0};
  if (!study.space.contains(night_.before.configuration)) {
    parts_.listener.on_warning(fmt::format(
        "the configuration in use is no longer valid in this study, so the baseline is used: {}",
        night_.before.configuration.text()));
    night_.before = {study.baseline, "", 0};
  }
  night_.after = night_.before;
  const auto as_itself = can_tune_as_itself(parts_.history, study);
  if (!as_itself) return tl::unexpected(as_itself.error());
  auto name = night_.phase == NightPhase::first && *as_itself
                  ? Result<std::string>(study.name)
                  : night_study_name(study.name, night_.number);
  if (!name) return tl::unexpected(name.error());
  night_.study = *std::move(name);
  nights_.push_back(night_);
  return record();
}

Result<std::optional<UsedConfiguration>> Retuning::in_use() const {
  const auto of_nights = [](const std::vector<Night>& nights) -> std::optional<UsedConfiguration> {
    if (nights.empty() || nights.back().phase == NightPhase::first) {
      const bool measured = !nights.empty() && nights.back().result != NightResult::failed;
      if (!measured) return std::nullopt;
    }
    return nights.back().after;
  };
  if (auto used = of_nights(nights_)) return used;
  const std::string& source = options_.from.empty() ? parts_.study.name : options_.from;
  if (!options_.from.empty()) {
    const auto nights = stored_nights(parts_.history, source);
    if (!nights) return tl::unexpected(nights.error());
    if (auto used = of_nights(*nights)) return used;
  }
  auto used = recommended_by(parts_.history, source);
  const bool is_missing = !used && used.error().kind == ErrorKind::not_found;
  if (is_missing && options_.from.empty()) return std::nullopt;
  return used;
}

Result<std::optional<Retuning::Played>> Retuning::play(const PhasePlan& plan,
                                                       const NightPrior& prior) {
  night_.phase = plan.phase;
  if (auto recorded = record(); !recorded) return tl::unexpected(recorded.error());
  PhasePlan now = plan;
  if (const auto stored = parts_.history.study(night_.study)) now.elapsed_s = stored->elapsed_s;
  auto spec = night_study(parts_.study, night_, options_.bounds, now);
  if (!spec) return tl::unexpected(spec.error());
  auto played = play_study(*std::move(spec), prior);
  if (!played) return tl::unexpected(played.error());
  if (interrupted_) return std::nullopt;
  return std::optional(*std::move(played));
}

Result<Retuning::Played> Retuning::play_study(StudySpec study, const NightPrior& prior) {
  auto made = parts_.make_parts(study);
  if (!made) return tl::unexpected(made.error());
  prior.teach(*made->searcher);
  // A smaller gain does not replace the configuration in use.
  study.search.worth = options_.least_gain;
  LoopParts loop{study,
                 *made->searcher,
                 *made->scheduler,
                 *made->runner.runner,
                 parts_.history,
                 *made->runner.clock,
                 parts_.listener,
                 parts_.log_directory(study.name),
                 parts_.interrupts,
                 false,
                 parts_.machine};
  loop.after_too_little =
      "the next night begins with the baseline again, so give nights a longer --time";
  loop.why_unread = parts_.why_unread;
  auto result = run_loop(std::move(loop));
  if (!result) return tl::unexpected(result.error());
  interrupted_ = result->end == LoopEnd::interrupted;
  const auto record = parts_.history.study(study.name);
  if (!record) return tl::unexpected(record.error());
  auto trials = parts_.history.trials(record->id);
  if (!trials) return tl::unexpected(trials.error());
  Played played{std::move(study), *std::move(result), *std::move(trials)};
  night_.trials = static_cast<std::int64_t>(played.trials.size());
  night_.elapsed_s = record->elapsed_s;
  double trials_usd = 0.0;
  for (const TrialRecord& trial : played.trials) {
    trials_usd += trial.spent_usd;
    if (trial.purpose != TrialPurpose::baseline) continue;
    for (auto& [name, text] : machine_reported_by(trial))
      night_.machine[name] = text;
  }
  night_.usd = tuning_cost_usd(played.study, trials_usd, record->overhead_usd, record->elapsed_s);
  return played;
}

void Retuning::take_times(const Played& played) {
  const Configuration& in_use = night_.before.configuration;
  night_.times.night = night_.number;
  night_.times.baseline = baseline_times(played.trials);
  if (in_use == parts_.study.baseline) {
    night_.times.incumbent = night_.times.baseline;
    const TrialRecord* measured = baseline_of(played.trials);
    // The history's study of this name may have an earlier definition with another baseline.
    if (night_.after.study.empty() && measured != nullptr &&
        measured->status == TrialStatus::completed) {
      night_.after = {in_use, night_.study, measured->number};
    }
    return;
  }
  night_.times.incumbent = times_of(played.trials, in_use, /*fresh_only=*/false);
  night_.lead = speed_up_of_pairs(
      played.study, rounds_of(played.study, played.trials, in_use, parts_.study.baseline),
      k_one_sided_error);
}

std::string Retuning::why_broken(const Played& played) const {
  const Standing standing(ranking_rules(played.study), played.trials);
  const auto candidates = standing.candidates();
  const Configuration& in_use = night_.before.configuration;
  const bool works = std::ranges::any_of(
      candidates, [&](const TrialRecord* trial) { return trial->configuration == in_use; });
  if (works) return {};
  for (const TrialRecord& trial : played.trials) {
    if (trial.configuration != in_use || !is_final(trial.status)) continue;
    if (trial.status == TrialStatus::completed) continue;
    return fmt::format("the configuration in use ended as {}: {}", to_text(trial.status),
                       trial.failure);
  }
  return {};
}

void Retuning::watch() {
  suspicious_ = false;
  night_.slowdown.reset();
  night_.lead_shrank = false;
  night_.changes = changes_since(night_.number);
  if (night_.times.incumbent.empty()) return;
  std::vector<NightTimes> series = times_in_use();
  series.push_back(night_.times);
  if (night_.before.configuration == parts_.study.baseline) {
    for (NightTimes& night : series)
      night.baseline.clear();
  }
  SlowdownWatcher watcher;
  SlowdownWatch watch;
  for (NightTimes& night : series)
    watch = watcher.add(std::move(night));
  suspicious_ = watch.suspicious;
  night_.evidence = watch.evidence;
  night_.slowdown = watch.slowdown;
  night_.lead_shrank = watch.lead_shrank;
  if (!watch.slowdown) return;
  night_.changes = changes_since(watch.slowdown->since);
  night_.fast_commit.clear();
  for (const Night& night : nights_) {
    if (night.number == watch.slowdown->since) night_.slower_since_wall_s = night.started_wall_s;
    const bool was_fast = night.number < watch.slowdown->since && !night.times.incumbent.empty();
    if (was_fast) night_.fast_commit = night.commit;
  }
}

std::vector<NightTimes> Retuning::times_in_use() const {
  std::vector<NightTimes> series;
  const Configuration& in_use = night_.before.configuration;
  bool begun = false;
  for (auto night = nights_.rbegin(); night != nights_.rend() && !begun; ++night) {
    if (night->number == night_.number) continue;
    if (night->fingerprint != night_.fingerprint || night->after.configuration != in_use) break;
    begun = night->before.configuration != in_use || night->phase == NightPhase::first;
    NightTimes times = night->times;
    if (night->before.configuration != in_use) {
      times = {night->number, night->after_times, night->after_baseline_times};
    }
    if (!times.incumbent.empty()) series.push_back(std::move(times));
  }
  const bool tuned_before = series.empty() && night_.before.study == parts_.study.name;
  if (tuned_before) {
    // The study's own tuning confirmed this configuration. Use its confirming runs as night 0.
    const auto record = parts_.history.study(night_.before.study);
    if (record && record->fingerprint == night_.fingerprint) {
      if (const auto trials = parts_.history.trials(record->id)) {
        NightTimes times{0, times_of(*trials, in_use, true),
                         times_of(*trials, parts_.study.baseline, true)};
        if (!times.incumbent.empty()) series.push_back(std::move(times));
      }
    }
  }
  std::ranges::reverse(series);
  return series;
}

std::vector<MachineChange> Retuning::changes_since(std::int64_t night) const {
  for (const Night& former : std::views::reverse(nights_)) {
    if (former.number < night) return machine_changes(former.machine, night_.machine);
  }
  if (night_.before.study.empty()) return {};
  const auto record = parts_.history.study(night_.before.study);
  if (!record) return {};
  const auto machine = last_machine_of(parts_.history, record->id);
  return machine ? machine_changes(*machine, night_.machine) : std::vector<MachineChange>{};
}

Result<std::int64_t> Retuning::trials_worth(const NightPrior& prior) const {
  const StudySpec& study = parts_.study;
  const std::int64_t usual = study.budget.trials.value_or(k_default_trials);
  const std::int64_t bound = options_.bounds.trials.value_or(usual);
  const bool changed = night_.slowdown || night_.lead_shrank || !night_.broken.empty() ||
                       night_.trust == Trust::hint;
  if (changed) return bound;
  if (!payback_applies(study)) return std::int64_t{0};
  const auto share = static_cast<std::int64_t>(k_quiet_share * static_cast<double>(usual));
  const std::int64_t most = std::min(bound, std::max(std::int64_t{k_unpaid_suggestions}, share));
  if (!checked_) return most;
  const auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  prior.teach(**searcher);
  for (const TrialRecord& trial : checked_->trials) {
    if (is_final(trial.status) && !is_confirmation(trial.purpose)) {
      (*searcher)->observe(to_observation(checked_->study, trial));
    }
  }
  SuggestRequest request;
  request.trial = night_.number;
  const auto suggestion = (*searcher)->suggest(request);
  if (!suggestion) return tl::unexpected(suggestion.error());
  if (!*suggestion) return std::int64_t{0};
  if (!(*suggestion)->expected_improvement) return most;
  const Standing standing(ranking_rules(checked_->study), checked_->trials);
  const auto price = standing.mean_price(checked_->study.measure);
  if (!price) return most;
  const double saving =
      *(*suggestion)->expected_improvement * std::exp(mean_log(night_.times.incumbent));
  const double trial = study.objectives.front().is_cost() ? price->usd : price->seconds;
  return saving < trial ? 0 : most;
}

Result<void> Retuning::record() {
  nights_.back() = night_;
  return parts_.history.record_night(parts_.study.name, to_row(night_));
}

Result<void> Retuning::close() {
  if (!interrupted_) night_.ended_wall_s = parts_.clock.wall_time_s();
  if (auto recorded = record(); !recorded || interrupted_) return recorded;
  return forget_old_trials();
}

Result<void> Retuning::forget_old_trials() {
  std::size_t searching = 0, quiet = 0;
  std::optional<std::set<std::string>> needed;
  for (const Night& night : std::views::reverse(nights_)) {
    // Count nights with a search separately, because their trials also help later searches.
    std::size_t& count = night.searched > 0 ? searching : quiet;
    if (++count <= options_.keep_nights) continue;
    if (!needed) {
      const auto studies = parts_.history.studies();
      if (!studies) return tl::unexpected(studies.error());
      auto of_nights = studies_of_nights(parts_.history, *studies);
      if (!of_nights) return tl::unexpected(of_nights.error());
      needed = *std::move(of_nights);
    }
    if (needed->contains(night.study)) continue;
    const auto record = parts_.history.study(night.study);
    if (!record && record.error().kind == ErrorKind::not_found) continue;
    if (!record) return tl::unexpected(record.error());
    if (auto removed = parts_.history.remove_study(record->id); !removed) return removed;
    // A history from elsewhere may contain any name, so do not remove a folder outside the logs.
    if (!is_file_name(night.study)) continue;
    std::error_code fault;
    std::filesystem::remove_all(parts_.log_directory(night.study), fault);
    if (fault) {
      parts_.listener.on_warning("logs of an old night cannot be removed: " + fault.message());
    }
  }
  return {};
}

}  // namespace steptune

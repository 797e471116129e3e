// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "trial_runner/longest_trial.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

void check_data(const ObjectNode& object, const MeasureSpec& measure) {
  if (measure.cache == PageCache::warm || !measure.data.empty()) return;
  object.find("cache")->fault(
      "it is not known what to drop from the page cache: name the files or folders of the "
      "training data in \"data\", such as [\"data/train\"]");
}

void check_window(const ObjectNode& object, const MeasureSpec& measure) {
  if (measure.min_window_s <= measure.max_trial_s) return;
  const bool window_given = object.has("min_window");
  object.find(window_given ? "min_window" : "max_trial")
      ->fault(fmt::format("min_window ({} s) is longer than max_trial ({} s)", measure.min_window_s,
                          measure.max_trial_s));
}

}  // namespace

const Section<MeasureSpec>& measure_section() {
  static const auto k_section =
      Section<MeasureSpec>("measure", "How long one trial is measured.",
                           "an object such as {\"max_trial\": \"2m\"}")
          .add(key("target_half_width", &MeasureSpec::target_half_width,
                   document::number({0.0001, 0.5}))
                   .doc("a trial ends once its 95 % interval is [within this "
                        "share](algorithms.md#how-fast-and-how-sure) of its value"))
          .add(key("max_trial", &MeasureSpec::max_trial_s,
                   document::duration_s({0.1, k_longest_trial_s}))
                   .doc("longest measurement after start-up"))
          .add(key("min_window", &MeasureSpec::min_window_s,
                   document::duration_s({0.01, k_longest_trial_s}))
                   .doc("shortest measurement"))
          .add(
              key("min_window_steps", &MeasureSpec::min_window_steps, document::integer({1.0, 1e6}))
                  .in_fingerprint(InFingerprint::unless_default)
                  .doc("fewest steps of a measurement "
                       "([why](algorithms.md#how-fast-and-how-sure))"))
          .add(
              key("buffers", &MeasureSpec::buffers, document::formula_or_integer({0.0, 1e9}))
                  .in_fingerprint(InFingerprint::unless_default)
                  .doc("most batches in [buffers](algorithms/measuring.md#buffers), which may hide "
                       "a slow loader: a number, or an expression such as `workers * prefetch`"))
          .add(key("cache", &MeasureSpec::cache, document::enumerated({"warm", "cold", "auto"}))
                   .omitted_at_default()
                   .default_words("`warm`")
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("how much of `data` is in memory when a trial starts: `warm`, all that "
                        "earlier trials read; `cold`, nothing, as in a first epoch; `auto`, `cold` "
                        "if the data exceeds the memory. Local trials only"))
          .add(key("data", &MeasureSpec::data, document::list_of(document::path(), k_max_elements))
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("files and folders that the training reads"))
          .add(key("sentinels", &MeasureSpec::sentinels, document::boolean())
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::never)
                   .default_words("`true`")
                   .doc("repeats the baseline to [correct for "
                        "drift](algorithms.md#does-the-machine-drift). Only for `time` or `cost`, "
                        "one trial at a time, on this machine"))
          .add(key("interleave", &MeasureSpec::interleave, document::boolean())
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::never)
                   .default_words("`true`")
                   .doc("confirming runs [take turns](algorithms/confirming.md#in-turns) of a "
                        "quarter of a second; `false`: one after the other. Local trials without "
                        "GPUs only"))
          .add(key("confirm_pairs", &MeasureSpec::confirm_pairs,
                   document::integer({0.0, k_most_confirm_pairs}))
                   .in_fingerprint(InFingerprint::never)
                   .doc("usual number of [pairs of fresh "
                        "runs](algorithms/confirming.md#how-many-pairs) of winner and baseline; 0: "
                        "none"))
          .add(key("confirm_all", &MeasureSpec::confirm_all, document::boolean())
                   .omitted_at_default()
                   .written_by_steptune()
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("set by [`judge`](judge.md): fresh runs compare all configurations, at "
                        "most 8, with the baseline"))
          .add(key("confirm_error", &MeasureSpec::confirm_error,
                   // For launches, Student's t interval is not reliable at smaller errors.
                   document::number({1e-12, k_one_sided_error}))
                   .omitted_at_default()
                   .written_by_steptune()
                   .in_fingerprint(InFingerprint::never)
                   .doc("set by a [campaign](judge.md#campaigns): largest one-sided error of "
                        "calling a configuration faster"))
          .add(key("confirm_slowdown", &MeasureSpec::confirm_slowdown,
                   document::number({0.0, k_most_slowdown}))
                   .omitted_at_default()
                   .written_by_steptune()
                   .in_fingerprint(InFingerprint::never)
                   .doc("set by [`judge --fail-if`](judge.md#in-a-pipeline): also find out if a "
                        "configuration is slower by this share"))
          .add(key("pair_deviation", &MeasureSpec::pair_deviation, document::number({0.0, 10.0}))
                   .omitted_at_default()
                   .written_by_steptune()
                   .in_fingerprint(InFingerprint::never)
                   .doc("set by `judge`: standard deviation of the log ratios of earlier pairs"))
          .add(key("pair_freedom", &MeasureSpec::pair_freedom, document::number({0.0, 1e9}))
                   .omitted_at_default()
                   .written_by_steptune()
                   .in_fingerprint(InFingerprint::never)
                   .doc("its degrees of freedom"))
          .check(check_window)
          .check(check_data);
  return k_section;
}

const Section<TrialLimits>& limits_section() {
  static const auto k_section =
      Section<TrialLimits>("limits", "Bounds on every trial.",
                           "an object such as {\"wall\": \"1h\"}")
          .add(key("wall", &TrialLimits::wall_s, document::duration_s({1.0, k_longest_trial_s}))
                   .doc("longest trial, start-up included; at least `measure.max_trial`"))
          .add(key("idle", &TrialLimits::idle_s, document::duration_s({1.0, k_longest_trial_s}))
                   .doc("longest silence; then the trial counts as hung. Reported phases may be "
                        "silent for longer"))
          .add(key("grace", &TrialLimits::grace_s, document::duration_s({0.0, 3600.0}))
                   .doc("time from SIGTERM to SIGKILL"))
          .add(key("memory", &TrialLimits::memory_bytes, document::bytes({0x1p20, 0x1p60}))
                   .doc("most memory of the trial's processes together: bytes, `\"512MiB\"`, "
                        "`\"12GiB\"`, `\"16GB\"`"))
          .add(key("memory_share", &TrialLimits::memory_share, document::number({0.01, 1.0}))
                   .omitted_at_default()
                   .default_words("0.9")
                   .doc("largest share of the memory of a GPU, cgroup or machine. A configuration "
                        "that needs more is infeasible, unless the baseline needs more, too. 1: no "
                        "limit. Local trials only"));
  return k_section;
}

}  // namespace steptune::study

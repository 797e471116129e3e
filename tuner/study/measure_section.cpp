// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

constexpr std::size_t k_max_paths = 100;
constexpr double k_longest_s = 30.0 * 86'400.0;

/// Names in the order of `PageCache`.
std::vector<std::string> cache_names() {
  return {"warm", "cold", "auto"};
}

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
                   .doc("a trial ends once its 95 % interval is within this share of its value "
                        "([widened](algorithms.md#how-fast-and-how-sure) for ending then)"))
          .add(key("max_trial", &MeasureSpec::max_trial_s, document::duration_s({0.1, k_longest_s}))
                   .doc("measured no longer than this after start-up"))
          .add(key("min_window", &MeasureSpec::min_window_s,
                   document::duration_s({0.01, k_longest_s}))
                   .doc("measured no shorter than this"))
          .add(
              key("min_window_steps", &MeasureSpec::min_window_steps, document::integer({1.0, 1e6}))
                  .in_fingerprint(InFingerprint::unless_default)
                  .doc("measured over no fewer steps: [intervals of fewer are too "
                       "narrow](algorithms.md#how-fast-and-how-sure)"))
          .add(key("buffers", &MeasureSpec::buffers, document::formula_or_integer({0.0, 1e9}))
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("batches that can be ready in buffers at most: a number, or an expression "
                        "over parameters such as `workers * prefetch`. Tells how long a full "
                        "buffer can hide a slower loader ([how](algorithms/measuring.md#buffers))"))
          .add(key("cache", &MeasureSpec::cache, document::enumerated(cache_names()))
                   .omitted_at_default()
                   .default_words("`warm`")
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("what of `data` a trial finds in memory: `warm`, what earlier trials left "
                        "there; `cold`, nothing, as in the first epoch of a run that has not read "
                        "it yet; `auto`, cold if the data is larger than the memory. Local trials "
                        "only"))
          .add(key("data", &MeasureSpec::data, document::list_of(document::path(), k_max_paths))
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("files and folders that the training reads"))
          .add(
              key("sentinels", &MeasureSpec::sentinels, document::boolean())
                  .omitted_at_default()
                  .in_fingerprint(InFingerprint::never)
                  .doc("the baseline runs again now and then between the trials, for 5 % of the "
                       "search's time at most, so that a machine that becomes slower or faster "
                       "meanwhile is [noticed and "
                       "corrected for](algorithms.md#does-the-machine-drift); 10 % once it does. "
                       "Only where the first objective is `time` or `cost` and trials run one at a "
                       "time on one machine"))
          .add(key("interleave", &MeasureSpec::interleave, document::boolean())
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::never)
                   .default_words("`true`")
                   .doc("the fresh runs that confirm run in turns of half a second, each "
                        "[stopped while another one runs](algorithms/confirming.md#in-turns), so "
                        "that what disturbs the machine meets all of them. Local trials without "
                        "GPUs only; `false`: one after the other"))
          .add(key("confirm_pairs", &MeasureSpec::confirm_pairs,
                   document::integer({0.0, k_most_confirm_pairs}))
                   .in_fingerprint(InFingerprint::never)
                   .doc("pairs of fresh runs of winner and baseline at the end, as a rule: [fewer "
                        "where it is clear, more while it is "
                        "not](algorithms.md#is-the-winner-really-better); 0: none"))
          .check(check_window)
          .check(check_data);
  return k_section;
}

const Section<TrialLimits>& limits_section() {
  static const auto k_section =
      Section<TrialLimits>("limits", "Bounds on every trial.",
                           "an object such as {\"wall\": \"1h\"}")
          .add(key("wall", &TrialLimits::wall_s, document::duration_s({1.0, k_longest_s}))
                   .doc("from start; then the trial is ended as timed out. At least "
                        "`measure.max_trial`"))
          .add(key("idle", &TrialLimits::idle_s, document::duration_s({1.0, k_longest_s}))
                   .doc("without any output; then the trial is ended as hung. A phase whose "
                        "beginning was reported may be silent for longer"))
          .add(key("grace", &TrialLimits::grace_s, document::duration_s({0.0, 3600.0}))
                   .doc("between SIGTERM and SIGKILL"))
          .add(key("memory", &TrialLimits::memory_bytes, document::bytes({0x1p20, 0x1p60}))
                   .doc("of all the trial's processes together: bytes, `\"512MiB\"`, `\"12GiB\"`, "
                        "`\"16GB\"`"))
          .add(key("memory_share", &TrialLimits::memory_share, document::number({0.01, 1.0}))
                   .omitted_at_default()
                   .doc("a configuration that takes more than this share (0.9 unless said) of a "
                        "GPU's memory, or of the memory that its processes may use (the control "
                        "group's limit, else the machine's; pages of files are not counted), is "
                        "infeasible: a long run needs headroom. Not judged where the baseline "
                        "takes more, too; 1: never. Local trials only"));
  return k_section;
}

}  // namespace steptune::study

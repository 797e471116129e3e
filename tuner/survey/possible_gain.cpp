// SPDX-License-Identifier: Apache-2.0
#include "tuner/survey/possible_gain.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/json_fields.hpp"
#include "tuner/knobs/draft_defaults.hpp"
#include "tuner/study/loading_ceiling.hpp"

namespace steptune {
namespace {

/// Largest plausible count in the hook's report. A larger count must be an error.
constexpr std::int64_t k_most_listed = 10000;

struct Saving {
  std::string_view knob;
  double share;
};

/// Largest share of its parts that a knob saved on the programs of benchmarks/real_programs
/// and in public reports. The figures only rank the knobs and drop knobs without a useful gain.
constexpr std::array<Saving, 19> k_savings = {{
    {"gc", 1.0},
    {"num_workers", 1.0},
    {"prefetch_factor", 0.3},
    {"persistent_workers", 0.3},
    {"num_interop_threads", 0.02},
    {"optimizer_implementation", 0.8},
    {"set_to_none", 0.1},
    {"channels_last", 0.5},
    {"malloc", 0.25},
    {"omp_wait_policy", 0.15},
    {"precision", 0.7},
    {"compile", 0.5},
    {"batch_size", 0.7},
    {"activation_checkpointing", 0.3},
    {"distributed_strategy", 0.9},
    {"nccl_algorithm", 0.2},
    {"nccl_channels", 0.15},
    {"nccl_protocol", 0.1},
    {"nccl_buffer", 0.05},
}};
/// Share for knobs that are not listed, and for loading that overlaps the step.
constexpr double k_usual_saving = 0.3;
/// In small kernels, threads wait for each other for about a third of the time, even with a CPU for
/// each thread.
constexpr double k_saved_by_one_thread = 0.35;

/// With more runnable threads for each CPU, threads wait for CPUs and slow each other down.
constexpr double k_crowded_above = 1.5;

double share_of(const std::map<std::string, double>& shares, std::string_view part) {
  const auto found = shares.find(std::string(part));
  return found == shares.end() ? 0.0 : found->second;
}

/// Returns the program's runnable threads for each CPU if there are too many; otherwise nullopt.
std::optional<double> crowd_of(const Survey& survey) {
  const double crowd = survey.activity ? survey.activity->runnable_threads_per_cpu() : 0.0;
  return crowd > k_crowded_above ? std::optional(crowd) : std::nullopt;
}

/// True if the training process itself computes the batches, so that its settings affect them.
bool loads_in_training_process(const Survey& survey) {
  return count_today(survey.log, "num_workers").value_or(0) == 0 &&
         !loading_waits(survey).value_or(true);
}

/// Returns the share of the step that the knob affects.
double acted_on(const Knob& knob, const Survey& survey,
                const std::map<std::string, double>& shares) {
  if (knob.part == "host") {
    if (const auto idle = survey.metric("gpu_idle_share")) return *idle;
    // Too many threads also slow the workers down, for which a step may wait.
    const bool affects_loading = loads_in_training_process(survey) || crowd_of(survey);
    return affects_loading ? 1.0 : 1.0 - share_of(shares, "data");
  }
  if (knob.part == k_collector_part) return survey.metric(k_collector_share).value_or(0.0);
  if (knob.part == "prepare") return share_of(shares, "prepare") + share_of(shares, "transfer");
  if (knob.part == "forward") return share_of(shares, "forward") + share_of(shares, "backward");
  if (knob.part == "data") return 1.0 - 1.0 / loading_ceiling(survey).value_or(1.0);
  return knob.part.empty() ? 1.0 : share_of(shares, knob.part);
}

/// Returns the largest share of computing time that another number of threads can save. If there
/// are more threads than CPUs, at most `cpus / threads` of them run at a time.
double saved_by_threads(const Survey& survey, double cpus) {
  const auto today = count_today(survey.log, "num_threads");
  if (!today) return k_usual_saving;
  const double threads = std::max(1.0, static_cast<double>(*today));
  if (const auto crowd = crowd_of(survey)) return 1.0 - 1.0 / *crowd;
  if (threads < cpus) return 1.0 - threads / cpus;
  return threads > cpus ? 1.0 - cpus / threads : k_saved_by_one_thread;
}

/// Returns the share of the loading time that more workers can save. Workers that compute share the
/// CPUs with the training process.
double saved_by_workers(const Survey& survey, double cpus) {
  if (loading_waits(survey).value_or(true)) return 1.0;
  const auto today = count_today(survey.log, "num_workers").value_or(0);
  const double computing = std::max(1.0, static_cast<double>(today));
  // Workers that compute save time because they work during the step.
  return std::max(k_usual_saving, 1.0 - computing / std::max(1.0, cpus));
}

double saved_by(const Knob& knob, const Survey& survey, const Facts& facts) {
  const auto fact = facts.find("cpus");
  const double cpus = fact == facts.end() ? 1.0 : fact->second;
  if (knob.name == "num_threads") return saved_by_threads(survey, cpus);
  if (knob.name == "num_workers") return saved_by_workers(survey, cpus);
  // The kernel mostly spends its time on new pages, which memory that the program keeps does not
  // need. Huge pages also save address look-ups of the processor, but the survey does not measure
  // these.
  const auto kernel = knob.name == "malloc" ? survey.metric("kernel_share") : std::nullopt;
  if (kernel) return std::max(0.1, *kernel);
  const auto known = std::ranges::find(k_savings, std::string_view(knob.name), &Saving::knob);
  return known == k_savings.end() ? k_usual_saving : known->share;
}

double amdahl(double saved_share) {
  // The limit avoids a division by zero.
  return 1.0 / (1.0 - std::clamp(saved_share, 0.0, 0.99));
}

}  // namespace

std::optional<double> possible_gain(const Knob& knob, const Survey& survey, const Facts& facts) {
  const auto shares = survey.part_shares();
  if (shares.empty()) return std::nullopt;
  return amdahl(acted_on(knob, survey, shares) * saved_by(knob, survey, facts));
}

std::optional<double> loading_ceiling(const Survey& survey) {
  if (const auto replay = survey.log.replay()) return replay->ceiling();
  const auto shares = survey.part_shares();
  if (shares.empty()) return std::nullopt;
  return amdahl(share_of(shares, "data"));
}

bool loading_can_gain(const Survey& survey, double least) {
  if (loading_ceiling(survey).value_or(least) >= least) return true;
  // While a GPU computes, waiting for data may cost nothing. On a CPU, waiting costs its full time,
  // even if the replay was slow because of other load.
  return text_at(survey.log.event("patched"), "device") == "cpu" &&
         amdahl(share_of(survey.part_shares(), "data")) >= least;
}

std::string ceiling_text(const Survey& survey) {
  const auto ceiling = loading_ceiling(survey);
  if (!ceiling) return "";
  return loading_ceiling_text(*ceiling, survey.log.replay().has_value());
}

/// If threads wait for CPUs, more workers would compute no faster, so loading does not wait. With
/// workers, uses their CPU share as the hook reports it. If the hook reports none, uses the
/// CPU share of all children in `/proc`. If there are no workers, the training process loads data
/// itself. Its CPU time minus the time of computation then shows how busy it is while a step waits
/// for data.
std::optional<bool> loading_waits(const Survey& survey) {
  if (crowd_of(survey)) return false;
  const auto& activity = survey.activity;
  const auto shares = survey.part_shares();
  const auto workers = count_today(survey.log, "num_workers");
  const auto reported = survey.metric("loader_worker_cpu_share");
  if (workers.value_or(0) > 0 && reported) return *reported < k_waiting_cpu_share;
  if (!activity || !(activity->span_s > 0.0) || shares.empty()) return std::nullopt;
  if (workers.value_or(0) > 0) return activity->cpu_share_per_child() < k_waiting_cpu_share;
  const double data = share_of(shares, "data");
  if (!(data > 0.0)) return std::nullopt;
  const double threads = std::clamp(activity->computing_threads, 1, activity->cpus);
  const double busy_cpus = activity->trainer_cpu_s / activity->span_s;
  return (busy_cpus - (1.0 - data) * threads) / data < k_waiting_cpu_share;
}

std::optional<std::int64_t> count_today(const HookLog& log, const char* knob) {
  const auto reported = log.knobs().find(knob);
  if (reported == log.knobs().end() || !reported->second.today.is_number_integer())
    return std::nullopt;
  const auto count = reported->second.today.get<std::int64_t>();
  return count >= 0 && count <= k_most_listed ? std::optional(count) : std::nullopt;
}

/// The loader requests workers x prefetch batches ahead. When the program needs the next batch,
/// some of the requested batches have not arrived. By Little's law, the mean number of batches
/// under way is the number of busy workers. This mean is half a batch higher than the number at
/// those moments.
std::optional<double> busy_workers(const Survey& survey) {
  const auto workers = count_today(survey.log, "num_workers");
  const auto arrived = survey.metric("loader_queue_depth");
  if (!workers || *workers == 0 || !arrived) return std::nullopt;
  const auto ahead =
      *workers * count_today(survey.log, "prefetch_factor").value_or(k_default_prefetch_factor);
  const double under_way = std::max(0.0, static_cast<double>(ahead) - *arrived);
  return std::min(1.0, (under_way + 0.5) / static_cast<double>(*workers));
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/metrics.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "common/utf8.hpp"

namespace steptune {
namespace {

using Labels = std::vector<std::pair<const char*, std::string>>;

/// Escapes backslash, quote and newline; keeps all other characters, as UTF-8.
std::string label_value(const std::string& text) {
  std::string value;
  for (const char c : as_utf8(text)) {
    if (c == '\\' || c == '"') value += '\\';
    if (c == '\n') {
      value += "\\n";
    } else {
      value += c;
    }
  }
  return value;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0.0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// All samples of one metric. If there are none, writes nothing.
class Family {
 public:
  Family(const char* name, const char* type, const char* help)
      : name_(name), head_(fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type)) {}

  void add(const Labels& labels, double value) {
    std::string text;
    for (const auto& [label, of] : labels)
      text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", label, label_value(of));
    samples_ += fmt::format("{}{{{}}} {}\n", name_, text, number_text(value));
  }

  [[nodiscard]] std::string text() const { return samples_.empty() ? "" : head_ + samples_; }

 private:
  const char* name_;
  std::string head_;
  std::string samples_;
};

constexpr std::array k_statuses{TrialStatus::launching,     TrialStatus::running,
                                TrialStatus::completed,     TrialStatus::stopped_early,
                                TrialStatus::infeasible,    TrialStatus::failed,
                                TrialStatus::out_of_memory, TrialStatus::interrupted};

std::int64_t count_of(const StudyFigures& study, TrialStatus status) {
  const auto found = study.listed.counts.find(status);
  return found == study.listed.counts.end() ? 0 : found->second;
}

std::string states_text(const std::vector<StudyFigures>& studies) {
  Family running("steptune_study_running", "gauge",
                 "1 while a tuner runs, otherwise 0; after a kill also 1 while other studies run.");
  Family trials("steptune_trials", "gauge", "Trials of the study by state.");
  Family machines("steptune_machines_in_use", "gauge",
                  "Running trials of the study by the rented machines that each runs on.");
  Family faults("steptune_trial_faults_total", "counter",
                "Trials that failed or ran out of memory, and launches that had to be repeated.");
  Family unreadable("steptune_study_unreadable", "gauge",
                    "1 if only the study's state and counts could be read, otherwise 0.");
  for (const StudyFigures& study : studies) {
    const std::string& name = study.listed.record.name;
    unreadable.add({{"study", name}}, study.fault.empty() ? 0.0 : 1.0);
    running.add({{"study", name}}, study.listed.record.status == StudyStatus::running ? 1.0 : 0.0);
    for (const TrialStatus status : k_statuses) {
      trials.add({{"study", name}, {"state", to_text(status)}},
                 static_cast<double>(count_of(study, status)));
    }
    for (const auto& [kind, count] : study.machines)
      machines.add({{"study", name}, {"machines", kind}}, count);
    const auto add_fault = [&](const char* kind, std::int64_t count) {
      faults.add({{"study", name}, {"kind", kind}}, static_cast<double>(count));
    };
    add_fault("failed", count_of(study, TrialStatus::failed));
    add_fault("out_of_memory", count_of(study, TrialStatus::out_of_memory));
    // If the figures cannot be read, leave the counter out. Prometheus would take a counter of 0
    // for a restart and count the old value again.
    if (study.fault.empty()) add_fault("relaunched", study.spending.relaunches);
  }
  return unreadable.text() + running.text() + trials.text() + machines.text() + faults.text();
}

std::string spending_text(const std::vector<StudyFigures>& studies) {
  Family dollars("steptune_spend_dollars_total", "counter",
                 "US dollars that the study cost: its trials, and machines kept but not used.");
  Family billed("steptune_billed_seconds_total", "counter",
                "Seconds that the study's trials were billed for.");
  Family idle("steptune_machines_idle_seconds_total", "counter",
              "Seconds that rented machines (a warm pool, an allocation) were kept but not used.");
  Family tuning("steptune_tuning_seconds_total", "counter", "Seconds that the study was tuned.");
  for (const StudyFigures& study : studies) {
    const StudyRecord& record = study.listed.record;
    dollars.add({{"study", record.name}, {"for", "idle_machines"}}, record.overhead_usd);
    if (study.fault.empty()) {
      dollars.add({{"study", record.name}, {"for", "trials"}}, study.spending.usd);
      billed.add({{"study", record.name}}, study.spending.billed_s);
      idle.add({{"study", record.name}}, study.idle_s);
    }
    tuning.add({{"study", record.name}}, record.elapsed_s);
  }
  return dollars.text() + billed.text() + idle.text() + tuning.text();
}

std::string best_text(const std::vector<StudyFigures>& studies) {
  Family time("steptune_best_planned_run_seconds", "gauge",
              "Duration of the planned run with the best configuration so far.");
  Family cost("steptune_best_planned_run_dollars", "gauge",
              "US dollars of the planned run with the best configuration so far.");
  Family sample_time("steptune_best_million_samples_seconds", "gauge",
                     "Seconds per million samples (or what the study counts) with the best "
                     "configuration so far.");
  Family sample_cost("steptune_best_million_samples_dollars", "gauge",
                     "US dollars per million samples (or what the study counts) with the best "
                     "configuration so far.");
  Family metric(
      "steptune_best_metric", "gauge",
      "Reported metric, an objective, of the best configuration so far; in its own unit.");
  Family speed_up("steptune_recommended_speed_up_ratio", "gauge",
                  "How many times as fast as the baseline the recommended configuration is.");
  for (const StudyFigures& study : studies) {
    const Labels labels{{"study", study.listed.record.name}};
    const auto& recommendation = study.listed.recommendation;
    if (recommendation && std::isfinite(recommendation->speed_up.ratio)) {
      speed_up.add(labels, recommendation->speed_up.ratio);
    }
    for (std::size_t i = 0; i < study.objectives.size() && i < study.best.size(); ++i) {
      const ObjectiveView& view = study.objectives[i];
      const double value = study.best[i];
      const std::string unit = view.unit();
      if (unit.starts_with("USD")) {
        (view.planned_run ? cost : sample_cost).add(labels, value);
      } else if (!unit.empty()) {
        (view.planned_run ? time : sample_time).add(labels, value);
      } else {
        metric.add({labels.front(), {"metric", view.title()}}, value);
      }
    }
  }
  return time.text() + cost.text() + sample_time.text() + sample_cost.text() + metric.text() +
         speed_up.text();
}

}  // namespace

std::string metrics_text(const std::vector<StudyFigures>& studies,
                         std::string_view program_version) {
  Family build("steptune_build_info", "gauge", "1, labelled with the version of the program.");
  build.add({{"version", std::string(program_version)}}, 1.0);
  return build.text() + states_text(studies) + best_text(studies) + spending_text(studies);
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/output.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "trial_runner/sagemaker/simulated_account/slow_looks.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"

namespace steptune::simulated {
namespace {

/// True if the report begins a phase.
bool begins_phase(const std::string& line) {
  return line.find("\"phase\":") != std::string::npos &&
         line.find("\"seconds\":") == std::string::npos;
}

}  // namespace

double SimulatedTrial::asked_after_s() const {
  return std::min({given_s, slow_after_s.value_or(given_s), idle_after_s.value_or(given_s)});
}

double SimulatedTrial::duration_s() const {
  const double asked_s = asked_after_s() + program.stop_s;
  return std::min(program.ends_after_s.value_or(asked_s), asked_s);
}

bool SimulatedTrial::is_over() const {
  return !program.ends_after_s || *program.ends_after_s > asked_after_s();
}

void SimulatedTrial::apply_slow_limit(const SlowLimit& limit) {
  SimulatedOutput output(program, true, 0.0, rng);
  output.produce_until(std::min(given_s, program.ends_after_s.value_or(given_s)));
  SlowLooks looks(limit);
  const std::vector<double>& times_s = output.times_s();
  for (std::size_t i = 1; i < times_s.size() && !slow_after_s; ++i) {
    if (looks.report(times_s[i], output.samples_at(i))) slow_after_s = times_s[i];
  }
}

void SimulatedTrial::apply_idle_limit(double idle_s) {
  const double until_s = std::min(given_s, program.ends_after_s.value_or(given_s));
  SimulatedOutput output(program, true, 0.0, rng);
  output.produce_until(until_s);
  std::vector<double> times_s = output.times_s();
  times_s.push_back(until_s);
  for (std::size_t i = 1; i < times_s.size() && !idle_after_s; ++i) {
    const double found_s = times_s[i - 1] + idle_s;
    if (times_s[i] > found_s && !begins_phase(output.text(i - 1))) idle_after_s = found_s;
  }
}

SimulatedOutput::SimulatedOutput(const SimulatedProgram& program, bool reports, double start_s,
                                 Rng rng)
    : program_(program),
      start_s_(start_s),
      rng_(std::move(rng)),
      step_times_(program.noise, rng_),
      next_s_(start_s + program.startup_s),
      times_s_{start_s} {
  if (!reports || program.step_s <= 0.0) return;
  steps_per_line_ = std::max(1.0, std::round(1.0 / program.step_s));
  next_s_ += program_.step_s * step_times_.take(steps_per_line_, rng_);
}

SimulatedOutput::SimulatedOutput(const std::vector<SimulatedTrial>& trials, double start_s, Rng rng)
    : start_s_(start_s), rng_(std::move(rng)), step_times_({}, rng_) {
  double begin_s = start_s;
  for (const SimulatedTrial& trial : trials) {
    SimulatedOutput output(trial.program, true, begin_s, trial.rng);
    const double end_s = begin_s + trial.duration_s();
    output.end(end_s, trial.is_over() ? std::string() : trial.program.failure);
    trials_.push_back({trial, begin_s, end_s, std::move(output)});
    begin_s = end_s;
  }
  produce_trials_until(start_s);
}

void SimulatedOutput::produce_trials_until(double time_s) {
  const double until_s = std::min(time_s, end_s_.value_or(time_s));
  const auto put = [&](const Place& place, double at_s) {
    places_.push_back(place);
    times_s_.push_back(at_s);
  };
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    TrialOutput& trial = trials_[i];
    if (trial.ended || trial.begin_s > until_s) continue;
    if (!std::exchange(trial.begun, true)) put({i, 0, PackMark::Kind::begin}, trial.begin_s);
    trial.output.produce_until(until_s);
    const std::vector<double>& times = trial.output.times_s();
    for (; trial.next < times.size() && times[trial.next] <= until_s; ++trial.next)
      put({i, trial.next}, times[trial.next]);
    if (trial.end_s > until_s) continue;
    trial.ended = true;
    const double asked_s = trial.spec.asked_after_s();
    if (trial.spec.is_over() && trial.spec.slow_after_s == asked_s) {
      put({i, 0, PackMark::Kind::slow}, trial.end_s);
    } else if (trial.spec.is_over() && trial.spec.idle_after_s == asked_s) {
      put({i, 0, PackMark::Kind::idle}, trial.end_s);
    }
    if (trial.spec.is_over()) put({i, 0, PackMark::Kind::over}, trial.end_s);
    put({i, 0, PackMark::Kind::end}, trial.end_s);
  }
}

std::string SimulatedOutput::text_of(const Place& place) const {
  const TrialOutput& trial = trials_[place.trial];
  if (!place.mark) return trial.output.text(place.line);
  return pack_mark_text({*place.mark, trial.spec.key,
                         trial.spec.is_over() ? k_sigterm_status : trial.spec.program.exit_code});
}

void SimulatedOutput::end(double time_s, std::string last_words) {
  end_s_ = time_s;
  last_words_ = std::move(last_words);
}

void SimulatedOutput::produce_until(double time_s) {
  if (!trials_.empty()) return produce_trials_until(time_s);
  const double until_s = std::min(time_s, end_s_.value_or(time_s));
  while (steps_per_line_ > 0.0 && next_s_ <= until_s) {
    times_s_.push_back(next_s_);
    next_s_ += program_.step_s * step_times_.take(steps_per_line_, rng_);
  }
  if (end_s_ && *end_s_ <= time_s && !last_words_.empty() && !last_words_spoken_) {
    times_s_.push_back(*end_s_);
    last_words_spoken_ = true;
  }
}

std::string SimulatedOutput::text(std::size_t index) const {
  if (!trials_.empty()) return text_of(places_[index]);
  if (index == 0) return program_.first_line;
  if (last_words_spoken_ && index + 1 == times_s_.size()) return last_words_;
  return report(index);
}

double SimulatedOutput::samples_at(std::size_t index) const {
  return static_cast<double>(index) * steps_per_line_ * program_.samples_per_step;
}

std::string SimulatedOutput::report(std::size_t index) const {
  const double steps = static_cast<double>(index) * steps_per_line_;
  std::string line = fmt::format("[steptune] {{\"v\":1,\"step\":{:.0f},\"samples\":{:.12g}", steps,
                                 samples_at(index));
  fmt::format_to(std::back_inserter(line), ",\"clock\":{:.6f}", times_s_[index] - start_s_);
  Json not_finite = Json::array();
  for (const auto& [name, value] : program_.metrics) {
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(line), ",{}:{:.9g}", Json(name).dump(), value);
    } else {
      not_finite.push_back(name);
    }
  }
  if (!not_finite.empty()) {
    fmt::format_to(std::back_inserter(line), ",\"not_finite\":{}", not_finite.dump());
  }
  line += '}';
  return line;
}

}  // namespace steptune::simulated

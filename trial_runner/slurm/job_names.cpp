// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/job_names.hpp"

#include <charconv>
#include <regex>

#include <fmt/format.h>

#include "trial_runner/readable_job_name.hpp"

namespace steptune::slurm {

std::string study_prefix(const std::string& study, const std::string& identity) {
  std::string readable;
  for (const char c : study.substr(0, k_most_study_characters)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    readable += plain ? c : '-';
  }
  return fmt::format("{}{}.{}.", k_job_prefix, readable, study_hash(study, identity));
}

std::optional<std::string> study_of_job(std::string_view job) {
  if (!job.starts_with(k_job_prefix)) return std::nullopt;
  job.remove_prefix(k_job_prefix.size());
  const std::size_t end = job.find('.');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  return std::string(job.substr(0, end));
}

std::string step_name(TrialKey key, int launch, const std::string& word) {
  return fmt::format("t{}-a{}-l{}-{}", key.trial, key.attempt, launch, word);
}

std::optional<TrialKey> trial_of_step(std::string_view name) {
  static const std::regex k_form("t[0-9]+-a[0-9]+-l[0-9]+-[0-9a-f]+");
  if (!std::regex_match(name.begin(), name.end(), k_form)) return std::nullopt;
  TrialKey key;
  const char* const end = name.data() + name.size();
  const auto trial = std::from_chars(name.data() + 1, end, key.trial);
  std::from_chars(trial.ptr + 2, end, key.attempt);
  return key;
}

std::optional<int> launch_of(std::string_view step_name, TrialKey key) {
  const std::string begin = fmt::format("t{}-a{}-l", key.trial, key.attempt);
  if (!step_name.starts_with(begin)) return std::nullopt;
  int launch = 0;
  std::from_chars(step_name.data() + begin.size(), step_name.data() + step_name.size(), launch);
  return launch > 0 ? std::optional(launch) : std::nullopt;
}

}  // namespace steptune::slurm

// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_name.hpp"

#include <charconv>
#include <regex>

#include <fmt/format.h>

#include "trial_runner/readable_job_name.hpp"

namespace steptune {
namespace {

bool alphanumeric(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9');
}

/// Parses a positive number; nullopt for 0 and for numbers that do not fit.
template <typename Number>
std::optional<Number> counted(const std::ssub_match& text) {
  Number number = 0;
  const std::string digits = text.str();
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc() || number < 1) return std::nullopt;
  return number;
}

}  // namespace

std::string job_name_prefix(const std::string& study, const std::string& salt) {
  std::string readable;
  for (const char character : study) {
    if (readable.size() == k_most_study_characters) break;
    if (alphanumeric(character)) {
      readable += character;
    } else if (!readable.empty() && readable.back() != '-') {
      readable += '-';
    }
  }
  while (readable.ends_with('-'))
    readable.pop_back();
  if (readable.empty()) readable = "study";
  return fmt::format("{}-{}-", readable, study_hash(study, salt));
}

std::string job_name(const std::string& prefix, TrialKey key, int launch) {
  const std::string first = fmt::format("{}t{}-a{}", prefix, key.trial, key.attempt);
  return launch == 1 ? first : fmt::format("{}-r{}", first, launch);
}

std::optional<JobOwner> job_owner(const std::string& name) {
  static const std::regex k_form(
      "([a-zA-Z0-9][a-zA-Z0-9-]*)-[0-9a-f]{8}-t([0-9]+)-a([0-9]+)(-r([0-9]+))?");
  std::smatch parts;
  if (!std::regex_match(name, parts, k_form)) return std::nullopt;
  const auto trial = counted<std::int64_t>(parts[2]);
  const auto attempt = counted<int>(parts[3]);
  const auto launch = parts[4].matched ? counted<int>(parts[5]) : std::optional(1);
  if (!trial || !attempt || !launch) return std::nullopt;
  return JobOwner{parts[1].str(), {*trial, *attempt}, *launch};
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_name.hpp"

#include <fmt/format.h>

#include "trial_runner/sagemaker/aws/sigv4.hpp"

namespace steptune {
namespace {

// 63 characters less the hash and room for the largest trial and attempt numbers.
constexpr std::size_t k_max_study_length = 24;
constexpr std::size_t k_hash_length = 8;

bool alphanumeric(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9');
}

}  // namespace

std::string job_name_prefix(const std::string& study, const std::string& salt) {
  std::string readable;
  for (const char character : study) {
    if (readable.size() == k_max_study_length) break;
    if (alphanumeric(character)) {
      readable += character;
    } else if (!readable.empty() && readable.back() != '-') {
      readable += '-';
    }
  }
  while (readable.ends_with('-'))
    readable.pop_back();
  if (readable.empty()) readable = "study";
  return fmt::format("{}-{}-", readable,
                     aws::sha256_hex(study + '\n' + salt).substr(0, k_hash_length));
}

std::string job_name(const std::string& prefix, TrialKey key, int launch) {
  const std::string first = fmt::format("{}t{}-a{}", prefix, key.trial, key.attempt);
  return launch == 1 ? first : fmt::format("{}-r{}", first, launch);
}

}  // namespace steptune

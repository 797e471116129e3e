// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/submission_answer.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "common/exit_status.hpp"

namespace steptune::slurm {
namespace {

/// Parts of messages about temporary errors.
constexpr std::string_view k_temporary[] = {
    "Socket timed out", "Unable to contact",  "temporarily", "try again",     "Connection refused",
    "Connection reset", "Transport endpoint", "Zero Bytes",  "not responding"};
/// Common part of `AssocMaxSubmitJobLimit`, `QOSMaxSubmitJobPerUserLimit` and similar reasons.
constexpr std::string_view k_full[] = {"MaxSubmitJob"};
constexpr std::string_view k_refused[] = {
    "Batch job submission failed", "unrecognized option", "nvalid option", "nvalid --",
    "nvalid numeric value",        "not a valid"};

bool tells(const CommandResult& result, std::span<const std::string_view> phrases) {
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    return result.err.find(phrase) != std::string::npos;
  });
}

/// Returns the leading number of the last line that begins with a number. Takes the last, because
/// wrappers of sbatch may print further lines.
std::string job_id_of(std::string_view text) {
  std::string id;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits > 0) id = line.substr(0, digits);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return id;
}

}  // namespace

bool may_pass(const CommandResult& result) {
  return result.timed_out || tells(result, k_temporary) || tells(result, k_full);
}

SubmissionAnswer read_submission(const CommandResult& result) {
  if (result.ok()) {
    std::string id = job_id_of(result.out);
    return id.empty() ? SubmissionAnswer{} : SubmissionAnswer{Submission::accepted, std::move(id)};
  }
  if (result.timed_out || tells(result, k_temporary)) return {};
  if (tells(result, k_full)) return {Submission::full, {}};
  const bool refused = result.status == k_not_found_status || tells(result, k_refused);
  return {refused ? Submission::refused : Submission::unclear, {}};
}

}  // namespace steptune::slurm

// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/submission.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/text.hpp"

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

/// Returns the leading number of the last line that begins with a number. Ignores earlier lines,
/// because wrappers of sbatch may print some.
std::string job_id_of(const std::string& text) {
  std::string id;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits > 0) id = line.substr(0, digits);
  }
  return id;
}

}  // namespace

std::vector<std::string> submit_words(const AllocationSpec& requested, const SlurmOptions& options,
                                      const std::string& name, const std::string& avoided) {
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 "--job-name=" + name,
                                 "--output=/dev/null",
                                 "--chdir=/",
                                 fmt::format("--nodes={}", requested.nodes),
                                 fmt::format("--ntasks-per-node={}", held_tasks_per_node(options))};
  if (const auto cpus = fixed_cpus_per_task(options)) {
    words.push_back(fmt::format("--cpus-per-task={}", *cpus));
  }
  if (options.exclusive) words.emplace_back("--exclusive");
  if (!requested.value_of("mem")) words.emplace_back("--mem=0");
  if (!requested.value_of("time")) {
    words.push_back(fmt::format("--time={:.0f}", std::ceil(options.default_time_s / 60.0)));
  }
  for (const std::string& option : requested.options) {
    if (option != k_site_memory) words.push_back("--" + option);
  }
  if (avoided.empty()) return words;
  // sbatch uses only the last --exclude, so merge both lists.
  const auto excluded = requested.value_of("exclude");
  words.push_back("--exclude=" + (excluded ? *excluded + "," : "") + avoided);
  return words;
}

std::optional<int> fixed_cpus_per_task(const SlurmOptions& options) {
  if (!options.cpus_per_task) return std::nullopt;
  const auto number = parse_finite(options.cpus_per_task->text());
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

int held_tasks_per_node(const SlurmOptions& options) {
  return static_cast<int>(parse_finite(options.tasks_per_node.text()).value_or(1.0));
}

bool may_pass(const CommandResult& result) {
  return result.timed_out || tells(result, k_temporary) || tells(result, k_full);
}

tl::expected<std::string, Setback> read_submission(const CommandResult& result) {
  if (result.ok()) {
    std::string id = job_id_of(result.out);
    if (id.empty()) return tl::unexpected(Setback::unclear);
    return id;
  }
  if (result.timed_out || tells(result, k_temporary)) return tl::unexpected(Setback::unclear);
  if (tells(result, k_full)) return tl::unexpected(Setback::full);
  const bool refused = result.status == k_not_found_status || tells(result, k_refused);
  return tl::unexpected(refused ? Setback::refused : Setback::unclear);
}

std::string last_words(const CommandResult& result) {
  const std::string& text = result.err.empty() ? result.out : result.err;
  if (result.timed_out) return "no answer in time";
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return fmt::format("exit status {}", result.status);
  const auto begin_of_line = [&text](std::size_t at) {
    const std::size_t before = text.rfind('\n', at);
    return before == std::string::npos ? 0 : before + 1;
  };
  std::size_t begin = begin_of_line(end);
  // If a site's own checks refuse a job, they print the reason, and sbatch then prints only a
  // general failure ("Unspecified error").
  while (begin > 1) {
    const std::size_t former = begin_of_line(begin - 2);
    const std::string_view line = std::string_view(text).substr(former, begin - 1 - former);
    if (line.find(": error: ") == std::string_view::npos) break;
    begin = former;
  }
  return printable_line(std::string_view(text).substr(begin, end + 1 - begin));
}

}  // namespace steptune::slurm

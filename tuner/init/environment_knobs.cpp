// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "tuner/init/guess_parts.hpp"
#include "tuner/init/knob_declaration.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// Keeps freed memory in the program, so that its pages are not faulted in again (mallopt(3)).
constexpr const char* k_keep_memory =
    "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=4294967296:glibc.malloc.top_pad=16777216";

/// Addition to `k_keep_memory` that asks the kernel for pages of 2 MiB.
constexpr const char* k_huge_pages = "glibc.malloc.hugetlb=1:";

class EnvironmentKnobs {
 public:
  EnvironmentKnobs(const NativeRuntimes& runtimes, const Facts& machine, StudyBuilder& study)
      : runtimes_(runtimes), machine_(machine), study_(study) {}

  void add_all() {
    const bool has_threads = !study_.parameter_of("threads").empty();
    if (runtimes_.has_openmp && !has_threads) add_threads("threads", "OMP_NUM_THREADS", "OpenMP");
    if (runtimes_.has_openmp) {
      // Threads that wait for other threads either spin (active) or sleep (passive).
      add_choice("omp_wait_policy", "OMP_WAIT_POLICY",
                 {{"active", "active"}, {"passive", "passive"}});
    }
    if (runtimes_.has_openblas && !has_threads) {
      add_threads(runtimes_.has_openmp ? "blas_threads" : "threads", "OPENBLAS_NUM_THREADS",
                  "OpenBLAS");
    }
    // Keeping freed memory gains at most the kernel's share of the time.
    const bool may_pay =
        runtimes_.has_threads() || runtimes_.kernel_share >= k_noticeable_difference;
    if (runtimes_.has_glibc_malloc && may_pay) {
      Json choices = {{"keep", k_keep_memory}};
      if (runtimes_.may_ask_for_huge_pages) {
        choices["hugepages"] = fmt::format("{}{}", k_huge_pages, k_keep_memory);
      }
      add_choice("malloc", "GLIBC_TUNABLES", choices);
    }
  }

 private:
  /// True if `variable` can be set from outside and no parameter of this name exists yet.
  [[nodiscard]] bool is_free(const std::string& name, const std::string& variable) {
    if (study_.has(name)) return false;
    if (!runtimes_.set_by_command.contains(variable)) return true;
    study_.leave(variable, "the command sets it itself");
    return false;
  }

  /// True if the program seems to override the variable, for example by omp_set_num_threads(8). It
  /// then computes with at least twice as many threads as `given`. Fewer additional threads may
  /// load data.
  [[nodiscard]] bool sets_threads_itself(int given) const {
    const bool has_one_pool = runtimes_.has_openmp != runtimes_.has_openblas;
    return has_one_pool && given > 0 && runtimes_.computing_threads >= 2 * given;
  }

  void add_threads(const std::string& name, const std::string& variable,
                   const std::string& library) {
    if (!is_free(name, variable)) return;
    // If its own variable is not set, OpenBLAS uses OpenMP's variable (README of OpenBLAS).
    std::string today = runtimes_.value_of(variable);
    std::string from = "its current value";
    if (today.empty()) {
      today = runtimes_.value_of("OMP_NUM_THREADS");
      from = "the value of OMP_NUM_THREADS";
    }
    if (today.empty()) {
      today = fmt::format("{:.0f}", fact_value("cpus", machine_));
      from = fmt::format("{}'s default", library);
    }
    const auto number = whole_number(today);
    if (!number) {
      return study_.leave(variable,
                          fmt::format("\"{}\" is not a whole number", printable_line(today, 60)));
    }
    if (sets_threads_itself(static_cast<int>(*number))) {
      return study_.leave(variable,
                          fmt::format("{} threads compute, but {} would start {}: the program "
                                      "sets their number itself",
                                      runtimes_.computing_threads, library, *number));
    }
    SpaceKnob rule;
    rule.low = "1";
    rule.high = "cpus";
    auto declaration = number_declaration(rule, today, machine_);
    if (!declaration) return study_.leave(variable, fmt::format("{} leaves no range", today));
    add(name, "threads", variable, *std::move(declaration), *number, today, from);
  }

  /// Adds a choice. Its value `default` leaves the variable unchanged; `others` maps names to the
  /// variable's other values.
  void add_choice(const std::string& name, const std::string& variable, const Json& others) {
    if (!is_free(name, variable)) return;
    Json choices = {{"default", ""}};
    choices.update(others);
    const bool is_given = runtimes_.environment.contains(variable);
    add(name, "other", variable, {{"type", "categorical"}, {"choices", std::move(choices)}},
        "default", "default", is_given ? "its current value" : "not set");
  }

  void add(const std::string& name, const std::string& role, const std::string& variable,
           Json declaration, const Json& baseline, const std::string& today,
           const std::string& from) {
    const std::string source = fmt::format("{}; {}", variable, from);
    study_.add({.parameter = name, .role = role, .option = {}, .today = today, .from = source},
               std::move(declaration), baseline, source);
    study_.give_variable(name, variable);
  }

  const NativeRuntimes& runtimes_;
  const Facts& machine_;
  StudyBuilder& study_;
};

}  // namespace

void add_environment_knobs(const NativeRuntimes& runtimes, const Facts& machine,
                           StudyBuilder& study) {
  EnvironmentKnobs(runtimes, machine, study).add_all();
}

}  // namespace steptune

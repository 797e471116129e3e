// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/numbers.hpp"
#include "search/scheduler.hpp"
#include "search/searcher.hpp"
#include "tuner/study/sections.hpp"

namespace steptune::study {
namespace {

/// Most elements of each list of this section: each costs time or memory for every suggestion.
constexpr std::size_t k_max_listed = 10;

Type<std::vector<std::string>> earlier_studies() {
  auto type = document::list_of(document::string(), k_max_listed);
  type.read = [](const Node& node) {
    std::vector<std::string> studies;
    for (const Node& element : node.elements(k_max_listed)) {
      const auto name = element.string();
      if (!name) continue;
      if (!document::is_study_name(*name)) {
        element.fault("is not a study name; `steptune studies` lists those of a history");
      } else if (std::ranges::find(studies, *name) != studies.end()) {
        element.fault("repeats an earlier study of the list");
      }
      studies.push_back(*name);
    }
    return std::optional(std::move(studies));
  };
  return type;
}

void check_steps(const ObjectNode& object, const SearchSpec& search) {
  if (search.min_steps <= search.max_steps) return;
  const bool low_given = object.has("min_steps");
  object.find(low_given ? "min_steps" : "max_steps")
      ->fault(fmt::format("min_steps ({}) is above max_steps ({})", search.min_steps,
                          search.max_steps));
}

}  // namespace

const Section<SearchSpec>& search_section() {
  static const auto k_section =
      Section<SearchSpec>("search", "Choice of configurations, and of trials to stop early.",
                          "an object such as {\"searcher\": \"bayes\"}")
          .add(key("searcher", &SearchSpec::searcher, document::one_of(searcher_names()))
                   .doc("proposes configurations: `bayes`, `random`, `sobol`, `grid`, or "
                        "[`scaling`](distributed.md#the-knee-with-few-trials), which looks for a "
                        "number of machines"))
          .add(key("scheduler", &SearchSpec::scheduler, document::one_of(scheduler_names()))
                   .doc("[stops slow trials](algorithms.md#which-trial-to-stop-early): `asha`, "
                        "`racing`, `median`, `none`"))
          // JSON readers that store numbers as doubles keep such a seed exactly.
          .add(key("seed", &SearchSpec::seed, document::integer({0.0, k_max_whole}))
                   .doc("same seed, same history, same suggestions"))
          .add(key("eta", &SearchSpec::eta, document::number({1.1, 100.0}))
                   .doc("ASHA: a share of 1/eta continues from each rung"))
          .add(key("min_steps", &SearchSpec::min_steps, document::number({1.0, 1e9}))
                   .doc("ASHA: steady-state steps of the first rung; `bayes` decides after 1, 2, "
                        "4, ... times as many"))
          .add(key("max_steps", &SearchSpec::max_steps, document::number({1.0, 1e9}))
                   .doc("ASHA: most steady-state steps of a rung"))
          .add(key("initial_points", &SearchSpec::initial_points, document::integer({0.0, 1e6}))
                   .default_words("from the space")
                   .doc("space-filling trials before the model takes over"))
          .add(key("first_guesses", &SearchSpec::first_guesses, document::boolean())
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::never)
                   .default_words("`false`; `true` with `run --first-guesses` and `exec --tune`")
                   .doc("begin with [an expert's guesses](algorithms.md#first-guesses)"))
          .add(key("worth", &SearchSpec::worth, document::number({0.0, 1.0}))
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::never)
                   .default_words("0.05")
                   .doc("least gain that counts: the study [ends "
                        "early](algorithms/confirming.md#nothing-to-gain) if no configuration can "
                        "gain as much; 0: never"))
          .add(key("learn_from", &SearchSpec::learn_from, earlier_studies())
                   .omitted_at_default()
                   .doc("`bayes`: earlier studies of the same history that guide the search"))
          .add(
              key("memory_terms", &SearchSpec::memory_terms,
                  document::list_of(document::formula(), k_max_listed))
                  .omitted_at_default()
                  .in_fingerprint(InFingerprint::never)
                  .doc(
                      "`bayes`: a trial's peak memory is nearly a constant plus a multiple of each "
                      "of [these expressions](algorithms/bayes.md#failures): `micro_batch / tp`"))
          .add(key("over", &SearchSpec::over, document::string())
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::unless_default)
                   .default_words("guessed from the runner's `nodes` and the like, or from names")
                   .doc("`scaling`: the parameter that counts machines, GPUs or processes"))
          .add(key("min_efficiency", &SearchSpec::min_efficiency, document::number({0.01, 1.0}))
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::unless_default)
                   .default_words("0.7")
                   .doc("`scaling`: least gain of each further machine, as a share of the first "
                        "one's"))
          .add(key("waiting_per_hour", &SearchSpec::waiting_per_hour, document::number({0.0, 1e6}))
                   .omitted_at_default()
                   .in_fingerprint(InFingerprint::never)
                   .default_words("the machine's own price")
                   .doc("`bayes`, `rehearse`: price of an hour of waiting for machines in USD; a "
                        "higher one means fewer starts"))
          .check(check_steps);
  return k_section;
}

}  // namespace steptune::study

// SPDX-License-Identifier: Apache-2.0
// Simulates years of nightly re-tuning under a virtual clock. Prints how often and how soon changes
// were noticed, and the cost.
#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/nightly_year/year.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace steptune;
using nightly_year::YearModel;

struct Tally {
  int years = 0;
  int upgrade_same_night = 0, machine_same_night = 0;
  int false_alarms = 0, worst_year = 0;
  int replaced = 0;  ///< number of nights that replaced the configuration in use
  double nights_s = 0.0, scratch_s = 0.0, nights = 0.0;
  /// Relative excess of the time of the configuration in use over the best configuration's, summed
  /// over nights.
  double excess = 0.0;
};

void count(const YearModel& model, const nightly_year::Year& year, Tally& tally) {
  int false_alarms = 0;
  for (const Night& night : year.nights) {
    tally.nights_s += night.elapsed_s;
    tally.nights += 1.0;
    tally.excess +=
        nightly_year::true_seconds_per_sample(model, night.number, night.after.configuration) /
            nightly_year::best_seconds_per_sample(model, night.number) -
        1.0;
    if (night.result == NightResult::improved && night.number > 1) ++tally.replaced;
    if (!night.slowdown && night.broken.empty()) continue;
    if (night.number == model.library_upgrade) {
      ++tally.upgrade_same_night;
    } else if (night.number == model.slower_machine) {
      ++tally.machine_same_night;
    } else {
      ++false_alarms;
    }
  }
  ++tally.years;
  tally.false_alarms += false_alarms;
  tally.worst_year = std::max(tally.worst_year, false_alarms);
  tally.scratch_s += year.scratch_s;
}

void print_events(const nightly_year::Year& year) {
  for (const Night& night : year.nights) {
    if (night.result == NightResult::kept && night.searched == 0) continue;
    fmt::print(
        "night {:3}  {:9}  searched {:2}  {:6.0f} s  {}{}\n", night.number, to_text(night.result),
        night.searched, night.elapsed_s, night.after.configuration.text(),
        night.slowdown
            ? fmt::format("  slower {:.3f} since {}", night.slowdown->ratio, night.slowdown->since)
            : std::string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int years = 5;
  std::uint64_t first_seed = 1;
  std::string searcher = "bayes";
  std::int64_t nights = YearModel{}.nights;
  bool quiet_years = false, events = false;
  CLI::App program("Years of nightly re-tuning under a virtual clock.", "nightly_year");
  program.add_option("--years", years, "Number of years, each of 365 nights");
  program.add_option("--nights", nights, "Nights of each year");
  program.add_option("--seed", first_seed, "Seed of the first year");
  program.add_option("--searcher", searcher, "Searcher, as in a study file");
  program.add_flag("--nothing-happens", quiet_years,
                   "Only noise, without changes: counts false alarms");
  program.add_flag("--events", events, "Print every night with a search or a warning");
  CLI11_PARSE(program, argc, argv);

  Tally tally;
  for (int i = 0; i < years; ++i) {
    YearModel model = nightly_year::usual_year(first_seed + static_cast<std::uint64_t>(i));
    model.searcher = searcher;
    model.nights = nights;
    if (quiet_years) model.library_upgrade = model.slower_machine = 0;
    const TemporaryFolder folder("nightly-year");
    const auto year = nightly_year::play(model, folder.path(), {10, 140, 240});
    if (!year) {
      fmt::print(stderr, "{}\n", year.error().text());
      return 1;
    }
    if (events) print_events(*year);
    count(model, *year, tally);
    // Each year takes about a minute.
    fmt::print(stderr, "year {} of {} ended: {} false alarms so far\n", i + 1, years,
               tally.false_alarms);
  }
  const double scratch_s = tally.scratch_s / tally.years;
  const double night_s = tally.nights_s / tally.nights;
  fmt::print("years                                   {}\n", tally.years);
  if (!quiet_years) {
    fmt::print("library upgrade noticed the same night  {} of {}\n", tally.upgrade_same_night,
               tally.years);
    fmt::print("slower machine noticed the same night   {} of {}\n", tally.machine_same_night,
               tally.years);
  }
  fmt::print("false alarms                            {} ({} in the worst year)\n",
             tally.false_alarms, tally.worst_year);
  fmt::print("configuration in use replaced           {}\n", tally.replaced);
  fmt::print("in use slower than the best by          {:.2f} % on average\n",
             100.0 * tally.excess / tally.nights);
  fmt::print("tuning time of a night                  {:.0f} s\n", night_s);
  fmt::print("tuning time from scratch                {:.0f} s\n", scratch_s);
  fmt::print("a night's share of tuning from scratch  {:.1f} %\n", 100.0 * night_s / scratch_s);
  return 0;
}

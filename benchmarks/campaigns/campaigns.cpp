// SPDX-License-Identifier: Apache-2.0
// Simulates campaigns of edits, and prints which edits each rule keeps.
#include <cstdint>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/campaigns/simulated_campaign.hpp"

namespace {

using namespace steptune::campaigns;

struct Tally {
  int campaigns = 0;
  int with_false_keep = 0;
  double improvements = 0.0, found = 0.0, false_keeps = 0.0, spent_s = 0.0;
};

Tally play_all(CampaignModel model, int campaigns) {
  Tally tally;
  for (int i = 0; i < campaigns; ++i) {
    ++model.seed;
    const CampaignResult result = play(model);
    ++tally.campaigns;
    tally.with_false_keep += result.false_keeps > 0 ? 1 : 0;
    tally.improvements += result.improvements;
    tally.found += result.found;
    tally.false_keeps += result.false_keeps;
    tally.spent_s += result.spent_s;
  }
  return tally;
}

void print_row(const CampaignModel& model, const Tally& tally) {
  const double kept = tally.found + tally.false_keeps;
  fmt::print("{:5.0f} %  {:9}  {:4.0f} %  {:>7}  {:7.1f} %  {:>7}  {:8.1f}  {:6.0f}\n",
             100.0 * model.launch_variation, to_text(model.rule), 100.0 * model.gain,
             tally.improvements > 0.0
                 ? fmt::format("{:.1f} %", 100.0 * tally.found / tally.improvements)
                 : "-",
             100.0 * tally.with_false_keep / tally.campaigns,
             kept > 0.0 ? fmt::format("{:.1f} %", 100.0 * tally.false_keeps / kept) : "-",
             kept / tally.campaigns, tally.spent_s / tally.campaigns / model.edits);
}

}  // namespace

int main(int argc, char** argv) {
  int campaigns = 1000;
  CampaignModel model;
  std::vector<double> variations{0.0, 0.01, 0.03, 0.1};
  std::vector<double> gains{0.0, 0.03, 0.1};
  CLI::App program("Campaigns of simulated edits, judged by several rules.", "campaigns");
  program.add_option("--campaigns", campaigns, "Number of campaigns in each row");
  program.add_option("--edits", model.edits, "Edits of a campaign");
  program.add_option("--time", model.judge_time_s, "Longest time of one judgement, in seconds");
  program.add_option("--variations", variations, "Variations of launches, as shares");
  program.add_option("--spread", model.spread,
                     "Standard deviation of the logarithm of the variation among edits");
  program.add_option("--later", model.later_variation,
                     "Variation of launches from the middle of a campaign on, as a share");
  program.add_option("--gains", gains, "Gains of each tenth edit, as shares; 0: none");
  CLI11_PARSE(program, argc, argv);

  fmt::print("{:>7}  {:9}  {:>6}  {:>7}  {:>9}  {:>7}  {:>8}  {:>6}\n", "varies", "rule", "gain",
             "found", "campaigns", "of kept", "kept in a", "s an");
  fmt::print("{:>7}  {:9}  {:>6}  {:>7}  {:>9}  {:>7}  {:>8}  {:>6}\n", "", "", "", "",
             "with false", "false", "campaign", "edit");
  for (const double gain : gains) {
    for (const double variation : variations) {
      for (const Rule rule : {Rule::campaign, Rule::single, Rule::greedy, Rule::two_wins}) {
        model.launch_variation = variation;
        model.gain = gain;
        model.gain_every = gain > 0.0 ? 10 : 0;
        model.rule = rule;
        model.seed = 0;
        print_row(model, play_all(model, campaigns));
      }
    }
  }
  return 0;
}

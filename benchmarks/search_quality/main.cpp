// SPDX-License-Identifier: Apache-2.0
// search_quality: counts the evaluations that a searcher needs on recorded tables and test
// functions.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/search_quality/comparison.hpp"
#include "benchmarks/search_quality/earlier_trials.hpp"
#include "benchmarks/search_quality/function_problem.hpp"
#include "benchmarks/search_quality/player.hpp"
#include "benchmarks/search_quality/python_peer.hpp"
#include "benchmarks/search_quality/step_time_family.hpp"
#include "benchmarks/search_quality/summary.hpp"
#include "benchmarks/search_quality/table_problem.hpp"

namespace steptune::search_quality {
namespace {

/// Counts the CPU time of this process, which does not depend on other programs on the machine.
class CpuClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  }
  [[nodiscard]] double wall_time_s() const override { return SystemClock().wall_time_s(); }
};

/// Returns the folder of scripts/frameworks: $STEPTUNE_FRAMEWORKS, or its default.
std::filesystem::path frameworks_folder() {
  if (const char* folder = std::getenv("STEPTUNE_FRAMEWORKS")) return folder;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "/") / ".cache" / "steptune-frameworks";
}

std::filesystem::path default_python(const Peer& peer) {
  return frameworks_folder() / peer.environment / "bin" / "python3";
}

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
  for (const Peer& peer : python_peers())
    names.push_back(peer.name);
  return names;
}

struct Options {
  std::vector<std::string> tables;
  std::vector<std::string> functions;
  int step_times = 0;
  std::uint64_t family_seed = 0;
  std::vector<std::string> searchers;
  int seeds = 20;
  std::uint64_t first_seed = 0;
  int trials = 100;
  std::optional<int> initial_points;
  std::string json;
  std::string store;
  std::string compare_with;
  bool peers = false;
  std::string against;
  std::string objectives = "one";
  std::optional<std::string> second;
  std::optional<std::string> fidelity;
  EarlierOptions earlier;
  std::string python;
  std::string peer_script = STEPTUNE_PEER_SCRIPT;
};

void declare(CLI::App& app, Options& options) {
  app.add_option("--table", options.tables, "description (.json) of a recorded table; repeatable");
  app.add_option("--function", options.functions,
                 fmt::format("test function: {}", fmt::join(function_names(), ", ")));
  app.add_option("--step-times", options.step_times,
                 "play this many members of the synthetic family of step times to within 3 %")
      ->check(CLI::Range(1, 10'000));
  app.add_option("--family-seed", options.family_seed, "seed that draws those members")
      ->capture_default_str();
  app.add_option("--searcher", options.searchers,
                 fmt::format("{}, or a peer: {} (default: bayes); repeatable",
                             fmt::join(searcher_names(), ", "), fmt::join(peer_names(), ", ")));
  app.add_option("--seeds", options.seeds, "number of seeds")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "the first seed")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--trials", options.trials, "evaluations per seed")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--initial-points", options.initial_points,
                 "space-filling points before the model is used (default: the searcher chooses)")
      ->check(CLI::Range(1, 1'000));
  app.add_option("--json", options.json, "write every evaluation and the summaries to this file");
  app.add_option("--store", options.store, "write the result of each seed, for --compare-with");
  app.add_option("--compare-with", options.compare_with,
                 "figures of an earlier version (--store): fail if this version is worse, "
                 "one-sided Mann-Whitney p < 0.01");
  app.add_flag("--peers", options.peers,
               "also run random search, and each peer whose environment exists");
  app.add_option("--against", options.against,
                 "also run this searcher and test whether the others are better (one-sided)");
  app.add_option("--objectives", options.objectives,
                 "one or two (tables: the second column is --second)")
      ->check(CLI::IsMember({"one", "two"}));
  app.add_option("--second", options.second, "second objective: COLUMN or COLUMN:maximize");
  app.add_option("--fidelity", options.fidelity,
                 "parameter of a table that is a resource: run successive halving over it");
  app.add_option("--earlier", options.earlier.trials,
                 "with --fidelity: search at the full resource; an earlier study had this many "
                 "random trials at the smallest resource")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--misleading", options.earlier.misleading,
               "the earlier study's values belong to other configurations");
  app.add_option("--python", options.python,
                 "interpreter of all peers (default: those of scripts/frameworks peers hebo)");
  app.add_option("--peer-script", options.peer_script)->group("");
}

Result<std::vector<Problem>> problems_of(const Options& options) {
  std::vector<Problem> problems;
  TableOptions table_options;
  table_options.two_objectives = options.objectives == "two" || options.second;
  table_options.second = options.second;
  table_options.fidelity = options.fidelity;
  for (const std::string& table : options.tables) {
    auto problem = table_problem(table, table_options);
    if (!problem) return tl::unexpected(problem.error());
    problems.push_back(*std::move(problem));
  }
  for (const std::string& function : options.functions) {
    auto problem = function_problem(function);
    if (!problem) return tl::unexpected(problem.error());
    problems.push_back(*std::move(problem));
  }
  if (problems.empty() && options.step_times == 0) {
    return fail(ErrorKind::usage, "nothing to search", {},
                "give --table, --function or --step-times");
  }
  if (options.earlier.trials > 0 && !options.fidelity) {
    return fail(ErrorKind::usage, "--earlier needs --fidelity", {},
                "name the table's parameter that is a resource; the earlier study had its "
                "smallest value");
  }
  if (table_options.two_objectives && options.fidelity) {
    return fail(ErrorKind::usage, "--fidelity goes with one objective");
  }
  return problems;
}

/// True if the peer can search the problem.
bool suits(const Peer& peer, const Problem& problem) {
  if (!peer.general && (problem.objectives.size() > 1 || problem.fidelities.size() > 1)) {
    return false;
  }
  return peer.name != "optuna-gp-log" ||
         std::ranges::all_of(problem.objectives, &ObjectiveTraits::positive);
}

std::vector<std::string> names_of(const Options& options) {
  std::vector<std::string> names = options.searchers;
  if (names.empty()) names.emplace_back("bayes");
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (!options.against.empty()) add(options.against);
  if (options.peers) add("random");
  return names;
}

/// Returns the searchers to run. With --peers, these include each peer that suits the problem and
/// whose environment exists.
std::vector<std::string> names_of(const Options& options, const Problem& problem) {
  std::vector<std::string> names = names_of(options);
  if (!options.peers) return names;
  for (const Peer& peer : python_peers()) {
    if (std::find(names.begin(), names.end(), peer.name) != names.end()) continue;
    if (!suits(peer, problem)) continue;
    if (options.python.empty() && !std::filesystem::exists(default_python(peer))) {
      fmt::print(stderr, "{} is left out: make its environment with scripts/frameworks {}\n",
                 peer.name, peer.environment);
      continue;
    }
    names.push_back(peer.name);
  }
  return names;
}

Result<Campaign> run(const Problem& problem, const std::string& name, const Options& options) {
  constexpr double k_goal = 0.01;
  const CpuClock clock;
  const Peer* peer = find_python_peer(name);
  Campaign campaign;
  campaign.searcher = name;
  for (int i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(i);
    fmt::print(stderr, "{}: {} seed {} of {}\n", problem.name, name, i + 1, options.seeds);
    auto proposer =
        peer ? peer_proposer(*peer, problem, seed, options.trials,
                             options.python.empty() ? default_python(*peer)
                                                    : std::filesystem::path(options.python),
                             options.peer_script)
             : own_proposer(name, problem, seed, options.initial_points,
                            earlier_trials(problem, seed, options.earlier));
    if (!proposer) return tl::unexpected(proposer.error());
    auto trajectory = options.fidelity && options.earlier.trials == 0
                          ? play_asha(problem, **proposer, seed, options.trials, k_goal, clock)
                          : play(problem, **proposer, seed, options.trials, clock);
    if (!trajectory) return tl::unexpected(trajectory.error());
    campaign.trajectories.push_back(*std::move(trajectory));
  }
  return campaign;
}

Result<Json> run_problem(const Problem& problem, const Options& options, Comparison& comparison) {
  Json json{{"problem", problem.name},
            {"kind", problem.kind},
            {"objectives", problem.objective_names},
            {"trials", options.trials}};
  if (problem.objectives.size() == 1) {
    json["optimum"] = problem.maximised[0] ? -problem.optimum : problem.optimum;
    json["regret_relative_to"] =
        problem.relative_to_optimum ? "optimum" : "gap between the optimum and random's median";
  }
  std::vector<Campaign> campaigns;
  std::vector<Summary> summaries;
  for (const std::string& name : names_of(options, problem)) {
    auto campaign = run(problem, name, options);
    if (!campaign) return tl::unexpected(campaign.error());
    campaigns.push_back(*std::move(campaign));
    summaries.push_back(summarise(problem, campaigns.back()));
    json["searchers"].push_back(to_json(problem, campaigns.back(), summaries.back()));
  }
  fmt::print("{}", text_of(problem, campaigns, summaries));
  for (const Campaign& campaign : campaigns)
    fmt::print("{}", comparison.add(problem, campaign, options.trials));
  const auto rival =
      std::find_if(campaigns.begin(), campaigns.end(),
                   [&](const Campaign& campaign) { return campaign.searcher == options.against; });
  for (const Campaign& campaign : campaigns) {
    if (rival == campaigns.end() || campaign.searcher == options.against) continue;
    const double p = p_value(results_of(problem, campaign), results_of(problem, *rival));
    fmt::print("  {} better than {}: p = {:.2g} (one-sided Mann-Whitney, {} seeds each)\n",
               campaign.searcher, options.against, p, options.seeds);
    json["tests"].push_back(
        {{"better", campaign.searcher}, {"than", options.against}, {"p_value", p}});
  }
  std::fflush(stdout);
  return json;
}

Result<void> run_all(const Options& options) {
  auto problems = problems_of(options);
  if (!problems) return tl::unexpected(problems.error());
  auto comparison = Comparison::open(options.compare_with);
  if (!comparison) return tl::unexpected(comparison.error());
  Json json{{"schema_version", 1}, {"seeds", options.seeds}, {"problems", Json::array()}};
  for (const Problem& problem : *problems) {
    auto outcome = run_problem(problem, options, *comparison);
    if (!outcome) return tl::unexpected(outcome.error());
    json["problems"].push_back(*std::move(outcome));
  }
  if (options.step_times > 0) {
    Problem member;
    member.objectives = {{true}};
    const FamilyOptions family{options.step_times, options.family_seed, names_of(options, member)};
    auto outcome =
        run_step_time_family(family, [&](const Problem& problem, const std::string& name) {
          return run(problem, name, options);
        });
    if (!outcome) return tl::unexpected(outcome.error());
    json["step_times"] = *std::move(outcome);
  }
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << dump_json(json, 1) << '\n';
    file.close();
    if (!file) return fail(ErrorKind::usage, "can not be written", options.json);
  }
  return comparison->close(options.store);
}

}  // namespace
}  // namespace steptune::search_quality

int main(int argc, char** argv) {
  using namespace steptune;
  CLI::App app{"Measures how many evaluations a searcher needs to come near the optimum"};
  app.footer(
      "Example: search_quality --table trim_cnn_full.json --searcher bayes --peers --seeds 20");
  search_quality::Options options;
  search_quality::declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto outcome = search_quality::run_all(options);
  if (outcome) return 0;
  fmt::print(stderr, "search_quality: {}\n", outcome.error().text());
  return outcome.error().kind == ErrorKind::usage ? 2 : 1;
}

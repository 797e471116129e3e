// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/slurm_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/rng.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/rehearsal_stage.hpp"
#include "trial_runner/section_limits.hpp"
#include "trial_runner/slurm/cluster_services.hpp"
#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/slurm_kind.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"
#include "trial_runner/slurm/virtual_cluster.hpp"

namespace steptune {
namespace {

/// Largest number of test submissions unless all are refused. Each is a request to the controller.
constexpr std::size_t k_most_specs_tested = 20;

int whole_number(const document::Formula& formula, const Configuration& configuration, double least,
                 double most) {
  const double value = formula.evaluate(configuration);
  return value >= least && value <= most && value == std::floor(value) ? static_cast<int>(value)
                                                                       : -1;
}

/// Adds the option for the memory of each node.
void add_memory(slurm::AllocationSpec& requested, const document::StringTemplate& memory,
                const Configuration& configuration) {
  const std::string text = memory.render(configuration).value_or("");
  if (text != "all" && text != "0")
    requested.options.push_back("mem=" + (text.empty() ? "site" : text));
}

/// A key that must be a whole number for each configuration.
struct WholeNumber {
  const char* key;
  const document::Formula* formula;  ///< null: the key is not given
  const char* things;
  double least;
  double most;
  bool shares_nodes;  ///< without `exclusive`, the number must be equal for all trials
};

/// Options of sbatch that have a separate key, in the order of an allocation's spec.
constexpr std::array<std::pair<const char*, document::StringTemplate SlurmSection::*>, 7>
    k_option_keys{{
        {"partition", &SlurmSection::partition},
        {"account", &SlurmSection::account},
        {"qos", &SlurmSection::qos},
        {"constraint", &SlurmSection::constraint},
        {"gres", &SlurmSection::gres},
        {"reservation", &SlurmSection::reservation},
        {"time", &SlurmSection::time},
    }};

/// Returns the fault of an allocation spec; nullopt if there is none.
std::optional<document::Fault> fault_of(const slurm::AllocationSpec& requested,
                                        const SlurmSection& section,
                                        const Configuration& configuration, double needed_s) {
  const slurm::SlurmOptions& run = section.run;
  const std::array<WholeNumber, 4> numbers{{
      {"nodes", &section.nodes, "nodes", 1.0, k_most_machines, false},
      {"gpus_per_node", &section.gpus_per_node, "GPUs", 0.0, slurm::k_most_gpus, false},
      {"tasks_per_node", &run.tasks_per_node, "tasks", 1.0, k_most_processes_per_machine, true},
      {"cpus_per_task", run.cpus_per_task ? &*run.cpus_per_task : nullptr, "processors", 1.0,
       slurm::k_most_cpus, true},
  }};
  for (const WholeNumber& number : numbers) {
    if (number.formula == nullptr) continue;
    const std::string pointer = fmt::format("/runner/{}", number.key);
    const std::string text = printable_line(number.formula->text());
    if (whole_number(*number.formula, configuration, number.least, number.most) < 0) {
      return document::Fault{pointer,
                             fmt::format("\"{}\" is not a number of {}", text, number.things)};
    }
    if (number.shares_nodes && !run.exclusive && !parse_finite(number.formula->text())) {
      return document::Fault{
          pointer, fmt::format("must be a number if \"exclusive\" is false, not \"{}\"", text)};
    }
  }
  for (const std::string& option : requested.options) {
    const std::size_t equals = option.find('=');
    const std::string name = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "x" : option.substr(equals + 1);
    if (slurm::is_option_value(value) && slurm::is_option_value(name)) continue;
    const bool free_option =
        requested.value_of(name) && std::ranges::any_of(section.options, [&](const auto& each) {
          return each.text().starts_with("--" + name);
        });
    return document::Fault{
        "/runner/" + (free_option     ? "options"
                      : name == "mem" ? "memory"
                                      : name),
        fmt::format("\"{}\" cannot be given to sbatch: letters, digits and "
                    "_.:,&|*()[]@/=+%- are allowed, and no dash at the beginning",
                    printable_line(value, 60))};
  }
  const auto time = requested.value_of("time");
  if (!time) return std::nullopt;
  const auto time_s = slurm::time_limit_s(*time);
  if (!time_s) {
    return document::Fault{
        "/runner/time",
        fmt::format("\"{}\" is not a time as sbatch takes it: minutes, 4:00:00, 1-12",
                    printable_line(*time, 60))};
  }
  if (*time_s >= needed_s) return std::nullopt;
  return document::Fault{"/runner/time",
                         fmt::format("{} is too short for a trial, which needs {} "
                                     "(\"launch_limit\", \"wall\" in \"limits\", and time to end)",
                                     format_duration(*time_s), format_duration(needed_s))};
}

/// Checks `tasks_per_node` against the launch.
std::optional<std::string> fault_of_tasks(const std::optional<Launch>& launch,
                                          const SlurmSection& section) {
  if (!launch) return std::nullopt;
  const int tasks = launch->with == Launcher::srun ? launch->processes_per_node : 1;
  const std::string& text = section.run.tasks_per_node.text();
  if (parse_finite(text) == tasks) return std::nullopt;
  if (parse_finite(text) != 1.0) {
    return fmt::format("is {}, but \"launch\" starts {} task{} on each node: leave it out",
                       printable_line(text), tasks, tasks == 1 ? "" : "s");
  }
  if (section.run.exclusive) return std::nullopt;
  return fmt::format(
      "nodes are shared (\"exclusive\"), and held for one task on each: set it to "
      "\"processes_per_node\" of \"launch\", {}",
      tasks);
}

std::string text_of(const slurm::NodePrices& prices) {
  if (prices.single()) return format_usd(*prices.single());
  std::string text;
  for (const auto& [name, usd] : prices.by_name())
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", printable_line(name, 60), format_usd(usd));
  return text;
}

class SlurmStage final : public RehearsalStage {
 public:
  SlurmStage(const slurm::SlurmOptions& options, const RehearsalOptions& rehearsal)
      : clock_(rehearsal.wall_time_s), rng_(rehearsal.seed, "slurm rehearsal") {
    cluster_.usd_per_node_hour = options.usd_per_node_hour;
    cluster_.fate = [this, wait_s = options.expected_wait_s](const slurm::VirtualJob&) {
      // Draws an exponential wait: often short, sometimes long, as in real queues.
      const double drawn_s = -wait_s * std::log(1.0 - std::min(rng_.uniform(), 0.999));
      slurm::JobFate fate;
      fate.queue_s = 1.0 + drawn_s;  // at least the job's prologue and the scheduler's next round
      return fate;
    };
    cluster_.program = [this, rehearsal](const slurm::StepRequest& request) {
      slurm::VirtualProgram program;
      program.starts_after_s = slurm::k_step_start_s;
      SimulatedTraining training = rehearsal.training(request.values);
      const double pace = 1.0 + k_rehearsed_step_noise * (2.0 * rng_.uniform() - 1.0);
      training.step_s = std::max(1e-6, pace * training.step_s);
      program.training = training;
      return program;
    };
    runner_ = std::make_unique<SlurmRunner>(clock_, cluster_.make_host(), options);
  }
  [[nodiscard]] const Clock& clock() const override { return clock_; }
  [[nodiscard]] Runner& runner() override { return *runner_; }
  [[nodiscard]] RehearsalBill settle() override {
    const slurm::ClusterUse use = cluster_.use();
    RehearsalBill bill;
    bill.usd = use.held_usd;
    bill.not_training_usd = use.held_usd - use.step_usd;
    bill.cold_starts = use.allocations;
    bill.warm_starts = std::max(0, use.steps - use.allocations);
    bill.machine_hours = use.held_node_s / k_hour_s;
    return bill;
  }

 private:
  VirtualClock clock_;
  Rng rng_;
  slurm::VirtualCluster cluster_{clock_};
  std::unique_ptr<Runner> runner_;
};

}  // namespace

slurm::AllocationSpec SlurmSection::allocation_spec_of(const Configuration& configuration) const {
  slurm::AllocationSpec requested;
  requested.nodes = std::max(0, whole_number(nodes, configuration, 1.0, k_most_machines));
  for (const auto& [name, option] : k_option_keys) {
    const std::string text = (this->*option).render(configuration).value_or("");
    if (!text.empty()) requested.options.push_back(fmt::format("{}={}", name, text));
  }
  add_memory(requested, memory, configuration);
  const int gpus = whole_number(gpus_per_node, configuration, 0.0, slurm::k_most_gpus);
  if (gpus > 0) requested.options.push_back(fmt::format("gpus-per-node={}", gpus));
  for (const Template& option : options) {
    const std::string text = option.render(configuration).value_or("");
    // Leave out options with an empty value.
    if (text.size() > 2 && !text.ends_with('=')) requested.options.push_back(text.substr(2));
  }
  return requested;
}

bool SlurmSection::allocations_vary() const {
  const auto varies = [](const Template& option) { return !option.parameters().empty(); };
  return !parse_finite(nodes.text()) || !parse_finite(gpus_per_node.text()) ||
         std::ranges::any_of(k_option_keys,
                             [&](const auto& each) { return varies(this->*each.second); }) ||
         varies(memory) || std::ranges::any_of(options, varies);
}

SlurmSettings::SlurmSettings(SlurmSection section, const TrialLimits& limits)
    : section_(std::move(section)), limits_(limits) {
  slurm::SlurmOptions& run = section_.run;
  // The default length is at least an hour, and at least ten minutes more than a trial needs.
  run.default_time_s = std::max({k_hour_s, 4.0 * limits_.wall_s, least_allocation_s() + 600.0});
  traits_.parallel = run.parallel;
  traits_.uses_this_machine = false;
  traits_.takes_hooks = true;
  traits_.launchers = {{Launcher::torchrun, true}, {Launcher::srun, true}, {Launcher::mpi, true}};
  traits_.has_price = run.usd_per_node_hour.are_given();
  traits_.machines_vary = section_.allocations_vary();
  if (traits_.has_price) {
    traits_.longest_billed_s = slurm::longest_trial_s(limits, run.launch_limit_s) + run.lease_s();
  }
}

const RunnerKind& SlurmSettings::kind() const {
  return slurm_kind();
}

double SlurmSettings::least_allocation_s() const {
  return slurm::longest_trial_s(limits_, section_.run.launch_limit_s) + section_.run.poll_s;
}

std::filesystem::path SlurmSettings::folder() const {
  std::error_code error;
  if (!section_.folder.empty()) return section_.folder;
  return std::filesystem::current_path(error) / ".steptune" / "slurm";
}

Json SlurmSettings::write(const document::Writing& writing) const {
  return slurm_section().write(section_, writing);
}

std::shared_ptr<const RunnerSettings> SlurmSettings::complete(const StudyView& study,
                                                              document::Faults& faults) const {
  auto completed = std::make_shared<SlurmSettings>(*this);
  std::set<std::string> reported;
  const double needed_s = least_allocation_s();
  if (const auto launch = study.trial(study.baseline).launch) {
    for (const std::string& word : launch->options) {
      if (launch->with == Launcher::srun && word.starts_with("--mpi=")) completed->mpi_ = word;
    }
  }
  for (const Configuration& configuration : study.examples) {
    const slurm::AllocationSpec requested = section_.allocation_spec_of(configuration);
    const auto fault = fault_of(requested, section_, configuration, needed_s);
    if (fault && reported.insert(fault->pointer).second) {
      faults.add(fault->pointer, fmt::format("{} (for {})", fault->message, configuration.text()));
    }
    const auto tasks_fault = fault_of_tasks(study.trial(configuration).launch, section_);
    if (tasks_fault && reported.insert("/runner/tasks_per_node").second) {
      faults.add("/runner/tasks_per_node",
                 fmt::format("{} (for {})", *tasks_fault, configuration.text()));
    }
    const slurm::NodePrices& prices = section_.run.usd_per_node_hour;
    if (prices.are_given() && !prices.of(requested) &&
        reported.insert("/runner/price_per_node_hour").second) {
      faults.add("/runner/price_per_node_hour",
                 fmt::format("there is no price for {} (for {}): name its partition, constraint or "
                             "type of GPU",
                             to_text(slurm::to_resources(requested)), configuration.text()));
    }
    auto& specs = completed->specs_;
    if (std::ranges::find(specs, requested) == specs.end()) specs.push_back(requested);
  }
  return completed;
}

Resources SlurmSettings::resources_of(const Configuration& configuration) const {
  return slurm::to_resources(section_.allocation_spec_of(configuration));
}

std::optional<HourlyPrice> SlurmSettings::price_of(const Configuration& configuration) const {
  const slurm::AllocationSpec requested = section_.allocation_spec_of(configuration);
  const auto of_node = section_.run.usd_per_node_hour.of(requested);
  if (!of_node) return std::nullopt;
  const double usd = *of_node * requested.nodes;
  return HourlyPrice{usd, usd};
}

std::vector<SummaryLine> SlurmSettings::summary(const Configuration& baseline) const {
  std::vector<SummaryLine> lines{
      runner_line(*this, fmt::format(", baseline on {}{}", to_text(resources_of(baseline)),
                                     section_.run.exclusive ? ", exclusively" : ""))};
  if (const auto price = price_of(baseline)) {
    lines.push_back({"prices", fmt::format("{} per node and hour; the baseline {} per hour",
                                           text_of(section_.run.usd_per_node_hour),
                                           format_usd(price->expected_usd))});
  }
  std::vector<slurm::AllocationSpec> specs = specs_;
  if (specs.empty()) specs.push_back(section_.allocation_spec_of(baseline));
  std::vector<slurm::AllocationSpec> first = specs;
  if (first.size() > k_most_specs_tested) first.resize(k_most_specs_tested);
  auto answers = slurm::test_submissions(first, section_.run);
  std::size_t asked = answers.size();
  bool are_refused = std::ranges::all_of(answers, &slurm::TestedSubmission::refused);
  // If Slurm refuses every spec, no trial can start. So test further specs until Slurm accepts one.
  for (; are_refused && asked < specs.size(); ++asked) {
    const slurm::TestedSubmission next =
        slurm::test_submissions({specs[asked]}, section_.run).front();
    are_refused = next.refused;
    if (!are_refused) answers.push_back(next);
  }
  for (const slurm::TestedSubmission& answer : answers)
    lines.push_back({"sbatch", answer.text, are_refused});
  // If sbatch cannot be used, `test_submissions` stops early, and its last answer says why.
  if (asked >= k_most_specs_tested && asked < specs.size()) {
    lines.push_back(
        {"sbatch", fmt::format("asked about {} of {} kinds of allocation: each is a request to the "
                               "controller",
                               asked, specs.size())});
  }
  if (const auto fault = mpi_.empty() ? std::nullopt : slurm::fault_of_mpi(mpi_))
    lines.push_back({"srun", "refused: " + *fault, true});
  return lines;
}

Result<RunnerParts> SlurmSettings::make(const Clock& clock, std::uint64_t /*seed*/) const {
  if (const auto fault = mpi_.empty() ? std::nullopt : slurm::fault_of_mpi(mpi_)) {
    return fail(ErrorKind::runner, *fault, "srun " + mpi_,
                "`srun --mpi=list` lists the plugins: choose one with \"options\" in \"launch\", "
                "[\"--mpi=...\"]");
  }
  slurm::ProcessHostOptions host_options;
  host_options.folder = folder();
  host_options.inherited = section_.inherit;
  auto host = slurm::ProcessHost::create(clock, std::move(host_options));
  if (!host) return tl::unexpected(host.error());
  return RunnerParts{nullptr, &clock,
                     std::make_unique<SlurmRunner>(clock, *std::move(host), section_.run)};
}

std::unique_ptr<RehearsalStage> SlurmSettings::rehearse(const RehearsalOptions& options) const {
  return std::make_unique<SlurmStage>(section_.run, options);
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
// Each case breaks one thing in a sound study (as a JSON merge patch). It must give exactly one
// fault, at that place, which says what is wrong.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

struct Broken {
  std::string name;
  std::string patch;
  std::string pointer;
  std::string text;
};

void PrintTo(const Broken& broken, std::ostream* stream) {
  *stream << broken.patch;
}

std::string case_name(const ::testing::TestParamInfo<Broken>& test) {
  return test.param.name;
}

class BrokenDocument : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenDocument, IsRefusedWithPlaceAndFault) {
  const Broken& broken = GetParam();
  Json document = testing::study_document();
  const auto patch = parse_json(broken.patch, "patch");
  ASSERT_TRUE(patch) << patch.error().text();
  document.merge_patch(*patch);

  const auto study = testing::read(document);

  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().kind, ErrorKind::usage);
  EXPECT_EQ(study.error().where, "/studies/study.json#" + broken.pointer) << study.error().text();
  EXPECT_THAT(study.error().message, HasSubstr(broken.text));
}

const std::vector<Broken>& general() {
  static const std::vector<Broken> k_cases = {
      {"unknown_key", R"({"budgets": {}})", "/budgets", "did you mean \"budget\"?"},
      {"unknown_key_far_off", R"({"xyzzy": 1})", "/xyzzy", "known here: \"$schema\", \"name\""},
      {"schema_no_text", R"({"$schema": 1})", "/$schema", "expected a string, not a number"},
      {"name_missing", R"({"name": null})", "", "the key \"name\" is missing"},
      {"name_empty", R"({"name": ""})", "/name", "not a study name"},
      {"name_path", R"({"name": "../../etc/passwd"})", "/name", "not a study name"},
      {"name_dash", R"({"name": "-rf"})", "/name", "not starting with - or ."},
      {"name_dot", R"({"name": ".hidden"})", "/name", "not a study name"},
      {"name_long",
       R"({"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})", "/name",
       "1 to 64"},
      {"name_number", R"({"name": 7})", "/name", "expected a string, not a number"},
      {"directory_no_text", R"({"working_directory": ["."]})", "/working_directory",
       "expected a string, not a list"},
      {"directory_empty", R"({"working_directory": ""})", "/working_directory", "write \".\""},
      {"facts_unknown", R"({"facts": {"cpu": 4}})", "/facts/cpu", "did you mean \"cpus\"?"},
      {"facts_negative", R"({"facts": {"gpus": -1}})", "/facts/gpus", "at least 0"},
  };
  return k_cases;
}
INSTANTIATE_TEST_SUITE_P(General, BrokenDocument, ::testing::ValuesIn(general()), case_name);

const std::vector<Broken>& command() {
  static const std::vector<Broken> k_cases = {
      {"missing", R"({"command": null})", "", "the key \"command\" is missing"},
      {"shell_text", R"({"command": "python3 train.py"})", "/command",
       "expected a list, not a string"},
      {"empty", R"({"command": []})", "/command", "name the training program"},
      {"number", R"({"command": ["python3", "{batch_size} {workers} {precision} {prefetch}", 7],
                     "parameters": {"prefetch": {"when": null}}, "baseline": {"prefetch": 1}})",
       "/command/2", "expected a string, or an object"},
      {"program_empty", R"({"command": ["", "{batch_size}{workers}{precision}"],
                            "parameters": {"prefetch": null}})",
       "/command/0", "name is empty"},
      {"program_conditional",
       R"({"command": [{"when": "workers > 0", "args": ["x"]}, "{batch_size}{workers}{precision}"],
           "parameters": {"prefetch": null}})",
       "/command/0", "must be a string"},
      {"program_with_conditional_parameter",
       R"({"command": ["train-{prefetch}", "{batch_size}{workers}{precision}"]})", "/command/0",
       "must not depend on a parameter with a condition"},
      {"placeholder_unknown",
       R"({"command": ["t", "{batchsize}", "{batch_size}{workers}{precision}"],
                                  "parameters": {"prefetch": null}})",
       "/command/1", "{batchsize} has no parameter; did you mean \"batch_size\"?"},
      {"placeholder_open", R"({"command": ["t", "{batch_size"]})", "/command/1",
       "write {name} for the value of a parameter, or {{ for a brace"},
      {"placeholder_empty", R"({"command": ["t", "{}"]})", "/command/1", "is not a placeholder"},
      {"json_argument", R"({"command": ["t", "{\"lr\": 1}"]})", "/command/1", "{{ for a brace"},
      {"nul", R"({"command": ["t", "a\u0000b"]})", "/command/1", "NUL"},
      {"part_unknown_key", R"({"command": ["t", {"if": "workers > 0", "args": ["x"]}]})",
       "/command/1/if", "known here: \"when\", \"args\""},
      {"part_without_args", R"({"command": ["t", {"when": "workers > 0"}]})", "/command/1",
       "the key \"args\" is missing"},
      {"part_args_empty", R"({"command": ["t", {"when": "workers > 0", "args": []}]})",
       "/command/1/args", "the list is empty"},
      {"part_args_text", R"({"command": ["t", {"args": "--amp"}]})", "/command/1/args",
       "expected a list, not a string"},
      {"part_when_unknown", R"({"command": ["t", {"when": "worker > 0", "args": ["x"]}]})",
       "/command/1/when", "did you mean \"workers\"?"},
      {"part_when_syntax", R"({"command": ["t", {"when": "workers >", "args": ["x"]}]})",
       "/command/1/when", "ends too early"},
      {"dangling_option",
       R"({"command": ["t", "{batch_size}{workers}{precision}", "--prefetch", "{prefetch}"]})",
       "/command/3", R"(write {"args":["--prefetch","{prefetch}"]} to keep the two together)"},
      {"dangling_override",
       R"({"command": ["t", "{batch_size}{workers}{precision}", "-o", "data.prefetch={prefetch}"]})",
       "/command/3", R"({"args":["-o","data.prefetch={prefetch}"]})"},
      {"vanishing_positional",
       R"({"command": ["t", "{batch_size}{workers}{precision}", "{prefetch}"]})", "/command/2",
       R"(write {"args":["{prefetch}"]} to leave out this one alone)"},
      {"group_takes_others_along",
       R"({"command": ["t", "{batch_size}{workers}{precision}",
                       {"when": "precision == 'bf16'", "args": ["--amp", "--prefetch={prefetch}"]}]})",
       "/command/2/when", "where {prefetch} has no value"},
      {"env_list", R"({"env": []})", "/env", "expected an object of variables, not a list"},
      {"env_name", R"({"env": {"1BAD": "x"}})", "/env/1BAD",
       "not the name of an environment variable"},
      {"env_name_equals", R"({"env": {"A=B": "x"}})", "/env/A=B", "not the name of an environment"},
      {"env_number", R"({"env": {"OMP_NUM_THREADS": 4}, "parameters": {"threads": null},
                         "baseline": {"threads": null}, "constraints": []})",
       "/env/OMP_NUM_THREADS", "expected a string, not a number"},
      {"env_placeholder", R"({"env": {"X": "{thread}"}})", "/env/X", "did you mean \"threads\"?"},
      {"env_nul", R"({"env": {"X": "a\u0000"}})", "/env/X", "NUL"},
      {"env_path", R"({"env": {"PATH": "/tmp"}})", "/env/PATH", "absolute path in \"command\""},
      {"env_audit", R"({"env": {"LD_AUDIT": "x.so"}})", "/env/LD_AUDIT", "cannot be set"},
      {"env_bash", R"({"env": {"BASH_ENV": "x"}})", "/env/BASH_ENV", "cannot be set"},
      {"env_own", R"({"env": {"STEPTUNE_DB": "x"}})", "/env/STEPTUNE_DB", "are reserved"},
      {"env_secret", R"({"env": {"HF_TOKEN": "x"}})", "/env/HF_TOKEN", "looks like a secret"},
      {"env_aws", R"({"env": {"AWS_SECRET_ACCESS_KEY": "x"}})", "/env/AWS_SECRET_ACCESS_KEY",
       "trials inherit it"},
  };
  return k_cases;
}
INSTANTIATE_TEST_SUITE_P(Command, BrokenDocument, ::testing::ValuesIn(command()), case_name);

const std::vector<Broken>& space() {
  static const std::vector<Broken> k_cases = {
      {"missing", R"({"parameters": null, "command": ["t"], "env": null, "constraints": [],
                      "planned_run": {"batch_size": 1}})",
       "", "the key \"parameters\" is missing"},
      {"list", R"({"parameters": [], "command": ["t"], "env": null, "constraints": [],
                   "planned_run": {"batch_size": 1}})",
       "/parameters", "expected an object of parameters by name, not a list"},
      {"name", R"({"parameters": {"batch-size": {"type": "bool"}}})", "/parameters/batch-size",
       "not a parameter name"},
      {"name_slash", R"({"parameters": {"a/b~c": {"type": "bool"}}})", "/parameters/a~1b~0c",
       "not a parameter name"},
      {"name_of_fact", R"({"parameters": {"cpus": {"type": "bool"}}})", "/parameters/cpus",
       "is the name of a fact"},
      {"name_reserved", R"({"parameters": {"and": {"type": "bool"}}})", "/parameters/and",
       "a word of the expression language"},
      {"no_object", R"({"parameters": {"workers": 4}})", "/parameters/workers",
       "expected an object such as {\"type\": \"int\""},
      {"no_type", R"({"parameters": {"workers": {"type": null}}})", "/parameters/workers",
       "one of \"int\", \"float\", \"bool\""},
      {"type_unknown", R"({"parameters": {"workers": {"type": "integer"}}})",
       "/parameters/workers/type", "\"integer\" is not one of"},
      {"type_slip", R"({"parameters": {"workers": {"type": "flot"}}})", "/parameters/workers/type",
       "did you mean \"float\"?"},
      {"key_slip", R"({"parameters": {"workers": {"hgh": 4}}})", "/parameters/workers/hgh",
       "did you mean \"high\"?"},
      {"choices_on_int", R"({"parameters": {"workers": {"choices": [1]}}})",
       "/parameters/workers/choices", "unknown key"},
      {"memory_on_categorical", R"({"parameters": {"precision": {"memory": "increases"}}})",
       "/parameters/precision/memory", "unknown key"},
      {"low_missing", R"({"parameters": {"workers": {"low": null}}})", "/parameters/workers",
       "the key \"low\" is missing"},
      {"empty_range", R"({"parameters": {"threads": {"low": 9}}})", "/parameters/threads/low",
       "the range is empty: low 9 is above high 8"},
      {"empty_range_of_fact", R"({"parameters": {"threads": {"high": "gpus"}}})",
       "/parameters/threads/low", "the range is empty"},
      {"fraction", R"({"parameters": {"threads": {"low": 1.5}}})", "/parameters/threads/low",
       "for fractions use type \"float\""},
      {"bound_unknown_fact", R"({"parameters": {"threads": {"high": "cpu"}}})",
       "/parameters/threads/high", "did you mean \"cpus\"?"},
      {"bound_of_parameter", R"({"parameters": {"threads": {"high": "workers"}}})",
       "/parameters/threads/high", "\"workers\" is no fact"},
      {"bound_infinite", R"({"parameters": {"threads": {"high": "cpus / gpus"}}})",
       "/parameters/threads/high", "cannot be used as a bound"},
      {"bound_boolean", R"({"parameters": {"threads": {"high": true}}})",
       "/parameters/threads/high", "expected a number, or an expression"},
      {"bound_absurd", R"({"parameters": {"threads": {"high": 1e300}}})",
       "/parameters/threads/high", "must be at most"},
      {"bound_absurd_integer", R"({"parameters": {"threads": {"high": 18446744073709551615}}})",
       "/parameters/threads/high", "must be at most"},
      {"scale", R"({"parameters": {"threads": {"scale": "logg"}}})", "/parameters/threads/scale",
       "did you mean \"log\"?"},
      {"log_of_zero", R"({"parameters": {"workers": {"scale": "log2"}}})",
       "/parameters/workers/low", "positive low"},
      {"no_power_of_two",
       R"({"parameters": {"threads": {"low": 5, "high": 7, "scale": "log2"}},
           "baseline": {"threads": 5}})",
       "/parameters/threads/low", "no power of two"},
      {"step_zero", R"({"parameters": {"threads": {"step": 0}}})", "/parameters/threads/step",
       "not a positive number"},
      {"step_fraction", R"({"parameters": {"threads": {"step": 0.5}}})", "/parameters/threads/step",
       "fraction"},
      {"step_on_log", R"({"parameters": {"threads": {"step": 1, "scale": "log"}}})",
       "/parameters/threads/step", "needs a linear scale"},
      {"choices_missing", R"({"parameters": {"precision": {"choices": null}}})",
       "/parameters/precision", "the key \"choices\" is missing"},
      {"choices_empty", R"({"parameters": {"precision": {"choices": []}}})",
       "/parameters/precision/choices", "no choices"},
      {"choices_number", R"({"parameters": {"precision": {"choices": 3}}})",
       "/parameters/precision/choices", "expected a list of values, or an object"},
      {"choices_repeated", R"({"parameters": {"precision": {"choices": ["fp32", "fp32"]}}})",
       "/parameters/precision/choices", "the choice \"fp32\" appears twice"},
      {"choices_same_text", R"({"parameters": {"precision": {"choices": ["fp32", 64, "64"]}}})",
       "/parameters/precision/choices", "the choice \"64\" appears twice"},
      {"choice_nested", R"({"parameters": {"precision": {"choices": ["fp32", ["bf16"]]}}})",
       "/parameters/precision/choices/1", "expected a number, a string or true/false"},
      {"choice_null", R"({"parameters": {"precision": {"choices": ["fp32", null]}}})",
       "/parameters/precision/choices/1", "not null"},
      {"choice_nul", R"({"parameters": {"precision": {"choices": ["fp32", "a\u0000b"]}}})",
       "/parameters/precision/choices/1", "NUL"},
      {"choice_text_number",
       R"({"parameters": {"precision": {"choices": {"fp32": "32", "bf16": 16}}}})",
       "/parameters/precision/choices/bf16", "expected a string, not a number"},
      {"role", R"({"parameters": {"workers": {"role": "loader"}}})", "/parameters/workers/role",
       "\"loader\" is not one of"},
      {"role_of_no_number", R"({"parameters": {"precision": {"role": "threads"}}})",
       "/parameters/precision/role", "needs a parameter whose values are numbers"},
      {"role_twice",
       R"({"parameters": {"batch_size": {"role": "workers"}, "workers": {"role": "workers"}}})",
       "/parameters/workers/role", "has this role, too"},
      {"memory", R"({"parameters": {"workers": {"memory": "more"}}})", "/parameters/workers/memory",
       "\"increases\", \"decreases\""},
      {"when_unknown", R"({"parameters": {"prefetch": {"when": "wrokers > 0"}}})",
       "/parameters/prefetch/when", "did you mean \"workers\"?"},
      {"when_later", R"({"parameters": {"prefetch": {"when": "threads > 1"}}})",
       "/parameters/prefetch/when",
       "the condition of prefetch mentions threads, which is declared later"},
      {"when_self", R"({"parameters": {"prefetch": {"when": "prefetch > 1"}}})",
       "/parameters/prefetch/when", "the condition of prefetch mentions itself"},
      {"when_number", R"({"parameters": {"prefetch": {"when": 1}}})", "/parameters/prefetch/when",
       "expected a string, not a number"},
      {"unused", R"({"parameters": {"momentum": {"type": "float", "low": 0.1, "high": 0.9}},
                     "baseline": {"momentum": 0.5}})",
       "/parameters/momentum", "nothing uses this parameter"},
      {"unused_but_planned",
       R"({"parameters": {"micro": {"type": "int", "low": 1, "high": 8}}, "baseline": {"micro": 2},
           "planned_run": {"batch_size": "batch_size * micro"}})",
       "/parameters/micro", "mention {micro} in \"command\" or \"env\", or remove it"},
      {"unused_but_conditioned",
       R"({"parameters": {"extra": {"type": "bool", "when": "workers > 0"}}})", "/parameters/extra",
       "mention {extra} in \"command\" or \"env\", or remove it"},
      {"constraints_text", R"({"constraints": "workers > 0"})", "/constraints",
       "expected a list, not a string"},
      {"constraint_unknown", R"({"constraints": ["workers < 4", "thread < 4"]})", "/constraints/1",
       "did you mean \"threads\"?"},
      {"constraint_syntax", R"({"constraints": ["(workers < 4"]})", "/constraints/0",
       "parenthesis is not closed"},
      {"constraint_assignment", R"({"constraints": ["workers = 4"]})", "/constraints/0",
       "write == to compare"},
      {"constraint_never", R"({"constraints": ["workers > 100"]})", "/constraints/0",
       "no configuration was found that satisfies the constraint \"workers > 100\""},
      {"constraints_contradict", R"({"constraints": ["workers > 4", "workers < 3"]})",
       "/constraints", "satisfies all constraints together"},
      {"constraint_text_not_a_choice", R"({"constraints": ["precision != 'fp16'"]})",
       "/constraints/0", "\"fp16\" is not a value of precision"},
  };
  return k_cases;
}
INSTANTIATE_TEST_SUITE_P(Space, BrokenDocument, ::testing::ValuesIn(space()), case_name);

const std::vector<Broken>& baseline() {
  static const std::vector<Broken> k_cases = {
      {"missing", R"({"baseline": null})", "", "the key \"baseline\" is missing"},
      {"list", R"({"baseline": [64]})", "/baseline", "expected an object of parameter values"},
      {"unknown", R"({"baseline": {"batchsize": 64}})", "/baseline/batchsize",
       "did you mean \"batch_size\"?"},
      {"incomplete", R"({"baseline": {"threads": null}})", "/baseline",
       "a value for threads is missing"},
      {"inactive", R"({"baseline": {"prefetch": 2}})", "/baseline/prefetch",
       "its condition \"workers > 0\" is false"},
      {"active_missing", R"({"baseline": {"workers": 2}})", "/baseline", "prefetch is missing"},
      {"outside", R"({"baseline": {"batch_size": 1024}})", "/baseline/batch_size", "16 to 512"},
      {"off_scale", R"({"baseline": {"batch_size": 65}})", "/baseline/batch_size", "powers of two"},
      {"wrong_type", R"({"baseline": {"workers": "many"}})", "/baseline/workers",
       "is not a value of workers"},
      {"no_choice", R"({"baseline": {"precision": "fp16"}})", "/baseline/precision",
       "\"fp32\" or \"bf16\""},
      {"nested", R"({"baseline": {"precision": ["fp32"]}})", "/baseline/precision",
       "expected a number, a string or true/false"},
      {"constraint", R"({"constraints": ["workers + threads <= 4"], "baseline": {"threads": 8}})",
       "/baseline", "the constraint \"workers + threads <= 4\" is violated"},
      {"try_object", R"({"try": {}})", "/try", "expected a list, not an object"},
      {"try_outside",
       R"({"try": [{"batch_size": 8, "workers": 0, "precision": "fp32", "threads": 1}]})",
       "/try/0/batch_size", "16 to 512"},
      {"try_repeated",
       R"({"try": [{"batch_size": 32, "workers": 0, "precision": "fp32", "threads": 1},
                   {"threads": 1.0, "batch_size": 32, "workers": 0, "precision": "fp32"}]})",
       "/try/1", "repeats an earlier configuration"},
  };
  return k_cases;
}
INSTANTIATE_TEST_SUITE_P(Baseline, BrokenDocument, ::testing::ValuesIn(baseline()), case_name);

const std::vector<Broken>& goals() {
  static const std::vector<Broken> k_cases = {
      {"objectives_empty", R"({"objectives": []})", "/objectives", "the list is empty"},
      {"objectives_three", R"({"objectives": ["time", "cost", "loss"]})", "/objectives",
       "has 3 elements; the limit is 2"},
      {"objective_twice", R"({"objectives": ["time", {"metric": "time"}]})", "/objectives/1",
       "appears twice"},
      {"objective_name", R"({"objectives": ["my loss"]})", "/objectives/0", "not a metric name"},
      {"objective_number", R"({"objectives": [1]})", "/objectives/0", "a metric's name"},
      {"objective_direction", R"({"objectives": [{"metric": "acc", "direction": "max"}]})",
       "/objectives/0/direction", "\"minimize\", \"maximize\""},
      {"objective_time_up", R"({"objectives": [{"metric": "time", "direction": "maximize"}]})",
       "/objectives/0/direction", "can only be minimized"},
      {"cost_without_price", R"({"runner": {"price_per_hour": null}, "budget": {"cost": null}})",
       "/objectives/1", "give \"price_per_hour\" in \"runner\""},
      {"cost_budget_without_price",
       R"({"runner": {"price_per_hour": null}, "objectives": ["time"]})", "/budget/cost",
       "needs a price"},
      {"cost_for_nothing", R"({"runner": {"price_per_hour": 0}, "budget": {"cost": null}})",
       "/objectives/1", "\"cost\" is the same for all configurations, as the price per hour is 0"},
      {"cost_budget_for_nothing", R"({"runner": {"price_per_hour": 0}, "objectives": ["time"]})",
       "/budget/cost", "the limit is never reached"},
      {"planned_cost_for_nothing",
       R"({"planned_run": {"max_cost": 40}, "objectives": ["time"], "budget": {"cost": null},
           "runner": {"price_per_hour": 0}})",
       "/planned_run/max_cost", "or leave \"max_cost\" out"},
      {"guard_unlimited", R"({"guards": [{"metric": "loss"}]})", "/guards/0", "has no limit"},
      {"guard_ratios_crossed",
       R"({"guards": [{"metric": "loss", "min_ratio_to_baseline": 2, "max_ratio_to_baseline": 1}]})",
       "/guards/0/min_ratio_to_baseline", "no value is at least 2 and at most 1"},
      {"window_too_long", R"({"measure": {"min_window": 150, "max_trial": "2m"}})",
       "/measure/min_window", "min_window (150 s) is longer than max_trial (120 s)"},
      {"trial_too_short", R"({"measure": {"max_trial": 0.5}})", "/measure/max_trial",
       "is longer than max_trial (0.5 s)"},
      {"cache_without_data", R"({"measure": {"cache": "cold"}})", "/measure/cache",
       "it is not known what to drop from the page cache"},
      {"guard_no_metric", R"({"guards": [{"max": 1}]})", "/guards/0", "\"metric\" is missing"},
      {"guard_crossed", R"({"guards": [{"metric": "loss", "min": 3, "max": 1}]})", "/guards/0/min",
       "at least 3 and at most 1"},
      {"guard_ratio", R"({"guards": [{"metric": "loss", "max_ratio_to_baseline": 0}]})",
       "/guards/0/max_ratio_to_baseline", "must be at least"},
      {"guard_after", R"({"guards": [{"metric": "loss", "max": 1, "after_samples": -1}]})",
       "/guards/0/after_samples", "at least 0"},
      {"planned_samples", R"({"planned_run": {"samples": 0}})", "/planned_run/samples",
       "at least 1"},
      {"planned_samples_text", R"({"planned_run": {"samples": "1e9"}})", "/planned_run/samples",
       "expected a number, not a string"},
      {"planned_batch_name", R"({"planned_run": {"batch_size": "batch"}})",
       "/planned_run/batch_size", "\"batch\" is neither a parameter nor a fact"},
      {"planned_batch_zero", R"({"planned_run": {"batch_size": "workers"}})",
       "/planned_run/batch_size", "must be positive, but \"workers\" is 0 for batch_size="},
      {"planned_phase_period", R"({"planned_run": {"phases": {"evaluation": {"seconds": 2}}}})",
       "/planned_run/phases/evaluation", "give either \"every_samples\" or \"every_steps\""},
      {"planned_phase_periods",
       R"({"planned_run": {"phases": {"evaluation": {"every_samples": 2, "every_steps": 2}}}})",
       "/planned_run/phases/evaluation", "give either \"every_samples\" or \"every_steps\""},
      {"planned_deadline", R"({"planned_run": {"samples": null, "deadline": "12h"}})",
       "/planned_run/deadline", "this limit needs the length of the run: give \"samples\""},
      {"planned_cost",
       R"({"planned_run": {"max_cost": 40}, "objectives": ["time"], "budget": {"cost": null},
           "runner": {"price_per_hour": null}})",
       "/planned_run/max_cost", "a cost limit needs a price"},
      {"waiting_for_nothing", R"({"search": {"waiting_per_hour": 60}})", "/search/waiting_per_hour",
       "all trials of this study need the same machine"},
      {"waiting_unpriced",
       R"({"search": {"waiting_per_hour": 60}, "objectives": ["time"], "budget": {"cost": null},
           "runner": {"price_per_hour": null}})",
       "/search/waiting_per_hour", "no price to weigh it against"},
      {"payback_without_run", R"({"planned_run": {"samples": null}})", "/budget/stop",
       "compares with the planned run"},
  };
  return k_cases;
}
INSTANTIATE_TEST_SUITE_P(Goals, BrokenDocument, ::testing::ValuesIn(goals()), case_name);

const std::vector<Broken>& running() {
  static const std::vector<Broken> k_cases = {
      {"searcher", R"({"search": {"searcher": "bays"}})", "/search/searcher",
       "did you mean \"bayes\"?"},
      {"scheduler", R"({"search": {"scheduler": "hyperband"}})", "/search/scheduler",
       "\"none\", \"asha\", \"racing\", \"median\""},
      {"seed_negative", R"({"search": {"seed": -1}})", "/search/seed", "at least 0"},
      {"seed_fraction", R"({"search": {"seed": 0.5}})", "/search/seed", "must be a whole number"},
      {"eta", R"({"search": {"eta": 1}})", "/search/eta", "at least 1.1"},
      {"steps_crossed", R"({"search": {"min_steps": 900}})", "/search/min_steps",
       "above max_steps (810)"},
      {"first_guesses", R"({"search": {"first_guesses": "auto"}})", "/search/first_guesses",
       "expected true or false, not a string"},
      {"initial_points", R"({"search": {"initial_points": "few"}})", "/search/initial_points",
       "expected a whole number, not a string"},
      {"budget_trials", R"({"budget": {"trials": 0}})", "/budget/trials", "at least 1"},
      {"budget_trials_absurd", R"({"budget": {"trials": 1e12}})", "/budget/trials",
       "must be at most"},
      {"budget_time", R"({"budget": {"time": "30 minutes"}})", "/budget/time", "is not a duration"},
      {"budget_time_negative", R"({"budget": {"time": -5}})", "/budget/time", "at least 1"},
      {"budget_time_zero", R"({"budget": {"time": "0s"}})", "/budget/time", "must be between"},
      {"budget_time_type", R"({"budget": {"time": true}})", "/budget/time", "expected seconds, or"},
      {"budget_cost", R"({"budget": {"cost": 0}})", "/budget/cost", "must be at least"},
      {"budget_stop", R"({"budget": {"stop": "pay-back"}})", "/budget/stop",
       "did you mean \"payback\"?"},
      {"measure_key", R"({"measure": {"max_trail": "1m"}})", "/measure/max_trail",
       "did you mean \"max_trial\"?"},
      {"measure_width", R"({"measure": {"target_half_width": 2}})", "/measure/target_half_width",
       "at most 0.5"},
      {"measure_window", R"({"measure": {"min_window": "5m"}})", "/measure/min_window",
       "longer than max_trial"},
      {"measure_window_steps", R"({"measure": {"min_window_steps": 0}})",
       "/measure/min_window_steps", "at least 1"},
      {"measure_beyond_limit", R"({"measure": {"max_trial": "2h"}})", "/measure/max_trial",
       "ended as timed out after 1.0 h"},
      {"measure_buffers", R"({"measure": {"buffers": "workrs * 2"}})", "/measure/buffers",
       "did you mean \"workers\"?"},
      {"measure_buffers_negative", R"({"measure": {"buffers": -1}})", "/measure/buffers",
       "at least 0"},
      {"measure_cache", R"({"measure": {"cache": "clod", "data": ["train"]}})", "/measure/cache",
       "\"clod\" is not one of"},
      {"measure_cache_of_nothing", R"({"measure": {"cache": "cold"}})", "/measure/cache",
       "name the files or folders of the training data"},
      {"measure_pairs", R"({"measure": {"confirm_pairs": -1}})", "/measure/confirm_pairs",
       "at least 0"},
      {"reports_preset", R"({"reports": "tqd"})", "/reports", "did you mean \"tqdm\"?"},
      {"reports_type", R"({"reports": 1})", "/reports", "expected a preset's name, or an object"},
      {"regex_broken", R"({"reports": {"metrics": [{"name": "loss", "regex": "loss=([0-9"}]}})",
       "/reports/metrics/0/regex", "regular expression"},
      {"regex_no_group", R"({"reports": {"metrics": [{"name": "loss", "regex": "loss=[0-9]+"}]}})",
       "/reports/metrics/0/regex", "has no group for the number"},
      {"regex_missing", R"({"reports": {"metrics": [{"name": "loss"}]}})", "/reports/metrics/0",
       "\"regex\" is missing"},
      {"metric_name", R"({"reports": {"metrics": [{"name": "a b", "regex": "(x) "}]}})",
       "/reports/metrics/0/name", "not a metric name"},
      {"runner_type", R"({"runner": {"type": "slrum"}})", "/runner/type",
       "\"local\", \"replay\", \"sagemaker\""},
      {"runner_text", R"({"runner": "local"})", "/runner", "expected an object"},
      {"runner_price", R"({"runner": {"price_per_hour": -1}})", "/runner/price_per_hour",
       "at least 0"},
      {"runner_price_text", R"({"runner": {"price_per_hour": "1.2"}})", "/runner/price_per_hour",
       "expected a number, not a string"},
      {"runner_parallel", R"({"runner": {"parallel": 1e9}})", "/runner/parallel", "at most 1024"},
      {"runner_cpus", R"({"runner": {"parallel": 4, "cpus_per_trial": 4}})",
       "/runner/cpus_per_trial", "4 trials with 4 cpus each need 16; this machine has 8"},
      {"runner_gpus", R"({"runner": {"gpus_per_trial": 1}})", "/runner/gpus_per_trial",
       "this machine has 0"},
      {"runner_pin", R"({"runner": {"pin": "yes"}})", "/runner/pin",
       "expected true or false, not a string"},
      {"runner_local_table", R"({"runner": {"table": "x.json"}})", "/runner/table", "unknown key"},
      {"replay_nothing", R"({"runner": {"type": "replay"}})", "/runner", "give \"table\""},
      {"replay_both",
       R"({"runner": {"type": "replay", "table": "x.json", "seconds_per_sample": 1}})",
       "/runner/seconds_per_sample", "not both"},
      {"replay_column",
       R"({"runner": {"type": "replay", "seconds_per_sample": 1, "objective_column": "t"}})",
       "/runner/objective_column", "no \"table\" is given"},
      {"replay_model", R"({"runner": {"type": "replay", "seconds_per_sample": "1 / bathc_size"}})",
       "/runner/seconds_per_sample", "did you mean \"batch_size\"?"},
      {"replay_model_zero",
       R"({"runner": {"type": "replay", "seconds_per_sample": "threads - 1"}})",
       "/runner/seconds_per_sample", "must be positive"},
      {"limits_key", R"({"limits": {"wal": "1h"}})", "/limits/wal", "did you mean \"wall\"?"},
      {"limits_wall", R"({"limits": {"wall": 0}})", "/limits/wall", "at least 1"},
      {"limits_memory", R"({"limits": {"memory": "8 gigs"}})", "/limits/memory", "is not a size"},
      {"limits_memory_small", R"({"limits": {"memory": 8}})", "/limits/memory", "must be at least"},
  };
  return k_cases;
}
INSTANTIATE_TEST_SUITE_P(Running, BrokenDocument, ::testing::ValuesIn(running()), case_name);

TEST(BrokenDocuments, AreBrokenOnlyByTheirPatch) {
  EXPECT_TRUE(testing::read(testing::study_document()));
}

TEST(BrokenDocuments, ReportAllFaultsAtOnce) {
  Json document = testing::study_document();
  document.merge_patch(*parse_json(
      R"({"name": "", "budget": {"trials": 0}, "parameters": {"threads": {"low": 99}}})", "patch"));
  const auto study = testing::read(document);
  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().where, "/studies/study.json");
  EXPECT_THAT(study.error().message, HasSubstr("3 faults\n"));
  EXPECT_THAT(study.error().message, HasSubstr("\n  /studies/study.json#/name: "));
  EXPECT_THAT(study.error().message, HasSubstr("\n  /studies/study.json#/budget/trials: "));
  EXPECT_THAT(study.error().message,
              HasSubstr("\n  /studies/study.json#/parameters/threads/low: "));
}

TEST(BrokenDocuments, ReportAllFaultsOfAConfiguration) {
  Json document = testing::study_document();
  document["baseline"]["batch_size"] = 100;
  document["baseline"]["threads"] = -1;
  const auto study = testing::read(document);
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().message, HasSubstr("#/baseline/batch_size: 100 is not a value of"));
  EXPECT_THAT(study.error().message, HasSubstr("#/baseline/threads: -1 is not a value of"));
}

TEST(BrokenDocuments, ReportAtMostTwentyFaults) {
  Json document = testing::study_document();
  for (int i = 0; i < 27; ++i)
    document["unknown" + std::to_string(i)] = 1;
  const auto study = testing::read(document);
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().message, HasSubstr("27 faults"));
  EXPECT_THAT(study.error().message, HasSubstr("\n  and 7 more"));
}

TEST(BrokenDocuments, CountTheFaultsAfterTheTwentiethOnce) {
  Json document = testing::study_document();
  for (int i = 0; i < 27; ++i)
    document["unknown" + std::to_string(i)] = 1;
  document["guards"] = Json::parse(R"([{"metric": "loss", "max": "high"}])");
  const auto study = testing::read(document);
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().message, HasSubstr("28 faults")) << "the guard's limit is malformed";
}

TEST(BrokenDocuments, NeedNotBeObjects) {
  for (const char* text : {"1", "null", "[]", "\"x\"", "true"}) {
    const auto study = testing::read(*parse_json(text, "x"));
    ASSERT_FALSE(study) << text;
    EXPECT_EQ(study.error().where, "/studies/study.json#");
  }
}

}  // namespace
}  // namespace steptune

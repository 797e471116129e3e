// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/study_guess.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trial_runner/hooks/hook_reach.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/guess_parts.hpp"
#include "tuner/init/knob_declaration.hpp"
#include "tuner/init/space_laws.hpp"
#include "tuner/init/study_builder.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// If batch size and accumulation are both varied, adds a constraint: their product stays as today.
void keep_samples_per_step(StudyBuilder& study) {
  const std::string batch = study.parameter_of("batch");
  const std::string accumulation = study.parameter_of("accumulation");
  if (!study.is_active_today(batch) || !study.is_active_today(accumulation)) return;
  const auto product = static_cast<std::int64_t>(
      std::min(1e15, study.today(batch).get<double>() * study.today(accumulation).get<double>()));
  study.add_constraint(
      fmt::format("{} * {} == {}", batch, accumulation, product),
      "an optimizer step has as many samples as today, so the training does not change");
  for (const std::string& factor : {batch, accumulation})
    hold_to_factors_of(product, study.declaration(factor));
}

}  // namespace

std::string StudyGuess::parameter_of(const std::string& role) const {
  const auto found = std::ranges::find(tuned, role, &GuessedKnob::role);
  return found == tuned.end() ? "" : found->parameter;
}

Result<StudyGuess> guess_study(const GuessInput& given) {
  SpaceFacts facts = space_facts(given);
  GuessInput input = given;
  input.program.argv = with_options(std::move(input.program.argv), facts.words);
  const std::vector<std::string> added = facts.words;
  const SpaceLaws laws(input, std::move(facts));
  StudyBuilder study(input.program.argv, input.machine,
                     is_native_program(input.program.argv, input.folder)
                         ? StudyBuilder::NewOptions::before_other_options
                         : StudyBuilder::NewOptions::last);
  const std::set<std::string> roles = add_program_knobs(input, laws, study);
  if (input.survey) {
    add_hook_knobs(input, *input.survey, roles, study);
  } else if (input.reading) {
    // A program without readable progress may not even train.
    add_environment_knobs(input.runtimes, input.machine, study);
  }
  if (study.empty()) {
    const auto& left_out = study.left_out();
    return fail(ErrorKind::usage,
                left_out.empty()
                    ? std::string("Steptune knows no option of this program that changes its speed")
                    : fmt::format("nothing can be varied:\n  {}", fmt::join(left_out, "\n  ")),
                "", "write the study file by hand: docs/tutorial.md");
  }
  keep_samples_per_step(study);
  const std::vector<std::string> memory_terms = laws.memory_terms(study);
  StudyGuess guess = std::move(study).finish(input.name);
  guess_goal(input, guess);
  if (!added.empty()) {
    guess.notes.push_back(
        fmt::format("added to the command, so that a step has as many samples as today: {}",
                    fmt::join(added, " ")));
  }
  // The ranges are wide. An expert's moves from today's values find good values sooner.
  guess.document["search"]["first_guesses"] = true;
  if (!memory_terms.empty()) guess.document["search"]["memory_terms"] = memory_terms;
  guess.document["budget"] = {{"trials", k_default_trials}, {"time", "30m"}};
  return guess;
}

}  // namespace steptune

// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/scaling_search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "search/searchers/basic_searchers.hpp"
#include "tuner/study/counting_parameter.hpp"

namespace steptune {

Result<std::optional<ScalingSearch>> scaling_search(const StudySpec& study) {
  if (study.search.searcher != "scaling") return std::optional<ScalingSearch>{};
  const auto over =
      study.search.over.empty() ? counting_parameter(study) : std::optional(study.search.over);
  if (!over) {
    return fail(ErrorKind::usage,
                "the searcher scaling looks for the knee over machines, and no parameter is known "
                "to count them",
                "/search/searcher", "name the parameter in \"over\"");
  }
  const auto time = std::ranges::find_if(study.objectives, &Objective::is_time);
  if (time == study.objectives.end()) {
    return fail(ErrorKind::usage, "the searcher scaling needs the objective \"time\"",
                "/objectives");
  }
  if (study.search.scheduler != "none") {
    return fail(ErrorKind::usage,
                fmt::format("the scheduler {} would stop slow counts before they are measured",
                            study.search.scheduler),
                "/search/scheduler", "use \"none\" with the searcher scaling");
  }
  if (study.runner->traits().parallel > 1) {
    return fail(ErrorKind::usage,
                "the searcher scaling chooses each count by the times of earlier counts, so trials "
                "cannot run at the same time",
                "/runner/parallel", "use 1 with the searcher scaling");
  }
  SearcherOptions options;
  options.scaling = ScalingSearch{*over, study.search.min_efficiency,
                                  static_cast<std::size_t>(time - study.objectives.begin()),
                                  study.planned_run.deadline_s};
  if (const auto searcher = make_scaling_searcher(study.space, options); !searcher) {
    Error error = searcher.error();
    error.where = study.search.over.empty() ? "/search/searcher" : "/search/over";
    return tl::unexpected(std::move(error));
  }
  return options.scaling;
}

}  // namespace steptune

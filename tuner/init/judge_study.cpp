// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/judge_study.hpp"

#include <fmt/format.h>

#include "tuner/init/unread_output.hpp"
#include "tuner/survey/draft.hpp"

namespace steptune {
namespace {

/// Returns the command line with one group of arguments for each command. A command line needs a
/// first element for all, so the parameter's value is the name of the executable.
Json command_line(const JudgeRequest& request) {
  Json line = Json::array({fmt::format("{{{}}}", k_judged_parameter)});
  for (std::size_t i = 0; i < request.commands.size(); ++i) {
    const auto& argv = request.commands[i];
    const std::vector<std::string> arguments(argv.begin() + 1, argv.end());
    if (arguments.empty()) continue;
    line.push_back({{"when", fmt::format("{} == '{}'", k_judged_parameter, judged_name(i))},
                    {"args", command_template(arguments)}});
  }
  return line;
}

Json parameter(const JudgeRequest& request) {
  Json choices = Json::object();
  for (std::size_t i = 0; i < request.commands.size(); ++i)
    choices[judged_name(i)] = request.commands[i].front();
  return {{"type", "categorical"}, {"choices", choices}};
}

Json campaign_json(const CampaignSpec& campaign) {
  Json json{{"name", campaign.name}};
  if (!campaign.commits.empty()) json["commits"] = campaign.commits;
  if (!campaign.build.empty()) json["build"] = campaign.build;
  if (campaign.measures_gain) json["measures_gain"] = true;
  return json;
}

/// Adds how progress is read. The hook counts samples in the same way for all commands, so it is
/// preferred.
Result<void> add_reading(const OutputLook& look, Json& document) {
  if (look.survey) {
    document["hooks"]["python"] = Json::object();
    return {};
  }
  if (look.reading) {
    const OutputReading& reading = *look.reading;
    if (!reading.format.reports.is_null()) document["reports"] = reading.format.reports;
    if (reading.counts_shares()) {
      document["unit"] = reading.unit_name();
    } else if (!reading.reports_samples) {
      document["unit"] = "steps";
    }
    return {};
  }
  if (!look.failure.empty()) {
    return fail(ErrorKind::usage, fmt::format("{} failed before it reported progress: {}",
                                              judged_name(0), look.failure));
  }
  return fail(ErrorKind::usage,
              fmt::format("the progress of {} cannot be read: {}", judged_name(0),
                          look.unread ? unread_text(*look.unread) : look.ending),
              "", "let the commands print [steptune] lines (docs/reporting.md)");
}

}  // namespace

std::string judged_name(std::size_t index) {
  return std::string(1, static_cast<char>('A' + static_cast<int>(index)));
}

Result<Json> judge_study(const JudgeRequest& request, const OutputLook& look) {
  Json document;
  document["name"] = request.name;
  document["command"] = command_line(request);
  if (auto added = add_reading(look, document); !added) return tl::unexpected(added.error());
  if (request.terminal) document["terminal"] = true;
  if (!request.input.empty()) document["stdin"] = request.input;
  document["parameters"][k_judged_parameter] = parameter(request);
  document["baseline"][k_judged_parameter] = judged_name(0);
  document["search"] = {{"searcher", "grid"}, {"scheduler", "none"}, {"worth", request.margin}};
  document["budget"] = {{"trials", request.commands.size()}, {"time", request.time_s}};
  document["measure"] = {{"confirm_all", true}, {"sentinels", false}};
  if (request.error < k_most_confirm_error) document["measure"]["confirm_error"] = request.error;
  if (request.campaign) document["campaign"] = campaign_json(*request.campaign);
  return document;
}

}  // namespace steptune

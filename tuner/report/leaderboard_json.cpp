// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "common/json_fields.hpp"
#include "tuner/report/leaderboard.hpp"
#include "tuner/report/scaling_report.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {

template <>
const JsonRecord<LeaderboardRow>& json_record<LeaderboardRow>() {
  using R = LeaderboardRow;
  static const auto record =
      JsonRecord<R>()
          .field("rank", &R::rank,
                 "null: not ranked (failed, infeasible, running, a confirming run), or a baseline "
                 "below the rows shown")
          .field("best", &R::best)
          .field("tied_with_best", &R::tied)
          .computed(
              "pareto",
              [](const R& row) {
                return row.gains.size() > 1 ? std::optional(row.pareto) : std::nullopt;
              },
              "null: there is one objective")
          .field("disturbed", &R::disturbed)
          .field("gain_over_baseline", &R::gains, "A number per objective, above 1 where better");
  return record;
}

namespace {

Json row_json(const Leaderboard& board, const LeaderboardRow& row) {
  Json json = json_of(row);
  if (row.efficiency) json["efficiency"] = *row.efficiency;
  if (row.machine_hours) json["machine_hours"] = number_or_null(*row.machine_hours);
  json["trial"] = trial_json(row.trial, board.objectives);
  return json;
}

}  // namespace

Json leaderboard_json(const Leaderboard& board) {
  Json json = document_json({{"study", json_of(board.study)},
                             {"objectives", objectives_json(board.objectives)},
                             {"sorted_by", board.objectives[board.sorted_by].objective.metric},
                             {"rows", Json::array()}});
  for (const LeaderboardRow& row : board.rows)
    json["rows"].push_back(row_json(board, row));
  json["counts"] = Json::object();
  for (const auto& [status, count] : board.counts)
    json["counts"][to_text(status)] = count;
  if (board.machine_hours) json["machine_hours"] = number_or_null(board.machine_hours->total());
  if (board.scaling) json["scaling"] = scaling_summary_json(*board.scaling);
  json["notes"] = texts_of(board.notes);
  return json;
}

}  // namespace steptune

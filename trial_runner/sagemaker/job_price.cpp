// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_price.hpp"

#include "common/json_fields.hpp"
#include "trial_runner/cost/price_table.hpp"

namespace steptune {
namespace {

constexpr const char* k_list = "list";
constexpr const char* k_discount = "discount";
constexpr const char* k_volume = "volume";
constexpr const char* k_spot_share = "spot_share";

/// True if the values are plausible. Other users may have written the job's environment.
bool is_sound(const JobPrice& price) {
  const PriceParts& parts = price.parts;
  // Per hour: far more than any machines cost.
  constexpr double k_most_usd = 1e9;
  const bool bounded = parts.list_usd >= 0.0 && parts.list_usd <= k_most_usd &&
                       parts.discount_usd >= 0.0 && parts.discount_usd <= parts.list_usd &&
                       parts.volume_usd >= 0.0 && parts.volume_usd <= k_most_usd;
  return bounded && (!price.spot_share || (*price.spot_share > 0.0 && *price.spot_share <= 1.0));
}

}  // namespace

std::optional<PriceParts> price_parts_of(const std::map<std::string, PriceParts>& by_type,
                                         const Resources& resources) {
  PriceParts sum;
  for (const InstanceGroup& group : rented_groups(resources)) {
    const auto found = by_type.find(group.instance_type);
    if (found == by_type.end()) return std::nullopt;
    const double count = group.instance_count;
    sum.list_usd += count * found->second.list_usd;
    sum.discount_usd += count * found->second.discount_usd;
    sum.volume_usd += count * found->second.volume_usd;
  }
  return sum;
}

std::string to_text(const JobPrice& price) {
  Json json = {{k_list, price.parts.list_usd},
               {k_discount, price.parts.discount_usd},
               {k_volume, price.parts.volume_usd}};
  if (price.spot_share) json[k_spot_share] = *price.spot_share;
  return dump_json(json);
}

std::optional<JobPrice> job_price_of(const Json& environment) {
  const std::string text = text_at(environment, k_price_variable);
  if (text.empty()) return std::nullopt;
  const auto json = parse_json(text, k_price_variable);
  if (!json || !json->is_object()) return std::nullopt;
  const auto list_usd = number_at(*json, k_list);
  const auto discount_usd = number_at(*json, k_discount);
  const auto volume_usd = number_at(*json, k_volume);
  if (!list_usd || !discount_usd || !volume_usd) return std::nullopt;
  const JobPrice price{{*list_usd, *discount_usd, *volume_usd}, number_at(*json, k_spot_share)};
  return is_sound(price) ? std::optional(price) : std::nullopt;
}

}  // namespace steptune

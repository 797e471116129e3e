// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/price_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

constexpr const char* k_training = "Training";

const Json& member(const Json& object, const char* key) {
  static const Json k_nothing = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : k_nothing;
}

/// Returns the number at the start of an attribute's text (`16 GiB`, `1,152 GiB`, `4`); 0 for other
/// texts (`N/A`).
double leading_number(const Json& attributes, const char* key) {
  std::string text = text_at(attributes, key);
  std::erase(text, ',');
  return parse_finite(text.substr(0, text.find(' '))).value_or(0.0);
}

double hourly_usd(const Json& product) {
  double usd_per_hour = 0.0;
  for (const auto& [term_id, term] : member(member(product, "terms"), "OnDemand").items()) {
    if (!term.is_object()) continue;
    for (const auto& [dimension_id, dimension] : member(term, "priceDimensions").items()) {
      if (!dimension.is_object() || !text_at(dimension, "unit").starts_with("H")) continue;
      const auto usd = parse_finite(text_at(member(dimension, "pricePerUnit"), "USD"));
      usd_per_hour = std::max(usd_per_hour, usd.value_or(0.0));
    }
  }
  return usd_per_hour;
}

Json products_request(const std::string& region) {
  const auto equals = [](const char* field, const std::string& value) {
    return Json{{"Type", "TERM_MATCH"}, {"Field", field}, {"Value", value}};
  };
  return {{"ServiceCode", "AmazonSageMaker"},
          {"Filters", Json::array({equals("regionCode", region), equals("component", k_training)})},
          {"FormatVersion", "aws_v1"},
          {"MaxResults", 100}};
}

void take(ListedPrices& listed, const std::pair<std::string, InstanceType>& price) {
  const auto [known, is_new] = listed.instances.insert(price);
  if (is_new || known->second.usd_per_hour == price.second.usd_per_hour) return;
  if (std::ranges::find(listed.ambiguous, price.first) == listed.ambiguous.end()) {
    listed.ambiguous.push_back(price.first);
  }
  if (price.second.usd_per_hour > known->second.usd_per_hour) known->second = price.second;
}

}  // namespace

std::optional<std::pair<std::string, InstanceType>> training_price_of(const std::string& product,
                                                                      const std::string& region) {
  const Json json = Json::parse(product, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const Json& attributes = member(member(json, "product"), "attributes");
  const std::string name = text_at(attributes, "instanceName");
  const std::string named_region = text_at(attributes, "regionCode");
  const std::string component = text_at(attributes, "component");
  const std::string kind = text_at(attributes, "platoinstancetype");
  if (!name.starts_with("ml.") || (!named_region.empty() && named_region != region) ||
      (!component.empty() && component != k_training) || (!kind.empty() && kind != k_training)) {
    return std::nullopt;
  }
  InstanceType type;
  type.usd_per_hour = hourly_usd(json);
  if (!(type.usd_per_hour > 0.0)) return std::nullopt;
  type.vcpus = count_from(leading_number(attributes, "vCpu")).value_or(0);
  type.memory_gib = std::max(0.0, leading_number(attributes, "memory"));
  type.gpus = count_from(leading_number(attributes, "physicalGpu")).value_or(0);
  return std::pair{name, type};
}

Result<ListedPrices> list_training_prices(aws::JsonClient& client, const aws::JsonService& pricing,
                                          const std::string& region) {
  ListedPrices listed;
  Json input = products_request(region);
  while (true) {
    const auto page = client.call(pricing, "GetProducts", input);
    if (!page) return tl::unexpected(page.error().to_error());
    const auto products = page->find("PriceList");
    if (products != page->end() && products->is_array()) {
      for (const Json& product : *products) {
        // The service's model defines an entry as text, but some versions of the service send an
        // object.
        const auto price = training_price_of(plain_text(product), region);
        if (price) take(listed, *price);
      }
    }
    const std::string next = text_at(*page, "NextToken");
    if (next.empty()) break;
    input["NextToken"] = next;
  }
  if (listed.instances.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("the Price List API returned no training prices for the region \"{}\"",
                            printable_line(region)),
                "GetProducts", "check the region's name, such as eu-west-1");
  }
  return listed;
}

}  // namespace steptune

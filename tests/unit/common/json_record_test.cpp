// SPDX-License-Identifier: Apache-2.0
#include "common/json_record.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace steptune {

enum class Paint { red, blue };
inline constexpr auto k_paint_names =
    enum_names<Paint>({{Paint::red, "red"}, {Paint::blue, "blue"}});

template <>
struct JsonForm<Paint> : JsonNames<k_paint_names> {};

struct Wheel {
  std::int64_t spokes = 0;
};

struct Bell {
  bool is_loud = false;
};

struct Bicycle {
  double mass_kg = 1.0;
  std::optional<double> price_usd;
  std::string owner;
  Paint color = Paint::red;
  std::optional<Paint> frame;
  double low = 0.0;
  double high = 0.0;
  std::vector<Wheel> wheels;
  std::map<std::string, Bell> bells;

  [[nodiscard]] std::size_t spokes() const {
    std::size_t sum = 0;
    for (const Wheel& wheel : wheels)
      sum += static_cast<std::size_t>(wheel.spokes);
    return sum;
  }
};

template <>
const JsonRecord<Bell>& json_record<Bell>() {
  static const auto record = JsonRecord<Bell>("bell").field("is_loud", &Bell::is_loud);
  return record;
}

template <>
const JsonRecord<Wheel>& json_record<Wheel>() {
  static const auto record = JsonRecord<Wheel>().field("spokes", &Wheel::spokes);
  return record;
}

template <>
const JsonRecord<Bicycle>& json_record<Bicycle>() {
  static const auto record =
      JsonRecord<Bicycle>()
          .field("mass_kg", &Bicycle::mass_kg, "Mass without a rider")
          .field("price_usd", &Bicycle::price_usd)
          .text_or_null("owner", &Bicycle::owner)
          .field("color", &Bicycle::color)
          .field("frame", &Bicycle::frame)
          .group("range",
                 JsonRecord<Bicycle>().field("low", &Bicycle::low).field("high", &Bicycle::high))
          .field("wheels", &Bicycle::wheels)
          .field("bells", &Bicycle::bells)
          .computed("spokes", &Bicycle::spokes, "Of all wheels");
  return record;
}

namespace {

Json written(const Bicycle& bicycle) {
  return JsonForm<Bicycle>::write(bicycle);
}

Bicycle read(const Json& json) {
  Bicycle bicycle;
  JsonForm<Bicycle>::read(json, bicycle);
  return bicycle;
}

TEST(JsonRecord, ReadsBackAsItWasWritten) {
  const Bicycle bicycle{9.5, 700.0, "Ada",        Paint::blue,        Paint::red,
                        1.0, 2.0,   {{32}, {36}}, {{"front", {true}}}};
  const Json json = written(bicycle);
  EXPECT_EQ(json,
            Json::parse(R"({"mass_kg": 9.5, "price_usd": 700.0, "owner": "Ada", "color": "blue",
                                  "frame": "red", "range": {"low": 1.0, "high": 2.0},
                                  "wheels": [{"spokes": 32}, {"spokes": 36}],
                                  "bells": {"front": {"is_loud": true}}, "spokes": 68})"));
  EXPECT_EQ(written(read(json)), json);
}

TEST(JsonRecord, WritesNullForUnknownValues) {
  Bicycle bicycle;
  bicycle.mass_kg = std::numeric_limits<double>::quiet_NaN();
  const Json json = written(bicycle);
  EXPECT_TRUE(json["mass_kg"].is_null());
  EXPECT_TRUE(json["price_usd"].is_null());
  EXPECT_TRUE(json["owner"].is_null());
  EXPECT_TRUE(json["frame"].is_null());
  EXPECT_TRUE(std::isnan(read(json).mass_kg));
  EXPECT_FALSE(read(json).price_usd);
}

TEST(JsonRecord, SaysWhetherItsFieldsHaveTheirForm) {
  const auto is_whole = [](const char* text) {
    Bicycle bicycle;
    return JsonForm<Bicycle>::read(Json::parse(text), bicycle);
  };
  for (const char* text :
       {"{}", R"({"mass_kg": null, "price_usd": null, "owner": null, "wheels": null})",
        R"({"mass_kg": 9, "color": "of a newer version", "more": 1, "spokes": "ignored"})"})
    EXPECT_TRUE(is_whole(text)) << text;
  for (const char* text :
       {"[]", R"({"mass_kg": "heavy"})", R"({"price_usd": "dear"})", R"({"owner": 1})",
        R"({"color": 1})", R"({"frame": []})", R"({"range": {"low": "deep"}})",
        R"({"wheels": [{"spokes": 32}, {"spokes": 1.5}]})", R"({"wheels": [1]})",
        R"({"bells": {"rear": {"is_loud": "very"}}})"})
    EXPECT_FALSE(is_whole(text)) << text;
}

TEST(JsonRecord, KeepsValuesWhoseFieldsAreMissingOrDamaged) {
  const Bicycle bicycle = read(Json::parse(
      R"({"mass_kg": "heavy", "color": "pink", "range": [], "wheels": 2, "more": 1, "spokes": 9,
                     "price_usd": "dear", "bells": {"rear": {"is_loud": "very"}}})"));
  EXPECT_EQ(bicycle.mass_kg, 1.0);
  EXPECT_FALSE(bicycle.price_usd);
  EXPECT_EQ(bicycle.color, Paint::red);
  EXPECT_TRUE(bicycle.wheels.empty());
  EXPECT_EQ(bicycle.spokes(), 0U);
  EXPECT_FALSE(bicycle.bells.at("rear").is_loud);
  EXPECT_EQ(read(Json::array()).mass_kg, 1.0);
}

TEST(JsonRecord, DescribesItsFields) {
  const Json schema = JsonForm<Bicycle>::schema();
  EXPECT_EQ(schema["required"].size(), 9U);
  const Json& properties = schema["properties"];
  EXPECT_EQ(properties["mass_kg"],
            Json::parse(R"({"type": ["number", "null"], "description": "Mass without a rider"})"));
  EXPECT_EQ(properties["owner"], Json::parse(R"({"type": ["string", "null"]})"));
  EXPECT_EQ(properties["color"], Json::parse(R"({"enum": ["red", "blue"]})"));
  EXPECT_EQ(properties["frame"], Json::parse(R"({"enum": ["red", "blue", null]})"));
  EXPECT_EQ(properties["bells"]["additionalProperties"],
            Json::parse(R"({"$ref": "#/$defs/bell"})"));
  EXPECT_EQ(json_record<Bell>().schema()["properties"]["is_loud"]["type"], "boolean");
  EXPECT_EQ(properties["spokes"],
            Json::parse(R"({"type": "integer", "description": "Of all wheels"})"));
  EXPECT_EQ(properties["range"]["properties"]["low"],
            Json::parse(R"({"type": ["number", "null"]})"));
  EXPECT_EQ(properties["wheels"]["items"]["properties"]["spokes"],
            Json::parse(R"({"type": "integer"})"));
}

TEST(JsonRecord, AddsNullToASchema) {
  EXPECT_EQ(or_null({{"type", "integer"}}), Json::parse(R"({"type": ["integer", "null"]})"));
  EXPECT_EQ(or_null({{"$ref", "#/x"}}),
            Json::parse(R"({"anyOf": [{"$ref": "#/x"}, {"type": "null"}]})"));
}

}  // namespace
}  // namespace steptune

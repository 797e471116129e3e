// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/event_file.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/support/read_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune {
namespace {

/// CRC-32C bit by bit, as its polynomial defines it.
std::uint32_t crc32c(std::string_view data) {
  std::uint32_t remainder = 0xffffffffU;
  for (const char c : data) {
    remainder ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      remainder = (remainder >> 1U) ^ ((remainder & 1U) != 0 ? 0x82f63b78U : 0U);
  }
  return ~remainder;
}

std::uint32_t masked(std::string_view data) {
  const std::uint32_t sum = crc32c(data);
  return ((sum >> 15U) | (sum << 17U)) + 0xa282ead8U;
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = count; i-- > 0;)
    number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// The messages of a file, whose lengths and checksums must be right.
std::vector<std::string> messages_in(std::string_view bytes) {
  std::vector<std::string> messages;
  while (!bytes.empty()) {
    EXPECT_GE(bytes.size(), 16U);
    if (bytes.size() < 16) return messages;
    const std::uint64_t length = number_at(bytes, 0, 8);
    EXPECT_EQ(number_at(bytes, 8, 4), masked(bytes.substr(0, 8)));
    EXPECT_LE(length + 16, bytes.size());
    if (length + 16 > bytes.size()) return messages;
    messages.emplace_back(bytes.substr(12, length));
    EXPECT_EQ(number_at(bytes, 12 + length, 4), masked(messages.back()));
    bytes.remove_prefix(length + 16);
  }
  return messages;
}

TEST(EventFile, RecordsAreFramedAsTensorFlowFramesThem) {
  ASSERT_EQ(crc32c("123456789"), 0xe3069283U) << "the check value of CRC-32C";
  Rng rng(1, "records");
  std::string file;
  std::vector<std::string> expected;
  for (std::size_t length = 0; length < 70; ++length) {
    std::string message;
    for (std::size_t i = 0; i < length; ++i)
      message += static_cast<char>(rng.below(256));
    file += as_record(message);
    expected.push_back(message);
  }
  EXPECT_EQ(messages_in(file), expected);
}

TEST(EventFile, BeginsWithItsVersionAndHoldsOneRecordPerPoint) {
  const TemporaryFolder folder("events");
  EventFile events(folder.path() / "run" / "deep", 1234.75);
  events.add_scalar("loss", 1235.5, 7, 0.5);
  events.add_hyperparameters("_hparams_/experiment", 1236.0, "content");
  events.close();
  const auto file = folder.path() / "run" / "deep" / "events.out.tfevents.1234.steptune";
  const auto messages = messages_in(read_file(file));
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_NE(messages[0].find("brain.Event:2"), std::string::npos);
  EXPECT_NE(messages[1].find("loss"), std::string::npos);
  const float half = 0.5F;
  std::string bytes(sizeof half, '\0');
  std::memcpy(bytes.data(), &half, sizeof half);
  EXPECT_NE(messages[1].find(bytes), std::string::npos);
  EXPECT_NE(messages[2].find("hparams"), std::string::npos);
  EXPECT_NE(messages[2].find("content"), std::string::npos);
}

TEST(EventFile, AFolderThatCannotBeMadeIsAnError) {
  const TemporaryFolder folder("events");
  const auto file = folder.write("file", "x");
  EXPECT_THROW(EventFile(file / "run", 1.0), std::filesystem::filesystem_error);
}

}  // namespace
}  // namespace steptune

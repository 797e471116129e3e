// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/event_file.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include "tuner/exports/tensorboard.pb.h"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// CRC-32C (Castagnoli), turned and shifted by a constant, so that a checksum over data that holds
/// checksums is a good one, too. Source: tensorflow/core/lib/hash/crc32c.h.
std::uint32_t masked_checksum(std::string_view data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> checksum;
  checksum.process_bytes(data.data(), data.size());
  return std::rotr(checksum.checksum(), 15) + 0xa282ead8U;
}

template <typename Unsigned>
std::string little_endian(Unsigned number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    bytes += static_cast<char>((number >> (8 * i)) & 0xffU);
  return bytes;
}

}  // namespace

std::string as_record(std::string_view message) {
  const std::string length = little_endian(static_cast<std::uint64_t>(message.size()));
  std::string record = length + little_endian(masked_checksum(length));
  record += message;
  return record + little_endian(masked_checksum(message));
}

EventFile::EventFile(const fs::path& folder, double wall_time_s) {
  fs::create_directories(folder);
  file_ = folder / fmt::format("events.out.tfevents.{}.steptune",
                               static_cast<std::int64_t>(std::floor(wall_time_s)));
  out_.open(file_, std::ios::binary);
  tensorboard::Event first;
  first.set_wall_time(wall_time_s);
  first.set_file_version("brain.Event:2");
  put(first.SerializeAsString());
}

void EventFile::add_scalar(const std::string& tag, double wall_time_s, std::int64_t step,
                           double value) {
  tensorboard::Event event;
  event.set_wall_time(wall_time_s);
  event.set_step(step);
  tensorboard::SummaryValue* point = event.mutable_summary()->add_value();
  point->set_tag(tag);
  point->set_simple_value(static_cast<float>(value));
  put(event.SerializeAsString());
}

void EventFile::add_hyperparameters(const std::string& tag, double wall_time_s,
                                    const std::string& content) {
  constexpr int k_float = 1;
  tensorboard::Event event;
  event.set_wall_time(wall_time_s);
  tensorboard::SummaryValue* value = event.mutable_summary()->add_value();
  value->set_tag(tag);
  // A value without a tensor would be passed over; one without elements is enough.
  value->mutable_tensor()->set_type(k_float);
  value->mutable_tensor()->mutable_shape()->add_dimension();
  tensorboard::PluginData* plugin = value->mutable_metadata()->mutable_plugin_data();
  plugin->set_plugin_name("hparams");
  plugin->set_content(content);
  put(event.SerializeAsString());
}

void EventFile::put(const std::string& message) {
  out_ << as_record(message);
  if (!out_) {
    throw fs::filesystem_error("cannot be written", file_,
                               std::make_error_code(std::errc::io_error));
  }
}

void EventFile::close() {
  out_.close();
  if (!out_) {
    throw fs::filesystem_error("cannot be written", file_,
                               std::make_error_code(std::errc::io_error));
  }
}

}  // namespace steptune

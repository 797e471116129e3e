// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/section_types.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"

namespace steptune {
namespace {

using document::ObjectNode;
using document::Section;

void check_file_system(const ObjectNode& object, Channel& /*channel*/) {
  const bool s3 = object.has("s3");
  if (s3 == object.has("file_system")) {
    object.node().fault(
        "give \"s3\", an S3 URI, or \"file_system\", the id of an EFS or FSx file system");
    return;
  }
  for (const char* key : {"file_system_type", "path"}) {
    if (s3 && object.has(key)) {
      object.find(key)->fault("belongs to a \"file_system\", but the channel is in S3");
    } else if (!s3) {
      static_cast<void>(object.require(key));
    }
  }
}

Section<Channel> make_channel_section() {
  using document::key;
  Section<Channel> section("channel", "Input data of every job.",
                           "an S3 URI, or an object such as {\"s3\": \"s3://bucket/train/\"}");
  section.add(key("s3", &Channel::s3_uri, s3_uri())
                  .doc("S3 URI, unless `file_system` is given")
                  .omitted_at_default());
  section.add(key("input_mode", &Channel::input_mode, input_mode())
                  .doc("input mode of this channel")
                  .omitted_at_default()
                  .default_words("the runner's"));
  section.add(key("content_type", &Channel::content_type, named_string(256))
                  .doc("MIME type of the data")
                  .omitted_at_default());
  section.add(key("file_system", &Channel::file_system_id, file_system_id())
                  .doc("id of an EFS or FSx for Lustre file system, in place of `s3`; needs "
                       "`subnets` and `security_groups`")
                  .omitted_at_default());
  section.add(
      key("file_system_type", &Channel::file_system_type, document::one_of({"EFS", "FSxLustre"}))
          .doc("kind of the file system")
          .omitted_at_default());
  section.add(key("path", &Channel::directory_path, named_string())
                  .doc("folder of the file system")
                  .omitted_at_default());
  section.add(key("instance_groups", &Channel::instance_groups,
                  document::list_of(document::string(), k_most_subnets))
                  .doc("groups that read this channel; set it for all channels or for none")
                  .omitted_at_default());
  section.check(check_file_system);
  return section;
}

}  // namespace

const Section<Channel>& channel_section() {
  static const auto k_section = make_channel_section();
  return k_section;
}

}  // namespace steptune

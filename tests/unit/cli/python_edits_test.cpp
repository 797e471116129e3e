// SPDX-License-Identifier: Apache-2.0
#include "tuner/exports/python_edits.hpp"

#include <gtest/gtest.h>

namespace steptune {
namespace {

Value text(const char* value) {
  return Value(std::string(value));
}

TEST(PythonEdits, NamePlacesAndGatherArgumentsOfOneCall) {
  HookLog seen;
  for (const char* name : {"num_workers", "prefetch_factor"}) {
    seen.add(std::string(R"({"event":"knob","knob":")") + name +
             R"(","may":true,"where":["train.py:114 DataLoader","train.py:120 DataLoader"]})");
  }
  seen.add(R"({"event":"knob","knob":"optimizer_implementation","may":true,
               "where":["train.py:130 AdamW"]})");
  EXPECT_EQ(python_edits({{"num_workers", Value(std::int64_t{4})},
                          {"prefetch_factor", Value(std::int64_t{8})},
                          {"optimizer_implementation", text("foreach")},
                          {"num_threads", Value(std::int64_t{2})},
                          {"sharing_strategy", text("file_system")},
                          {"malloc", text("keep")},
                          {"openblas_threads", Value(std::int64_t{2})}},
                         seen),
            "# train.py:114, train.py:120\n"
            "DataLoader(..., num_workers=4, prefetch_factor=8)\n"
            "# train.py:130\n"
            "AdamW(..., foreach=True)\n"
            "# first in the program\n"
            "import torch\n"
            "torch.multiprocessing.set_sharing_strategy(\"file_system\")\n"
            "torch.set_num_threads(2)\n"
            "# before the command\n"
            "# OPENBLAS_NUM_THREADS=2 MALLOC_MMAP_THRESHOLD_=1073741824 "
            "MALLOC_TRIM_THRESHOLD_=2147483647 MALLOC_TOP_PAD_=67108864\n");
}

TEST(PythonEdits, NameOptionsThatNeedWorkers) {
  EXPECT_EQ(
      python_edits({{"num_workers", Value(std::int64_t{0})}, {"pin_memory", Value(true)}}, {}),
      "DataLoader(..., num_workers=0, pin_memory=True)  # leave out persistent_workers and "
      "prefetch_factor there: they need workers\n");
}

TEST(PythonEdits, HaveTheArgumentsThatAValueNeedsBesideIt) {
  HookLog seen;
  seen.add(R"({"event":"knob","knob":"num_workers","may":true,"today":0,
               "where":["train.py:114 DataLoader"],"also":["multiprocessing_context=\"fork\""]})");
  EXPECT_EQ(python_edits({{"num_workers", Value(std::int64_t{4})}}, seen),
            "# train.py:114\n"
            "DataLoader(..., num_workers=4, multiprocessing_context=\"fork\")\n");
}

TEST(PythonEdits, NameTheArgumentsOfATrainer) {
  HookLog seen;
  seen.add(R"({"event":"knob","knob":"num_workers","may":true,"today":0,"where":[],
               "edit":{"call":"TrainingArguments","argument":"dataloader_num_workers={value}"}})");
  seen.add(R"({"event":"knob","knob":"precision","may":true,"today":"fp32","where":[],
               "edit":{"call":"TrainingArguments","argument":{"bf16":"bf16=True"}}})");
  EXPECT_EQ(
      python_edits({{"num_workers", Value(std::int64_t{4})}, {"precision", text("bf16")}}, seen),
      "TrainingArguments(..., dataloader_num_workers=4, bf16=True)\n");
}

TEST(PythonEdits, UseTheTableIfATrainerHasNoArgumentForTheValue) {
  for (const char* edit : {R"({"call":"TrainingArguments","argument":{"fp16":"fp16=True"}})",
                           R"({"call":"TrainingArguments"})", R"({"call":3,"argument":"x"})",
                           R"({"argument":"x"})", "3", "null"}) {
    HookLog seen;
    seen.add(std::string(R"({"event":"knob","knob":"pin_memory","may":true,"today":false,)") +
             R"("where":[],"edit":)" + edit + "}");
    EXPECT_EQ(python_edits({{"pin_memory", Value(true)}}, seen),
              "DataLoader(..., pin_memory=True)\n");
  }
}

TEST(PythonEdits, WithoutPlacesNameTheCall) {
  EXPECT_EQ(python_edits({{"pin_memory", Value(true)}, {"channels_last", Value(true)}}, {}),
            "DataLoader(..., pin_memory=True)\n"
            "# where the model is called\n"
            "model = model.to(memory_format=torch.channels_last)\n"
            "images = images.to(memory_format=torch.channels_last)\n");
}

TEST(PythonEdits, GarbageCollectorEditsSayWhereTheyGo) {
  EXPECT_EQ(python_edits({{"gc", text("freeze")}}, {}),
            "# in the training loop\n"
            "import gc\n"
            "gc.collect(); gc.freeze()  # once, after the first steps\n");
}

TEST(PythonEdits, HalfPrecisionEditsHaveTheScaler) {
  HookLog seen;
  seen.add(R"({"event":"knob","knob":"precision","may":true,"today":"fp32",
               "where":["train.py:60 Net"]})");
  EXPECT_EQ(python_edits({{"precision", text("fp16")}}, seen),
            "# train.py:60\n"
            "# Hugging Face: TrainingArguments(fp16=True); Lightning: "
            "Trainer(precision=\"16-mixed\"); else:\n"
            "scaler = torch.cuda.amp.GradScaler()  # once; from PyTorch 2.3 on "
            "torch.amp.GradScaler(device_type)\n"
            "with torch.autocast(device_type, dtype=torch.float16):\n"
            "    output = model(x)\n"
            "loss = criterion(output.float(), y)\n"
            "scaler.scale(loss).backward()\n"
            "scaler.unscale_(optimizer)  # before gradients are clipped or looked at\n"
            "scaler.step(optimizer)\n"
            "scaler.update()  # once a step, also of several optimizers\n");
}

TEST(PythonEdits, LeaveOutSettingsOfTheProgram) {
  HookLog seen;
  seen.add(R"({"event":"knob","knob":"persistent_workers","may":true,"today":false})");
  seen.add(R"({"event":"knob","knob":"prefetch_factor","may":true,"today":2})");
  seen.add(R"({"event":"knob","knob":"sharing_strategy","may":true,"today":"file_descriptor"})");
  EXPECT_EQ(python_edits({{"num_workers", Value(std::int64_t{4})},
                          {"prefetch_factor", Value(std::int64_t{2})},
                          {"persistent_workers", Value(false)},
                          {"sharing_strategy", text("file_descriptor")}},
                         seen),
            "DataLoader(..., num_workers=4)\n");
}

TEST(PythonEdits, NoEditsSayThatNothingNeedsToChange) {
  EXPECT_EQ(python_edits({}, {}), "# nothing to change: the program already has these settings\n");
}

}  // namespace
}  // namespace steptune

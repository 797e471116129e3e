# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT-2 by transformers' Trainer: three micro-batches a step, an evaluation and a checkpoint each epoch."""
import sys
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments


class Texts(Dataset):
    def __init__(self, items, seed):
        generator = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(0, 64, (items, 16), generator=generator)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


class Losses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **named):
        for name in ("loss", "eval_loss"):
            if name in logs:
                print(name, logs[name])


torch.manual_seed(1)
model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2))
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=int(sys.argv[1]),
        num_train_epochs=2,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=1,
        disable_tqdm=True,
        report_to="none",
        use_cpu=True,
        seed=3,
    )
    trainer = Trainer(model, arguments, train_dataset=Texts(42, 1), eval_dataset=Texts(8, 2), callbacks=[Losses()])
    trainer.remove_callback(PrinterCallback)  # prints times
    trainer.train()
    print("steps", trainer.state.global_step)

# SPDX-License-Identifier: Apache-2.0
"""A loop in the style of Hugging Face's accelerate. `prepare` replaces the loader by one that fetches a batch before it
returns the previous one. It wraps the optimizer, whose step does nothing while gradients accumulate. `backward` divides the
loss, and a scaler is inside the optimizer."""
import argparse
import contextlib

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class GradientState:
    """Decides if the next step is made: after several batches, and after the last one of a pass."""

    def __init__(self, accumulates):
        self.accumulates = accumulates
        self.batches = 0
        self.sync_gradients = True
        self.end_of_dataloader = False

    def next_batch(self):
        self.batches += 1
        self.sync_gradients = self.batches % self.accumulates == 0 or self.end_of_dataloader
        if self.end_of_dataloader:
            self.batches = 0


def one_ahead(iterator, device, state):
    current = next(iterator)
    while current is not None:
        current = [tensor.to(device, non_blocking=True) for tensor in current]
        following = next(iterator, None)
        state.end_of_dataloader = following is None
        yield current
        current = following


class DataLoaderShard(DataLoader):
    """Accelerate's loader until 2024: a subclass of DataLoader."""

    def __init__(self, dataset, device, state, **named):
        super().__init__(dataset, **named)
        self.device = device
        self.gradient_state = state

    def __iter__(self):
        return one_ahead(super().__iter__(), self.device, self.gradient_state)


class DataLoaderAdapter:
    """Accelerate's loader since 2024: not a subclass of DataLoader."""

    def __init__(self, dataset, device, state, **named):
        self.base_dataloader = DataLoader(dataset, **named)
        self.device = device
        self.gradient_state = state

    def __getattr__(self, name):
        return getattr(self.base_dataloader, name)

    def __iter__(self):
        return one_ahead(iter(self.base_dataloader), self.device, self.gradient_state)


class AcceleratedOptimizer(torch.optim.Optimizer):
    """Skips Optimizer.__init__."""

    def __init__(self, optimizer, state, scaler=None):
        self.optimizer = optimizer
        self.gradient_state = state
        self.scaler = scaler
        self.step_of_optimizer = optimizer.step
        self.was_called = False

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    @property
    def state(self):
        return self.optimizer.state

    def zero_grad(self, set_to_none=None):
        if self.gradient_state.sync_gradients:
            self.optimizer.zero_grad(set_to_none=True if set_to_none is None else set_to_none)

    def step(self, closure=None):
        if not self.gradient_state.sync_gradients:
            return
        if self.scaler is None:
            self.optimizer.step(closure)
            return
        # The step itself shows whether the scaler skipped it.
        self.optimizer.step = self.watched_step
        self.scaler.step(self.optimizer, closure)
        self.scaler.update()
        self.optimizer.step = self.step_of_optimizer
        print("skipped", not self.was_called)
        self.was_called = False

    def watched_step(self, *arguments, **named):
        self.was_called = True
        return self.step_of_optimizer(*arguments, **named)


class AcceleratedScheduler:
    """Steps only when the optimizer does."""

    def __init__(self, scheduler, state):
        self.scheduler = scheduler
        self.gradient_state = state

    def step(self):
        if self.gradient_state.sync_gradients:
            self.scheduler.step()


class Accelerator:
    def __init__(self, accumulates, mixed_precision, loader_class):
        self.device = torch.device("cpu")
        self.mixed_precision = mixed_precision
        self.gradient_state = GradientState(accumulates)
        self.scaler = torch.cuda.amp.GradScaler() if mixed_precision == "fp16" else None
        self.loader_class = loader_class

    def prepare_model(self, model):
        if self.mixed_precision != "no":
            forward = model.forward

            def in_autocast(*inputs, **named):
                # The CPU of PyTorch 1 has only bfloat16.
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return forward(*inputs, **named).float()

            model.forward = in_autocast
        return model.to(self.device)

    def prepare_loader(self, loader):
        named = {"num_workers": loader.num_workers, "pin_memory": loader.pin_memory}
        named["batch_sampler"] = loader.batch_sampler
        return self.loader_class(loader.dataset, self.device, self.gradient_state, **named)

    def prepare_optimizer(self, optimizer):
        return AcceleratedOptimizer(optimizer, self.gradient_state, self.scaler)

    def prepare_scheduler(self, scheduler):
        return AcceleratedScheduler(scheduler, self.gradient_state)

    @contextlib.contextmanager
    def accumulate(self):
        self.gradient_state.next_batch()
        yield

    def backward(self, loss):
        loss = loss / self.gradient_state.accumulates
        if self.scaler is not None:
            loss = self.scaler.scale(loss)
        loss.backward()


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        print("eval", sum(nn.functional.cross_entropy(model(x), y).item() for x, y in loader).hex())
    model.train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loader", choices=["subclass", "adapter"], default="subclass")
    parser.add_argument("--mixed-precision", choices=["no", "bf16", "fp16"], default="no")
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--evaluate-every", type=int, default=0, help="steps; 0: at the end of each epoch")
    parser.add_argument("--not-finite", type=int, nargs="*", default=[], help="numbers of batches")
    arguments = parser.parse_args()
    torch.manual_seed(6)
    loader_class = DataLoaderShard if arguments.loader == "subclass" else DataLoaderAdapter
    accelerator = Accelerator(arguments.accumulate, arguments.mixed_precision, loader_class)
    trained_on = TensorDataset(torch.randn(44, 5), torch.randint(0, 3, (44,)))
    evaluated_on = TensorDataset(torch.randn(10, 5), torch.randint(0, 3, (10,)))
    model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.1), nn.Linear(8, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model = accelerator.prepare_model(model)
    scheduler = accelerator.prepare_scheduler(torch.optim.lr_scheduler.StepLR(optimizer, 3))
    optimizer = accelerator.prepare_optimizer(optimizer)
    train = accelerator.prepare_loader(DataLoader(trained_on, batch_size=4, shuffle=True))
    evaluation = accelerator.prepare_loader(DataLoader(evaluated_on, batch_size=4))
    number = 0
    steps = 0
    for _ in range(arguments.epochs):
        for x, y in train:
            number += 1
            with accelerator.accumulate():
                if number in arguments.not_finite:
                    x = x * float("inf")
                loss = nn.functional.cross_entropy(model(x), y)
                print("loss", loss.item().hex())
                accelerator.backward(loss)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            if accelerator.gradient_state.sync_gradients:
                steps += 1
                if arguments.evaluate_every and steps % arguments.evaluate_every == 0:
                    evaluate(model, evaluation)
        if not arguments.evaluate_every:
            evaluate(model, evaluation)
    torch.save(model.state_dict(), "/dev/null")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""A step for each batch, in the ways that programs write it. A number: the same by hand with so many batches for a step.
`ranks`: of DistributedDataParallel; tells how often they communicated."""

import contextlib
import sys
import warnings

import torch
import torch.distributed as dist
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.utils.data import DataLoader, TensorDataset

WAYS = set(sys.argv[1:])
BATCHES = next((int(word) for word in WAYS if word.isdigit()), 1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(12, 16)
        self.norm = torch.nn.BatchNorm1d(16)
        self.last = torch.nn.Linear(16, 1)
        self.seldom = torch.nn.Linear(16, 1)
        self.never = torch.nn.Linear(2, 2)

    def forward(self, x, is_seldom=False):
        hidden = self.norm(torch.tanh(self.first(x)))
        return self.last(hidden) + (self.seldom(hidden) if is_seldom else 0.0)


def parallel(net):
    communications = []

    def count(state, bucket):
        if bucket.is_last():
            communications.append(bucket.index())
        tensor = bucket.buffer() / dist.get_world_size()
        return dist.all_reduce(tensor, async_op=True).get_future().then(lambda future: future.value()[0])

    whole = torch.nn.parallel.DistributedDataParallel(
        net, find_unused_parameters="unused" in WAYS, static_graph="static" in WAYS
    )
    if "static" not in WAYS:
        whole.register_comm_hook(None, count)
    return whole, communications


def clear():
    if "by_model" in WAYS:
        model.zero_grad()
    elif "by_itself" in WAYS:
        for parameter in model.parameters():
            parameter.grad = None
    elif "to_zero" in WAYS:
        optimizer.zero_grad(set_to_none=False)
    else:
        optimizer.zero_grad()


def clip():
    if "clipped" in WAYS:
        norm = clip_grad_norm_(model.parameters(), max_norm=0.05)
        if BATCHES == 1:
            norms.append(norm.item())
    if "by_value" in WAYS:
        clip_grad_value_(net.parameters(), 0.01)


if "warned" not in WAYS:
    warnings.simplefilter("ignore")  # by hand schedules count batches, too, and PyTorch expects steps
if "ranks" in WAYS:
    dist.init_process_group("gloo")
torch.manual_seed(1)
rank = dist.get_rank() if "ranks" in WAYS else 0
data = TensorDataset(torch.randn(96, 12), torch.randn(96, 1))
net = model = Net()
if "unused" not in WAYS:
    del net.never
if "ranks" in WAYS:
    if "unused" not in WAYS:
        net.seldom.requires_grad_(False)
    model, communications = parallel(net)
first = list(net.first.parameters())
others = [p for p in net.parameters() if not any(p is one for one in first)]
if "adam" in WAYS:
    optimizer = torch.optim.AdamW([{"params": first, "lr": 0.01}, {"params": others}], lr=0.02)
else:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 6, 0.5)
loader = DataLoader(data, batch_size=8, shuffle=True)
norms = []
count = in_step = 0
for epoch in range(2):
    for inputs, targets in loader:
        count += 1
        is_first = in_step == 0
        in_step = (in_step + 1) % BATCHES
        is_last = in_step == 0
        inputs = inputs + rank
        # The hook looks at the first one before it leaves out what ranks tell each other.
        is_silent = not is_last and count > 1 and "ranks" in WAYS and not WAYS & {"unused", "static", "loud"}
        is_seldom = "unused" in WAYS and count % 4 == 2

        def compute():
            with model.no_sync() if is_silent else contextlib.nullcontext():
                loss = torch.nn.functional.mse_loss(model(inputs, is_seldom), targets)
                if "twice" in WAYS or ("later_twice" in WAYS and count > 9):
                    (loss / 2).backward(retain_graph=True)
                    (loss / 2).backward()
                elif "seeded" in WAYS:
                    share = torch.tensor(1 / BATCHES)
                    torch.autograd.backward([loss, 2 * loss], [0.5 * share, share if BATCHES > 1 else None])
                else:
                    (loss / BATCHES).backward()
            return loss

        def closure():
            if is_first:
                clear()
            loss = compute()
            if is_last:
                clip()
            return loss

        if "closure" in WAYS:
            loss = optimizer.step(closure) if is_last else closure()
        else:
            if "before" in WAYS and is_first:
                clear()
            loss = compute()
            if "attacked" in WAYS:
                clear()
                loss = compute()
            if "dropped" in WAYS and count in (7, 17):
                clear()
                in_step = 0
                continue
            if is_last:
                clip()
                optimizer.step()
        if "scheduled" in WAYS:
            scheduler.step()
        if not WAYS & {"before", "closure"} and is_last:
            clear()
        if "evaluated" in WAYS and count % 3 == 0:
            model.eval()
            with torch.no_grad():
                print("evaluation", model(inputs).sum().item())
            model.train()
        print("loss", loss.item())
print("weights", [p.double().sum().item().hex() for p in net.parameters()])
if norms:
    print("norms", norms, file=sys.stderr)
if "ranks" in WAYS:
    print("communicated", len(communications), flush=True)
    dist.destroy_process_group()

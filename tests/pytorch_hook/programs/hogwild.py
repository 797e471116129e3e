# SPDX-License-Identifier: Apache-2.0
"""Processes that train one model without ranks."""
import torch
import torch.multiprocessing as mp
import torch.nn as nn


def train(rank, model, all_under_way):
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(5):
        loss = model(torch.randn(4, 5)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 0:
            all_under_way.wait()


if __name__ == "__main__":
    torch.manual_seed(15)
    model = nn.Linear(5, 1)
    model.share_memory()
    all_under_way = mp.Barrier(2)
    processes = [mp.Process(target=train, args=(rank, model, all_under_way)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    print("done")

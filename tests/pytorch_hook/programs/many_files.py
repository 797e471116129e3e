# SPDX-License-Identifier: Apache-2.0
"""Opens more files than `select` can handle (`opens`), or closes every descriptor during training and opens its own files
(`closes`)."""
import os
import resource
import sys
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

KIND = sys.argv[1]
MORE_THAN_SELECT_TAKES = 1100
if KIND == "opens":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(MORE_THAN_SELECT_TAKES)]

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
logs = []
for epoch in range(2):
    for step, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(40, 5)), batch_size=4, shuffle=True)):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        if KIND == "closes" and epoch == 0 and step == 6:
            os.closerange(3, 256)
            logs = [tempfile.TemporaryFile() for _ in range(20)]
        for log in logs:
            log.write(b"loss\n")
            log.flush()
        print("loss", loss.item().hex())

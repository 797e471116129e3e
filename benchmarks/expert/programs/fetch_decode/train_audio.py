# SPDX-License-Identifier: Apache-2.0
"""Keyword spotting: clips come from an object store, are unpacked, and become spectra."""
import argparse, time
import numpy as np
import torch

p = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
p.add_argument("--bs", "--batch-size", dest="bs", type=int, default=16, help="clips per batch")
p.add_argument("-j", "--workers", type=int, default=2, help="data loading workers")
p.add_argument("--max-steps", type=int, default=20000, help="optimizer steps")
p.add_argument("--lr", type=float, default=3e-4, help="learning rate")
a = p.parse_args()


class Clips(torch.utils.data.Dataset):
    window = np.hanning(400).astype(np.float32)

    def __len__(self):
        return 200_000

    def __getitem__(self, i):
        time.sleep(0.012)  # GET from the store
        t = np.arange(16000, dtype=np.float32)
        clip = np.sin(t * (0.01 + 0.001 * (i % 12)))
        frames = np.lib.stride_tricks.sliding_window_view(clip, 400)[::200] * self.window
        return torch.from_numpy(np.abs(np.fft.rfft(frames)).astype(np.float32)), i % 12


net = torch.nn.GRU(201, 48, batch_first=True)
head = torch.nn.Linear(48, 12)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=a.lr)
loader = torch.utils.data.DataLoader(Clips(), a.bs, num_workers=a.workers, drop_last=True)
step, begin = 0, time.time()
while step < a.max_steps:
    for spectra, label in loader:
        _, state = net(spectra[:, ::4])
        loss = torch.nn.functional.cross_entropy(head(state[0]), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 4 == 0:
            print(f"step {step:5d} | loss {loss.item():.4f} | {(time.time() - begin) / step * 1000:.1f} ms/step", flush=True)
        if step >= a.max_steps:
            break

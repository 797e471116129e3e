# SPDX-License-Identifier: Apache-2.0
import os
import torch

# use the whole machine
torch.set_num_threads(os.cpu_count())
torch.set_num_interop_threads(os.cpu_count())
torch.manual_seed(0)

rnn = torch.nn.LSTM(32, 64, batch_first=True)
policy = torch.nn.Linear(64, 6)
optim = torch.optim.RMSprop([*rnn.parameters(), *policy.parameters()], lr=7e-4)

update = 0
while update < 60000:
    update += 1
    obs = torch.randn(16, 12, 32)
    ret = obs.mean(dim=2)
    hidden, _ = rnn(obs)
    dist = torch.distributions.Categorical(logits=policy(hidden))
    actions = dist.sample()
    loss = -(dist.log_prob(actions) * ret).mean() - 0.01 * dist.entropy().mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    if update % 20 == 0:
        print("update", update, "loss", "%.5f" % loss.item(), flush=True)

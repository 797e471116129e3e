# SPDX-License-Identifier: Apache-2.0
"""Learns the value of a policy's actions from a buffer, in the style of CleanRL's DQN (`dqn`) or SAC (`sac`, two critics and
a second optimizer). Actions are chosen with gradients enabled.
`clipped`: the Huber loss, as in PyTorch's DQN tutorial.
`episodes`: PyTorch's REINFORCE example, one backward for all states of an episode.
`freely`: first chooses more often than it learns, then equally often.
`views`: the policy's output is a view, which the program writes to."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

WAY = sys.argv[1]
torch.manual_seed(29)


def network(inputs, outputs):
    last = [nn.Unflatten(1, (outputs, 1)), nn.Flatten()] if WAY == "views" else []
    return nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, outputs), *last)


policy, target = network(4, 2), network(4, 2)
target.load_state_dict(policy.state_dict())
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
critics = [network(6, 1) for _ in range(2)]
critic_optimizer = torch.optim.Adam([p for critic in critics for p in critic.parameters()], lr=1e-3)
seen = []


def learn(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item().hex())


def learn_dqn(batch):
    with torch.no_grad():
        worth = target(batch + 0.1).max(dim=1)[0]
    values = policy(batch)
    if WAY == "views":
        values.relu_()
    predicted = values.max(dim=1)[0]
    learn(optimizer, (F.smooth_l1_loss if WAY == "clipped" else F.mse_loss)(worth, predicted))


def learn_sac(batch):
    actions = torch.rand(len(batch), 2)
    with torch.no_grad():
        worth = policy(batch + 0.1).mean(dim=1, keepdim=True)
    states = torch.cat([batch, actions], 1)
    learn(critic_optimizer, sum(F.mse_loss(critic(states), worth) for critic in critics))


if WAY == "episodes":
    for episode in range(12):
        chosen = [policy(torch.randn(1, 4)).log_softmax(dim=1)[0, 0] for _ in range(5 + episode)]
        learn(optimizer, -torch.stack(chosen).sum())
else:
    for step in range(400):
        state = torch.randn(1, 4)
        action = policy(state).argmax(dim=1)
        seen.append(state + 0.01 * action)
        every = 10 if WAY != "freely" or step < 300 else 1
        if step >= 100 and step % every == 0:
            batch = torch.cat([seen[i] for i in torch.randint(len(seen), (16,)).tolist()])
            learn_sac(batch) if WAY == "sac" else learn_dqn(batch)

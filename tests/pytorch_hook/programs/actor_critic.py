# SPDX-License-Identifier: Apache-2.0
"""PPO's loop: collects experience without gradients, then trains on it in shuffled minibatches. Each minibatch goes to two
networks."""
import torch
import torch.nn as nn

torch.manual_seed(23)
actor, critic = (nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, width)) for width in (2, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for _ in range(4):
    states, actions, values = [], [], []
    for _ in range(5):
        state = torch.randn(8, 3)
        with torch.no_grad():
            actions.append(actor(state).argmax(1))
            values.append(critic(state)[:, 0])
        states.append(state)
    states, actions, values = torch.cat(states), torch.cat(actions), torch.cat(values)
    for epoch in range(2):
        for batch in torch.randperm(40).split(16):
            seen = states[batch]
            loss = nn.functional.cross_entropy(actor(seen), actions[batch])
            loss = loss + nn.functional.mse_loss(critic(seen)[:, 0], values[batch] + 0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("loss", loss.item().hex())

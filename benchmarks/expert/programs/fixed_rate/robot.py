# SPDX-License-Identifier: Apache-2.0
"""Learns while a robot moves. The robot answers 50 times a second, whatever the computer does."""
import time

import torch


class Robot:
    def __init__(self):
        self.position = torch.zeros(6)

    def move(self, command):
        time.sleep(0.02)
        self.position = 0.9 * self.position + command.detach()
        return self.position.clone(), -self.position.abs().sum()


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.Tanh(), torch.nn.Linear(32, 6))

    def forward(self, position):
        return self.net(position)


def main():
    torch.manual_seed(8)
    robot, policy = Robot(), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    position = robot.position
    for t in range(500000):
        command = policy(position[None])[0]
        position, reward = robot.move(command)
        loss = (0.9 * position + policy(position[None])[0]).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if t % 25 == 24:
            print(f"t={t + 1} reward={reward.item():.3f} loss={loss.item():.3f}", flush=True)


main()

"""A network with one hidden layer, its loss and its gradients, in plain Python.

Matrices are lists of rows, one row per unit: 32x64 in the hidden layer (tanh), 10x32 in the output layer (softmax).
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from digits import CLASSES, PIXELS, Digit

Vector = list[float]
Matrix = list[Vector]


@dataclass
class Network:
    """Also the shape of its gradients."""

    hidden_weights: Matrix
    hidden_biases: Vector
    output_weights: Matrix
    output_biases: Vector


def create_network(hidden: int, seed: int) -> Network:
    """Small random weights, scaled by the number of inputs so that signals keep their size."""
    draw = random.Random(f"network {seed}")
    return Network(
        [[draw.gauss(0, 1 / math.sqrt(PIXELS)) for _ in range(PIXELS)] for _ in range(hidden)],
        [0.0] * hidden,
        [[draw.gauss(0, 1 / math.sqrt(hidden)) for _ in range(hidden)] for _ in range(CLASSES)],
        [0.0] * CLASSES,
    )


def affine(weights: Matrix, biases: Vector, inputs: Vector) -> Vector:
    return [sum(map(mul, row, inputs), bias) for row, bias in zip(weights, biases)]


def softmax(logits: Vector) -> Vector:
    highest = max(logits)
    exponentials = [math.exp(logit - highest) for logit in logits]
    total = sum(exponentials)
    return [exponential / total for exponential in exponentials]


def forward(network: Network, pixels: Vector) -> tuple[Vector, Vector]:
    """The hidden activations and the probability of each class."""
    hidden = list(map(math.tanh, affine(network.hidden_weights, network.hidden_biases, pixels)))
    return hidden, softmax(affine(network.output_weights, network.output_biases, hidden))


def cross_entropy(probabilities: Vector, label: int) -> float:
    return -math.log(max(probabilities[label], 1e-300))


def evaluate(network: Network, digits: Sequence[Digit]) -> tuple[float, float]:
    """Mean loss, and the share of digits whose most probable class is the right one."""
    loss, correct = 0.0, 0
    for pixels, label in digits:
        _, probabilities = forward(network, pixels)
        loss += cross_entropy(probabilities, label)
        correct += is_correct(probabilities, label)
    return loss / len(digits), correct / len(digits)


def is_correct(probabilities: Vector, label: int) -> bool:
    return probabilities[label] == max(probabilities)


def loss_and_gradients(network: Network, batch: Sequence[Digit]) -> tuple[float, float, Network]:
    """Mean loss, accuracy, and the gradient of the mean loss with respect to every weight and bias."""
    gradients = zeros_like(network)
    loss, correct = 0.0, 0
    for pixels, label in batch:
        hidden, probabilities = forward(network, pixels)
        loss += cross_entropy(probabilities, label)
        correct += is_correct(probabilities, label)
        add_gradients(gradients, network, pixels, label, hidden, probabilities, 1 / len(batch))
    return loss / len(batch), correct / len(batch), gradients


def add_gradients(
    gradients: Network,
    network: Network,
    pixels: Vector,
    label: int,
    hidden: Vector,
    probabilities: Vector,
    share: float,
) -> None:
    """Add one digit's part: the error goes back from the output through the hidden layer."""
    output_errors = [share * probability for probability in probabilities]
    output_errors[label] -= share
    columns = zip(*network.output_weights)
    hidden_errors = [sum(map(mul, column, output_errors)) * (1 - h * h) for column, h in zip(columns, hidden)]
    add_outer(gradients.output_weights, gradients.output_biases, output_errors, hidden)
    add_outer(gradients.hidden_weights, gradients.hidden_biases, hidden_errors, pixels)


def add_outer(weights: Matrix, biases: Vector, errors: Vector, inputs: Vector) -> None:
    for unit, error in enumerate(errors):
        weights[unit] = [weight + error * value for weight, value in zip(weights[unit], inputs)]
        biases[unit] += error


def descend(network: Network, gradients: Network, lr: float) -> None:
    """One step of gradient descent, in place."""
    add_scaled(network.hidden_weights, network.hidden_biases, gradients.hidden_weights, gradients.hidden_biases, -lr)
    add_scaled(network.output_weights, network.output_biases, gradients.output_weights, gradients.output_biases, -lr)


def add_scaled(weights: Matrix, biases: Vector, more_weights: Matrix, more_biases: Vector, factor: float) -> None:
    for unit, row in enumerate(more_weights):
        weights[unit] = [weight + factor * more for weight, more in zip(weights[unit], row)]
    biases[:] = [bias + factor * more for bias, more in zip(biases, more_biases)]


def zeros_like(network: Network) -> Network:
    return Network(
        [[0.0] * len(row) for row in network.hidden_weights],
        [0.0] * len(network.hidden_biases),
        [[0.0] * len(row) for row in network.output_weights],
        [0.0] * len(network.output_biases),
    )

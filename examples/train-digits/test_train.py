"""python3 -m unittest discover -s examples/train-digits"""

import contextlib
import io
import json
import math
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from checkpoints import Checkpoint, load_latest_checkpoint, save_checkpoint  # noqa: E402
from digits import batch_at, load_digits, split_digits  # noqa: E402
from network import create_network, evaluate, loss_and_gradients, softmax  # noqa: E402
from train import learning_rate, main  # noqa: E402

FAST = ["--pace-ms", "0", "--hidden", "8", "--batch-size", "16"]


class DataTest(unittest.TestCase):
    def test_every_digit_is_there(self):
        digits = load_digits()
        self.assertEqual(len(digits), 1797)
        self.assertEqual({digit.label for digit in digits}, set(range(10)))
        self.assertTrue(all(len(digit.pixels) == 64 for digit in digits))
        values = {value for digit in digits for value in digit.pixels}
        self.assertEqual((min(values), max(values)), (0.0, 1.0))

    def test_no_digit_is_in_both_parts(self):
        digits = [digit._replace(label=index) for index, digit in enumerate(load_digits())]
        training, validation = split_digits(digits, seed=0)
        self.assertEqual(len(validation), 359)
        self.assertEqual(sorted(digit.label for digit in training + validation), list(range(1797)))

    def test_an_epoch_shows_every_digit_once(self):
        batches = [batch_at(list(range(96)), step, 32, seed=1) for step in (1, 2, 3)]
        self.assertEqual(sorted(sum(batches, [])), list(range(96)))
        self.assertNotEqual(batches[0], batch_at(list(range(96)), 4, 32, seed=1))


class NetworkTest(unittest.TestCase):
    def test_the_gradients_agree_with_finite_differences(self):
        batch = load_digits()[:7]
        network = create_network(hidden=5, seed=3)
        _, _, gradients = loss_and_gradients(network, batch)
        for name in ("hidden_weights", "hidden_biases", "output_weights", "output_biases"):
            values, expected = getattr(network, name), getattr(gradients, name)
            if name.endswith("weights"):
                values, expected = values[2], expected[2]
            for index in range(len(values)):
                with self.subTest(name=name, index=index):
                    self.assertAlmostEqual(self.slope(network, batch, values, index), expected[index], delta=1e-7)

    def slope(self, network, batch, values, index, distance=1e-5):
        middle = values[index]
        values[index] = middle + distance
        above, _ = evaluate(network, batch)
        values[index] = middle - distance
        below, _ = evaluate(network, batch)
        values[index] = middle
        return (above - below) / (2 * distance)

    def test_softmax_is_a_distribution_and_does_not_overflow(self):
        probabilities = softmax([1000.0, 1001.0, -1000.0])
        self.assertAlmostEqual(sum(probabilities), 1.0)
        self.assertAlmostEqual(probabilities[1] / probabilities[0], math.e)


class TrainingTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SVC_")}
        patch = mock.patch.dict(os.environ, {**environment, "SVC_MODE": "disabled"}, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.enter_directory()

    def enter_directory(self):
        directory = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, directory)
        os.chdir(directory)
        return directory

    def train(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            main([*FAST, *arguments])
        return output.getvalue()

    def test_it_learns(self):
        output = self.train("--steps", "150", "--hidden", "24", "--batch-size", "32")
        first, *_, last = (line for line in output.splitlines() if "val/accuracy" in line)
        self.assertLess(self.figure(first, "val/accuracy"), 0.3)
        self.assertGreater(self.figure(last, "val/accuracy"), 0.9)
        self.assertLess(self.figure(last, "val/loss"), self.figure(first, "val/loss") / 4)

    def figure(self, line, name):
        words = line.split()
        return float(words[words.index(name) + 1])

    def test_the_same_seed_gives_the_same_weights_and_another_does_not(self):
        weights = []
        for seed in ("1", "1", "2"):
            self.enter_directory()
            self.train("--steps", "3", "--seed", seed)
            weights.append(Path("checkpoints/checkpoint-3/network.json").read_text())
        self.assertEqual(weights[0], weights[1])
        self.assertNotEqual(weights[0], weights[2])

    def test_a_resumed_training_ends_with_the_same_weights(self):
        options = ["--steps", "12", "--checkpoint-every", "5"]
        whole = self.enter_directory()
        self.train(*options)
        self.enter_directory()
        shutil.copytree(whole / "checkpoints/checkpoint-5", "checkpoints/checkpoint-5")
        self.assertIn("resuming after step 5", self.train(*options))
        expected = (whole / "checkpoints/checkpoint-12/network.json").read_text()
        self.assertEqual(Path("checkpoints/checkpoint-12/network.json").read_text(), expected)

    def test_a_finished_training_or_one_with_other_settings_begins_anew(self):
        self.train("--steps", "3")
        self.assertNotIn("resuming", self.train("--steps", "3"))
        self.assertNotIn("resuming", self.train("--steps", "4"))

    def test_half_a_checkpoint_is_not_loaded(self):
        network = create_network(hidden=2, seed=0)
        save_checkpoint(Checkpoint(5, {"steps": 9}, network))
        Path("checkpoints/checkpoint-6").mkdir()
        Path("checkpoints/checkpoint-6/network.json.partial").write_text('{"step": 6')
        self.assertEqual(load_latest_checkpoint(), Checkpoint(5, {"steps": 9}, network))

    def test_it_reports_its_metrics_and_checkpoints(self):
        os.environ["SVC_MODE"] = "offline"
        with self.assertLogs("svc", "WARNING"):
            self.train("--steps", "20", "--checkpoint-every", "10")
        (folder,) = Path("svc-offline").iterdir()
        points = [json.loads(line) for line in (folder / "points.jsonl").read_text().splitlines()]
        steps = {name: [p["step"] for p in points if p["name"] == name] for name in {p["name"] for p in points}}
        every_step, at_validation = list(range(1, 21)), [0, 10, 20]
        self.assertEqual(
            steps,
            {
                "train/loss": every_step,
                "lr": every_step,
                "val/loss": at_validation,
                "val/accuracy": at_validation,
                "train/accuracy": at_validation[1:],
            },
        )
        checkpoints = [json.loads(line) for line in (folder / "checkpoints.jsonl").read_text().splitlines()]
        self.assertEqual([checkpoint["step"] for checkpoint in checkpoints], [10, 20])
        self.assertTrue(all(Path(c["path"], "network.json").stat().st_size == c["size"] for c in checkpoints))

    def test_the_learning_rate_warms_up_and_falls_to_nearly_nothing(self):
        rates = [learning_rate(step, 400, 0.5) for step in range(1, 401)]
        self.assertLess(rates[0], 0.03)
        self.assertAlmostEqual(max(rates), 0.5, delta=0.01)
        self.assertLess(rates[-1], 0.001)


if __name__ == "__main__":
    unittest.main()

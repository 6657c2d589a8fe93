"""The stand-in for the SummaryWriter of PyTorch."""

import json
import os
import re
import socket

import svc
from support import SdkTest
from svc.event_files import Prefixes
from svc.integrations.tensorboard import SummaryWriter


class SummaryWriterTest(SdkTest):
    def test_scalars_hparams_and_texts_are_kept(self):
        with SummaryWriter("runs/lr 0.1", comment="-a", flush_secs=1) as writer:
            writer.add_scalar("loss", 0.5, 3, walltime=1.0)
            writer.add_scalars("acc", {"train": 1, "val": 0.5}, global_step=4)
            writer.add_hparams({"lr": 0.1, "bs": 8}, {"hparam/acc": 0.5}, run_name="x")
            writer.add_text("note", "hello", 2)
            self.assertEqual(writer.get_logdir(), "runs/lr 0.1")
            self.assertTrue(os.path.isdir(writer.log_dir))
        (run,) = self.server.runs.values()
        points = sorted(self.server.points[run["id"]].values(), key=lambda point: point["seq"])
        self.assertEqual(
            [(point["name"], point["step"], point["value"]) for point in points],
            [("loss", 3, 0.5), ("acc_train/acc", 4, 1), ("acc_val/acc", 4, 0.5), ("x/hparam/acc", 0, 0.5)],
        )
        self.assertEqual((run["name"], run["config"]), ("lr 0.1-a", {"lr": 0.1, "bs": 8}))
        (event,) = self.server.bodies_of("events")
        self.assertEqual((event["title"], event["message"], event["data"]), ("note", "hello", {"step": 2}))
        self.assertEqual(run["status"], "RUNNING")

    def test_writers_of_the_parts_of_a_training_have_curves_of_their_own(self):
        train, val = SummaryWriter("runs/exp1/train"), SummaryWriter("runs/exp1/val")
        other = SummaryWriter("runs/exp2")
        for step, writer in enumerate((train, val, other)):
            writer.add_scalar("loss", float(step), 7)
        train.add_hparams({"lr": 1}, {"best": 0.5})
        train.flush()
        (run,) = self.server.runs.values()
        self.assertEqual(run["name"], "exp1")
        names = [("train/loss", [0.0]), ("val/loss", [1.0]), ("exp2/loss", [2.0]), ("train/best", [0.5])]
        self.assertEqual([self.server.values(name, run["id"]) for name, _ in names], [values for _, values in names])

    def test_the_way_from_the_first_folder_is_the_prefix_and_has_no_times(self):
        prefixes = Prefixes()
        self.assertEqual(prefixes.of("/me/w/fold_0"), "")
        for way, prefix in {
            "fold_0/deep/eval": "deep/eval/",
            "fold_1": "fold_1/",
            "": "w/",
            "../other/a/eval": "other/a/eval/",
            "Nov22_10-00-00_host.example": "w/",
            "Nov22_10-00-00_host_generator": "generator/",
            "exp/1700000000.123": "exp/",
            "resnet-20261123-100000": "resnet/",
            "2026-11-23_10:00:00.123456": "w/",
            "seed_1234": "seed_1234/",
        }.items():
            self.assertEqual(prefixes.of(os.path.normpath(f"/me/w/{way}")), prefix, way)
        keras = Prefixes()
        self.assertEqual(keras.of("/logs/20261123-100000/train"), "train/")
        self.assertEqual(keras.of("/logs/20261123-100500/validation"), "validation/")

    def test_without_a_folder_it_makes_that_of_pytorch(self):
        writer = SummaryWriter(comment="-a")
        self.assertRegex(writer.log_dir, rf"^runs/\w{{3}}\d\d_\d\d-\d\d-\d\d_{re.escape(socket.gethostname())}-a$")
        self.assertTrue(os.path.isdir(writer.log_dir))
        self.assertEqual(writer.run.name, "-a")
        writer.add_scalar("loss", 1.0)
        writer.flush()
        self.assertEqual(self.server.values("loss", writer.run.id), [1.0])

    def test_what_cannot_be_kept_is_said_once_for_each_call(self):
        writer = SummaryWriter()
        with self.assertLogs("svc", "WARNING") as logs:
            for step in range(3):
                writer.add_histogram("w", [1, 2], step)
                writer.add_image("i", None, global_step=step)
        self.assertEqual(len(logs.output), 2)
        with self.assertRaises(AttributeError):
            writer.nothing_of_it()

    def test_a_text_of_hyperparameters_is_config(self):
        texts = {
            "hyperparameters": "|param|value|\n|-|-|\n|lr|2.5e-4|\n|steps|500000|\n|cuda|True|\n|net|`a|b`|\n|no|None|",
            "args": '{"betas": [0.9, 0.99]}',
            "config": '```json\n{"seed": 1, "lr": 9}\n```',
        }
        others = {"config": "Namespace(lr=0.1)", "hparams": "|a|b|c|\n|-|-|-|\n|1|2|3|", "note": "|a|b|\n|-|-|\n|1|2|"}
        with SummaryWriter("runs/a") as writer:
            writer.run.config["steps"] = 3
            for tag, text in [*texts.items(), *others.items(), ("args", '{"a":' * 30 + "1" + "}" * 30)]:
                writer.add_text(tag, text)
        (run,) = self.server.runs.values()
        expected = {"steps": 3, "lr": 0.00025, "cuda": True, "net": "a|b", "no": None, "betas": [0.9, 0.99], "seed": 1}
        self.assertEqual(run["config"], expected)
        titles = [event["title"] for event in self.server.bodies_of("events")]
        self.assertEqual(titles, [*others, "args"])

    def test_the_same_texts_again_send_nothing(self):
        texts = [json.dumps({"a": 1}), json.dumps({"b": 2})]
        with SummaryWriter("runs/a") as writer:
            for step in range(5):
                for tag, text in zip(("config", "args"), texts):
                    writer.add_text(tag, text, step)
            writer.add_text("hparams", texts[0])  # another text, with nothing new in it
        (run,) = self.server.runs.values()
        self.assertEqual(run["config"], {"a": 1, "b": 2})
        sent = [body["config"] for body in self.server.bodies_of("update") if "config" in body]
        self.assertEqual(sent, [{"a": 1}, {"a": 1, "b": 2}])
        self.assertEqual(self.server.bodies_of("events"), [])

    def test_a_text_for_which_the_config_has_no_room_stays_an_event(self):
        with SummaryWriter("runs/a") as writer, self.assertLogs("svc", "WARNING") as logs:
            for tag in ("config", "args", "hparams", "hparams"):
                writer.add_text(tag, json.dumps({tag: "x" * 200_000}))
            writer.add_hparams({"lr": 0.1}, {})
            writer.run.config.update(batch=32)
        (run,) = self.server.runs.values()
        self.assertEqual(list(run["config"]), ["config", "args", "lr", "batch"])
        self.assertEqual([event["title"] for event in self.server.bodies_of("events")], ["hparams", "hparams"])
        self.assertEqual(len(logs.output), 1)

    def test_a_text_without_a_tag_is_an_event(self):
        with SummaryWriter("runs/a") as writer:
            writer.add_text(None, "x")
        self.assertEqual([event["title"] for event in self.server.bodies_of("events")], ["None"])

    def test_many_texts_are_no_flood_of_events(self):
        writer = SummaryWriter()
        with self.assertLogs("svc", "WARNING"):
            for step in range(150):
                writer.add_text("t", "x", step)
        writer.flush()
        self.assertEqual(len(self.server.bodies_of("events")), 100)

    def test_it_reports_to_the_run_that_is_open(self):
        run = svc.init()
        self.assertIs(SummaryWriter().run, run)
        self.assertEqual(len(self.server.runs), 1)

    def test_neither_it_nor_the_stand_in_for_wandb_imports_a_framework(self):
        names = ("torch", "tensorboard", "transformers", "lightning", "keras", "wandb", "numpy")
        code = (
            f"import svc.wandb, svc.integrations.tensorboard\nprint([name for name in {names} if name in sys.modules])"
        )
        self.assertEqual(self.run_script(code), (0, "[]\n", ""))

"""The stand-in for wandb: a script moves over by changing one import."""

import argparse
import copy
import pickle

import svc
from support import RUN_ID, SdkTest
from svc import wandb


class WandbTest(SdkTest):
    def setUp(self):
        super().setUp()
        without = dict.fromkeys(("WANDB_MODE", "WANDB_PROJECT", "WANDB_NAME", "WANDB_TAGS", "WANDB_DISABLED"), "")
        self.set(**without)
        self.addCleanup(wandb._show, None)

    def run_made(self):
        (run,) = self.server.runs.values()
        return run

    def points(self, run_id=None):
        points = self.server.points[run_id or self.run_made()["id"]].values()
        return [(point["name"], point["step"], point["value"]) for point in sorted(points, key=lambda p: p["seq"])]

    def test_a_usual_script(self):
        config = argparse.Namespace(lr=0.1, layers=[1, 2])
        run = wandb.init(project="vision", entity="us", group="resnet", name="r1", tags=["a"], config=config)
        self.assertIs(run, wandb.run)
        wandb.watch(object(), log="all")
        wandb.config.batch = 8
        wandb.config.update({"epochs": 2}, allow_val_change=True)
        wandb.config["seed"] = 1
        for step in range(wandb.config.epochs):
            wandb.log({"train": {"loss": 1.0 / (step + 1)}, "lr": wandb.config.lr})
        wandb.finish()
        made = self.run_made()
        self.assertEqual((made["project"], made["experiment"], made["name"]), ("vision", "resnet", "r1"))
        self.assertEqual((made["tags"], made["status"]), (["a"], "SUCCEEDED"))
        self.assertEqual(made["config"], {"lr": 0.1, "layers": [1, 2], "batch": 8, "epochs": 2, "seed": 1})
        expected = [("train/loss", 0, 1.0), ("lr", 0, 0.1), ("train/loss", 1, 0.5), ("lr", 1, 0.1)]
        self.assertEqual(self.points(), expected)
        self.assertIsNone(wandb.run)

    def test_config_and_summary_can_be_copied_and_pickled(self):
        wandb.init(config={"lr": 0.1, "layers": [1]})
        wandb.log({"loss": 0.5})
        for held, values in ((wandb.config, {"lr": 0.1, "layers": [1]}), (wandb.summary, {"loss": 0.5})):
            for made in (copy.copy(held), copy.deepcopy(held), pickle.loads(pickle.dumps(held))):
                self.assertEqual((type(made), made), (dict, values))
            with self.assertRaises(AttributeError):
                held._nothing  # noqa: B018

    def test_what_programs_ask_of_the_module(self):
        self.assertRegex(wandb.__version__, r"^\d+\.\d+\.\d+$")
        self.assertTrue(issubclass(wandb.errors.UsageError, wandb.errors.Error))
        told = self.run_script("from svc import wandb\nfor _ in 'ab': wandb.termwarn('careful', repeat=False)")
        self.assertEqual(told, (0, "", "svc: careful\n"))

    def test_a_new_file_of_an_artifact_is_a_checkpoint(self):
        run = wandb.init()
        artifact = wandb.Artifact("net", type="model")
        with artifact.new_file("parts/net.txt") as file:
            file.write("weights")
        with self.assertRaises(ValueError), artifact.new_file("../other"):
            pass
        run.log_artifact(artifact)
        run.finish()
        (body,) = self.server.bodies_of("checkpoints")
        path = self.directory / "svc-artifacts/net/parts/net.txt"
        self.assertEqual((body["path"], body["size"]), (str(path), 7))

    def test_steps_are_those_of_wandb(self):
        with wandb.init() as run:
            run.log({"a": 1})
            run.log({"a": 2}, commit=False)
            run.log({"b": 2})
            run.log({"a": 3}, step=10)
            run.log({"b": 3}, step=10, commit=True)
            run.log({"a": 4})
            self.assertEqual(run.step, 12)
        steps = [("a", 0, 1), ("a", 1, 2), ("b", 1, 2), ("a", 10, 3), ("b", 10, 3), ("a", 11, 4)]
        self.assertEqual(self.points(), steps)

    def test_what_is_shown_and_not_plotted_is_left_out_with_one_notice_each(self):
        wandb.init()
        with self.assertLogs("svc", "WARNING") as logs:
            for _ in range(2):
                table = wandb.Table(columns=["a"], data=[[1]])
                table.add_data(1)
                wandb.log({"loss": 1, "t": table, "i": [wandb.Image(None)], "h": wandb.Histogram([1])})
                wandb.log({"p": wandb.plot.line(table, "x", "y")})
        wandb.finish()
        self.assertEqual(len(logs.output), 4)
        self.assertTrue(isinstance(wandb.Image(None), wandb.Image))
        self.assertEqual({name for name, _, _ in self.points()}, {"loss"})

    def test_the_summary(self):
        run = wandb.init()
        wandb.log({"acc": 0.5})
        run.summary["best"] = 0.9
        run.summary.update({"n": 3})
        self.assertEqual((wandb.summary["best"], run.summary.acc, run.summary.get("x")), (0.9, 0.5, None))
        wandb.finish()
        self.assertEqual(self.points(), [("acc", 0, 0.5), ("summary/best", 0, 0.9), ("summary/n", 0, 3)])

    def test_the_rest_of_what_scripts_call(self):
        (self.directory / "model.pt").write_text("x")
        run = wandb.init(settings=wandb.Settings(start_method="thread"), notes="why", job_type="train")
        run.define_metric("acc", summary="max")
        run.define_metric("loss", goal="minimize")
        with self.assertLogs("svc", "WARNING"):
            run.define_metric("val/*", step_metric="epoch")
            run.name = "renamed"
            run.log_artifact("data.csv", name="d", type="dataset")
        artifact = wandb.Artifact("m", type="model", metadata={"acc": 1})
        artifact.add_file("model.pt")
        run.log_artifact(artifact)
        wandb.alert("look", text="here", level=wandb.AlertLevel.WARN)
        wandb.save("x"), wandb.login(), run.log_code()
        wandb.finish(exit_code=1)
        made = self.run_made()
        self.assertEqual(made["metrics"], {"acc": {"direction": "maximize"}, "loss": {"direction": "minimize"}})
        (checkpoint,) = self.server.bodies_of("checkpoints")
        self.assertEqual((checkpoint["path"], checkpoint["metadata"]), (str(self.directory / "model.pt"), {"acc": 1}))
        events = [(body["title"], body["severity"]) for body in self.server.bodies_of("events")]
        self.assertEqual(events, [("notes", "info"), ("look", "warning")])
        self.assertEqual((made["status"], made["tags"]), ("FAILED", ["train"]))

    def test_before_init_it_says_what_to_do(self):
        for call in (
            lambda: wandb.log({}),
            lambda: wandb.config.lr,
            lambda: wandb.config["lr"],
            lambda: wandb.summary["lr"],
            lambda: wandb.define_metric("x"),
        ):
            with self.assertRaisesRegex(wandb.Error, r"call wandb\.init\(\)"):
                call()
        wandb.finish()
        with self.assertRaisesRegex(AttributeError, "docs/coming-from.md"):
            wandb.sweep  # noqa: B018

    def test_the_variables_of_wandb(self):
        self.set(WANDB_PROJECT="p", WANDB_RUN_GROUP="g", WANDB_NAME="n", WANDB_TAGS="a, b")
        wandb.init().finish()
        made = self.run_made()
        self.assertEqual((made["project"], made["experiment"], made["name"], made["tags"]), ("p", "g", "n", ["a", "b"]))

    def test_the_modes(self):
        for env, mode in ({"WANDB_MODE": "disabled"}, None), ({"WANDB_DISABLED": "true"}, None), ({}, "disabled"):
            with self.subTest(env=env, mode=mode):
                self.set(**{"WANDB_MODE": "", "WANDB_DISABLED": "", **env})
                run = wandb.init(mode=mode)
                run.log({"loss": 1})
                run.finish()
        self.set(WANDB_MODE="offline", WANDB_DISABLED="")
        with self.assertLogs("svc", "WARNING"):
            run = wandb.init()
        self.assertTrue(run.offline)
        run.finish()
        self.assertEqual(self.server.requests, [])

    def test_a_second_init_returns_the_run_that_is_open_unless_it_is_to_be_ended(self):
        first = wandb.init()
        self.assertIs(wandb.init(), first)
        second = wandb.init(reinit=True)
        self.assertEqual([run["status"] for run in self.server.runs.values()], ["SUCCEEDED", "RUNNING"])
        svc.finish()
        self.assertIsNot(wandb.init(), second)

    def test_in_a_job_it_reports_to_the_run_of_the_job(self):
        self.in_job()
        wandb.init(project="x", name="y")
        wandb.log({"loss": 1})
        wandb.finish()
        self.assertEqual((self.points(RUN_ID), self.server.runs[RUN_ID]["status"]), ([("loss", 0, 1)], "RUNNING"))

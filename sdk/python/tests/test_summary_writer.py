"""The stand-in for the SummaryWriter of PyTorch."""

import svc
from support import SdkTest
from svc.integrations.tensorboard import SummaryWriter


class SummaryWriterTest(SdkTest):
    def test_scalars_hparams_and_texts_are_kept(self):
        with SummaryWriter("runs/lr 0.1", comment="-a", flush_secs=1) as writer:
            writer.add_scalar("loss", 0.5, 3, walltime=1.0)
            writer.add_scalars("acc", {"train": 1, "val": 0.5}, global_step=4)
            writer.add_hparams({"lr": 0.1, "bs": 8}, {"hparam/acc": 0.5}, run_name="x")
            writer.add_text("note", "hello", 2)
            self.assertEqual(writer.get_logdir(), "runs/lr 0.1")
        (run,) = self.server.runs.values()
        points = sorted(self.server.points[run["id"]].values(), key=lambda point: point["seq"])
        self.assertEqual(
            [(point["name"], point["step"], point["value"]) for point in points],
            [("loss", 3, 0.5), ("acc/train", 4, 1), ("acc/val", 4, 0.5), ("hparam/acc", 5, 0.5)],
        )
        self.assertEqual((run["name"], run["config"]), ("lr 0.1-a", {"lr": 0.1, "bs": 8}))
        (event,) = self.server.bodies_of("events")
        self.assertEqual((event["title"], event["message"], event["data"]), ("note", "hello", {"step": 2}))
        self.assertEqual(run["status"], "RUNNING")

    def test_what_cannot_be_kept_is_said_once_for_each_call(self):
        writer = SummaryWriter()
        with self.assertLogs("svc", "WARNING") as logs:
            for step in range(3):
                writer.add_histogram("w", [1, 2], step)
                writer.add_image("i", None, global_step=step)
        self.assertEqual(len(logs.output), 2)
        with self.assertRaises(AttributeError):
            writer.nothing_of_it()

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

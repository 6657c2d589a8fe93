import math
import threading
import time
from decimal import Decimal
from unittest import mock

import svc
from support import RUN_ID, SdkTest


class Tensor:
    """As torch's and numpy's scalars are: .item() gives the Python value."""

    def __init__(self, value):
        self.value = value

    def item(self):
        if isinstance(self.value, list):
            raise ValueError("only one element tensors can be converted")
        return self.value


class LogTest(SdkTest):
    def points(self):
        return sorted(self.server.points.get(RUN_ID, {}).values(), key=lambda point: point["seq"])

    def test_points_carry_name_step_value_epoch_and_time(self):
        before = int(time.time() * 1000)
        run = self.attach()
        run.log({"train/loss": 0.5, "lr": 1}, step=7, epoch=1.5)
        self.assertTrue(run.flush())
        loss, lr = self.points()
        self.assertEqual((loss["name"], loss["step"], loss["value"], loss["epoch"]), ("train/loss", 7, 0.5, 1.5))
        self.assertEqual((lr["name"], lr["step"], lr["value"]), ("lr", 7, 1))
        self.assertTrue(before <= loss["ts"] <= int(time.time() * 1000))
        self.assertEqual(lr["seq"], loss["seq"] + 1)

    def test_many_points_travel_in_batches_of_at_most_ten_thousand(self):
        run = self.attach()
        for step in range(2500):
            run.log({f"m{i}": step for i in range(10)}, step=step)
        self.assertTrue(run.flush())
        sizes = [len(body["points"]) for body in self.server.bodies("metrics:batch")]
        self.assertEqual(sum(sizes), 25_000)
        self.assertLessEqual(max(sizes), 10_000)
        self.assertLess(len(sizes), 20)
        self.assertEqual(self.server.values("m3"), list(range(2500)))

    def test_a_single_point_is_sent_without_a_flush(self):
        self.attach().log({"loss": 1.0})
        self.server.until(lambda: self.server.values("loss") == [1.0])

    def test_without_a_step_steps_count_on(self):
        run = self.attach()
        run.log({"loss": 1})
        run.log({"loss": 2})
        run.log({"loss": 3}, step=100)
        run.log({"loss": 4})
        run.flush()
        self.assertEqual([point["step"] for point in self.points()], [0, 1, 100, 101])

    def test_nested_mappings_are_flattened(self):
        run = self.attach()
        run.log({"train": {"loss": 1, "acc": {"top1": 0.5}}})
        run.flush()
        self.assertEqual([point["name"] for point in self.points()], ["train/loss", "train/acc/top1"])

    def test_nan_and_infinities_travel_as_words(self):
        run = self.attach()
        run.log({"a": math.nan, "b": math.inf, "c": -math.inf})
        run.flush()
        self.assertEqual([point["value"] for point in self.points()], ["NaN", "Infinity", "-Infinity"])

    def test_scalars_of_other_libraries_are_numbers(self):
        run = self.attach()
        run.log({"a": Tensor(0.25), "b": Decimal("1.5"), "c": 10**20}, step=Tensor(3))
        run.flush()
        self.assertEqual([(point["step"], point["value"]) for point in self.points()], [(3, 0.25), (3, 1.5), (3, 1e20)])

    def test_what_is_not_a_number_is_warned_about_once_and_left_out(self):
        run = self.attach()
        bad = {
            "text": "1.5",
            "none": None,
            "list": [1],
            "tensor": Tensor([1, 2]),
        }
        with self.assertLogs("svc", "WARNING") as logs:
            run.log({**bad, "loss": 1})
            run.log({**bad, "loss": 2})
        run.flush()
        self.assertEqual([point["value"] for point in self.points()], [1, 2])
        self.assertEqual(len(logs.output), len(bad))
        self.assertIn("'text' is left out: str is not a number", logs.output[0])

    def test_bools_are_zero_and_one(self):
        run = self.attach()
        run.log({"flag": True, "npbool": Tensor(False)})
        run.flush()
        self.assertEqual([point["value"] for point in self.points()], [1, 0])

    def test_bad_names_steps_and_epochs_are_warned_about(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING") as logs:
            run.log({"x" * 251: 1, "a\nb": 1, "": 1, "good": 1}, epoch="three")
            run.log({"lost": 1}, step=1.5)
            run.log({"lost": 1}, step=2**53)
            run.log([("loss", 1)])
            run.flush()
        self.assertEqual([point["name"] for point in self.points()], ["good"])
        self.assertNotIn("epoch", self.points()[0])
        self.assertEqual(len(logs.output), 6)

    def test_threads_may_log_at_once(self):
        run = self.attach()
        threads = [
            threading.Thread(target=lambda n=n: [run.log({f"t{n}": i}, step=i) for i in range(500)]) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run.flush()
        self.assertEqual(self.server.accepted, 2000)
        self.assertEqual(self.server.duplicates, 0)

    def test_what_is_changed_behind_a_call_changes_nothing(self):
        class Running(Tensor):
            pass

        run = self.attach()
        metrics, running = {"loss": 1.0}, Running(5.0)
        run.log(metrics)
        run.log({"running": running})
        metrics["loss"], running.value = 2.0, 6.0
        run.flush()
        self.assertEqual([point["value"] for point in self.points()], [1.0, 5.0])

    def test_numbers_of_python_beyond_what_a_point_can_have_are_left_out(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING") as logs:
            run.log({"huge": 10**400, "good": 1}, epoch=10**400)
            run.log({"lost": 1.0}, step=2**53)
            run.log({"good": 2}, epoch=3)
            self.assertTrue(run.flush())
        self.assertEqual(len(logs.output), 3)
        points = [(point["name"], point["value"], point.get("epoch")) for point in self.points()]
        self.assertEqual(points, [("good", 1, None), ("good", 2, 3)])

    def test_one_call_with_more_values_than_a_request_takes(self):
        run = self.attach()
        run.log({f"m{index}": index for index in range(25_000)})
        self.assertTrue(run.flush())
        self.assertEqual(len(self.points()), 25_000)
        self.assertEqual(self.server.duplicates, 0)

    def test_the_summary_has_what_was_logged_just_now(self):
        run = self.attach()
        run.log({"loss": 1.0, "done": True})
        self.assertEqual((dict(run.summary), run.last_step), ({"loss": 1.0, "done": 1.0}, 0))

    def test_writers_of_one_run_never_share_a_seq(self):
        first, second = self.attach(), None
        svc.start._attached_pid = None  # as a second rank does, in a process of its own
        second = svc.init(reinit="new")
        first.log({"loss": 1})
        second.log({"loss": 2})
        first.flush()
        second.flush()
        self.assertEqual(sorted(self.server.values("loss")), [1, 2])
        self.assertEqual(self.server.duplicates, 0)
        self.assertTrue(all(0 <= point["seq"] < 2**53 for point in self.points()))

    def test_objects_that_raise_cost_only_themselves_and_the_reporting_goes_on(self):
        class Name:
            def __str__(self):
                raise RuntimeError("no text")

        class Value:
            @property
            def item(self):
                raise RuntimeError("no item")

        class Step:
            def __index__(self):
                raise RuntimeError("no index")

        class Metrics(dict):
            def items(self):
                raise RuntimeError("no items")

        run = self.attach()
        with self.assertLogs("svc", "WARNING"):
            run.log({Name(): 1.0})
            run.log({"nested": {Name(): 1.0}})
            run.log({"value": Value(), "beside": 1.0})
            run.log({"loss": 1.0}, step=Step())
            run.log(Metrics())
            run.event("t", data=Metrics())
            run.flush()
        run.log({"loss": 2.0}, step=5)
        self.assertTrue(run.flush())
        self.assertEqual((self.server.values("beside"), self.server.values("loss")), ([1.0], [2.0]))

    def test_an_interrupt_passes_through_log(self):
        class Value:
            def item(self):
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.attach().log({"loss": Value()})

    def test_a_defect_does_not_end_the_sender(self):
        run = self.attach()
        self.assertTrue(run.flush())
        with self.assertLogs("svc", "WARNING"), mock.patch.object(run._outbox, "done", side_effect=RuntimeError):
            run.log({"loss": 1.0})
            self.server.until(lambda: self.server.values("loss") == [1.0])
            run.flush(0.1)
        run.log({"loss": 2.0})
        self.assertTrue(run.flush())
        self.assertEqual(self.server.values("loss"), [1.0, 2.0])

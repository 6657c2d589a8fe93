"""What hands expect that know other trackers: the current run, its link, config and summary, and what cannot be set."""

import argparse
import array
import collections
import copy
import json
import pickle

import svc
from support import JOB_ID, RUN_ID, SdkTest
from svc.values import to_jsonable


class CurrentRunTest(SdkTest):
    def test_the_module_reports_to_the_current_run(self):
        run = self.attach()
        svc.log({"loss": 0.5}, step=3)
        svc.event("hello", message="there")
        svc.checkpoint("out/model.pt", step=3)
        self.assertTrue(run.flush())
        self.assertEqual(self.server.values("loss"), [0.5])
        self.assertEqual(self.server.bodies_of("events")[0]["message"], "there")
        self.assertEqual(self.server.bodies_of("checkpoints")[0]["step"], 3)
        svc.finish("FAILED")
        self.assertEqual(self.server.runs[RUN_ID]["status"], "FAILED")

    def test_without_a_run_it_says_at_once_what_to_do(self):
        calls = [lambda: svc.log({"a": 1}), lambda: svc.event("a"), lambda: svc.checkpoint("a"), svc.finish]
        for call in calls:
            with self.assertRaisesRegex(RuntimeError, r"call svc\.init\(\) first"):
                call()

    def test_what_comes_behind_the_end_is_warned_about_and_never_raises(self):
        svc.init()
        svc.finish()
        with self.assertLogs("svc", "WARNING") as logs:
            svc.log({"late": 1})
        self.assertIn("the run has ended", logs.output[0])
        svc.finish()

    def test_a_second_init_ends_the_first(self):
        first = svc.init(name="one")
        first.log({"loss": 1})
        second = svc.init(name="two")
        self.assertEqual(self.server.runs[first.id]["status"], "SUCCEEDED")
        self.assertEqual(self.server.values("loss", first.id), [1])
        svc.log({"loss": 2})
        second.flush()
        self.assertEqual(self.server.values("loss", second.id), [2])
        self.assertEqual(self.server.runs[second.id]["status"], "RUNNING")

    def test_reinit_new_leaves_the_first_open(self):
        first = svc.init()
        second = svc.init(reinit="new")
        first.log({"loss": 1})
        svc.log({"loss": 2})
        second.finish()
        svc.log({"loss": 3})
        first.flush()
        self.assertEqual((self.server.values("loss", first.id), self.server.values("loss", second.id)), ([1, 3], [2]))
        self.assertEqual(self.server.runs[first.id]["status"], "RUNNING")

    def test_in_a_job_a_second_init_leaves_the_end_of_the_first_to_the_server(self):
        first = self.attach()
        first.log({"loss": 1})
        second = svc.init(name="fold 2")
        self.assertEqual(self.server.values("loss"), [1])
        self.assertEqual((self.server.runs[RUN_ID]["status"], second.is_attached), ("RUNNING", False))
        self.assertEqual(self.server.bodies("/runs")[0]["job_id"], JOB_ID)

    def test_another_reinit_is_refused_at_once(self):
        with self.assertRaisesRegex(ValueError, "reinit=True is not one of end, new"):
            svc.init(reinit=True)
        self.assertEqual(self.server.requests, [])

    def test_a_disabled_run_is_current_too(self):
        self.set(SVC_MODE="disabled")
        run = svc.init(config={"lr": 1})
        svc.log({"loss": 2})
        run.define_metric("loss", direction="minimize")
        run.config.update(lr=3)
        self.assertEqual((run.config, dict(run.summary), run.url), ({"lr": 3}, {"loss": 2.0}, None))
        svc.finish()
        self.assertEqual(self.server.requests, [])


class FillTest(SdkTest):
    def test_in_a_job_init_fills_what_the_submit_left_open(self):
        self.in_job()
        run = svc.init(name="lr 1", project="vision", experiment="resnet", tags=["a"], config={"lr": 1})
        run.flush()
        filled, described = self.server.bodies_of("update")[:2]
        self.assertEqual(described["config"], {"lr": 1})
        wishes = {"name": "lr 1", "project": "vision", "experiment": "resnet", "tags": ["a"]}
        self.assertEqual(filled, {"fill": wishes})

    def test_what_it_could_not_change_is_said_once(self):
        self.in_job()
        self.server.kept = {"name": "train", "project": "vision"}
        self.server.runs[RUN_ID]["name"] = "train"
        with self.assertLogs("svc", "WARNING") as logs:
            run = svc.init(name="lr 1", project="speech")
            run.flush()
            self.assertEqual(run.name, "train")
            run.config.update(lr=2)
            run.flush()
        self.assertEqual(len(logs.output), 1)
        self.assertIn("this run keeps its name 'train', project 'vision', decided before init", logs.output[0])

    def test_other_ranks_fill_nothing(self):
        self.in_job()
        self.set(RANK="1")
        run = svc.init(name="lr 1", config={"lr": 1}, all_ranks=True)
        run.config.update(lr=2)
        run.define_metric("loss", direction="maximize")
        run.log({"loss": 1})
        run.flush()
        self.assertEqual([kind for kind, _, _ in self.server.records], [])
        self.assertEqual(self.server.values("loss"), [1])

    def test_a_spool_and_the_offline_folder_have_it_too(self):
        self.in_job_with_spool()
        self.server.stop()
        run = svc.init(name="lr 1")
        run.define_metric("val/acc", direction="maximize", unit="%", primary=True)
        self.assertTrue(run.flush())
        self.assertIn({"fill": {"name": "lr 1"}}, [record["body"] for record in self.spooled("update")])
        (metric,) = self.spooled("metric")
        self.assertEqual(metric["name"], "val/acc")
        self.assertEqual(metric["body"], {"direction": "maximize", "unit": "%", "is_primary": True})
        self.set(SVC_MODE="offline", SVC_RUN_ID="")
        with self.assertLogs("svc", "WARNING"):
            offline = svc.init(name="alone")
        offline.define_metric("loss", unit="nat")
        offline.config.update(lr=1)
        offline.finish()
        self.assertEqual([line["name"] for line in self.offline_lines("metrics.jsonl")], ["loss"])
        metadata = json.loads((offline.offline_path / "metadata.json").read_text())
        self.assertEqual((metadata["config"], metadata["name"]), ({"lr": 1}, "alone"))


class LinkTest(SdkTest):
    def init(self, code="svc.init(name='mlp')", **env):
        self.set(SVC_QUIET="", **env)
        return self.run_script(code)

    def test_the_link_is_printed_and_known(self):
        _, out, err = self.init("print(svc.init(name='mlp').url)")
        run_id = next(iter(self.server.runs))
        url = f"{self.server.url}/runs/{run_id}"
        self.assertEqual(err, f"svc: the run mlp is at {url}\n")
        self.assertEqual(out, url + "\n")

    def test_in_a_job_the_first_rank_prints_that_of_the_job(self):
        self.in_job()
        url = f"{self.server.url}/runs/{RUN_ID}"
        self.assertEqual(self.init("svc.init()")[2], f"svc: the run of this job is at {url}\n")
        self.assertEqual(self.init("svc.init()", RANK="1")[2], "")

    def test_in_a_container_it_is_the_address_for_people_and_the_secret_one_is_not_told(self):
        self.in_job()
        self.set(SVC_URL=self.server.url + "/secret", SVC_CONSOLE_URL="http://train.example.org/")
        link, *_ = self.init("svc.init()")[2].splitlines()
        self.assertEqual(link, f"svc: the run of this job is at http://train.example.org/runs/{RUN_ID}")

    def test_it_is_quiet_when_told_so(self):
        self.assertEqual(self.init("svc.init(quiet=True)")[2], "")
        self.set(SVC_QUIET="1")
        self.assertEqual(self.run_script("svc.init()")[2], "")
        self.assertIn("is at http", self.run_script("svc.init(quiet=False)")[2])

    def test_a_closed_stderr_is_no_reason_to_fail(self):
        self.assertEqual(self.init("sys.stderr = None\nsvc.init().finish()")[0], 0)

    def test_offline_there_is_none(self):
        self.set(SVC_MODE="offline")
        with self.assertLogs("svc", "WARNING") as logs:
            run = svc.init(quiet=False)
        self.assertEqual(run.url, None)
        self.assertIn(str(run.offline_path), logs.output[0])


class ConfigTest(SdkTest):
    def test_it_is_read_as_it_was_given(self):
        layers = (64, 32)
        for given in ({"lr": 0.1, "layers": layers}, argparse.Namespace(lr=0.1, layers=layers)):
            run = svc.init(config=given)
            self.assertEqual((run.config["lr"], run.config.lr, run.config.get("none")), (0.1, 0.1, None))
            self.assertIs(run.config.layers, layers)
        with self.assertRaisesRegex(AttributeError, "no value 'momentum'"):
            _ = run.config.momentum
        self.assertEqual(svc.init().config, {})

    def test_changes_are_sent_whole(self):
        run = svc.init(config={"lr": 0.1})
        run.config.update({"batch": 8}, epochs=3)
        run.config["lr"] = 0.2
        run.config.pop("batch")
        run.flush()
        configs = [body["config"] for body in self.server.bodies_of("update") if "config" in body]
        self.assertEqual(configs[0], {"lr": 0.1, "batch": 8, "epochs": 3})
        self.assertEqual(configs[-1], {"lr": 0.2, "epochs": 3})
        self.assertEqual(run.config, configs[-1])

    def test_secrets_stay_readable_here_and_are_masked_there(self):
        run = svc.init(config={"api_key": "hf_abcdefghijklmnopqrst"})
        self.assertEqual(run.config.api_key, "hf_abcdefghijklmnopqrst")
        self.assertEqual(self.server.bodies("/runs")[0]["config"], {"api_key": "***"})
        run.config.update(token="x")
        run.flush()
        self.assertEqual(self.server.bodies_of("update")[-1]["config"], {"api_key": "***", "token": "***"})

    def test_a_copy_is_a_plain_dict(self):
        run = svc.init(config={"lr": 0.1})
        pickled = pickle.loads(pickle.dumps(run.config))
        for made in (copy.deepcopy(run.config), pickled, json.loads(json.dumps(run.config))):
            self.assertEqual((type(made), made), (dict, {"lr": 0.1}))

    def test_one_that_the_server_does_not_take_is_warned_about(self):
        run = svc.init()
        with self.assertLogs("svc", "WARNING"):
            run.config.update(blob="x" * 600_000)

    def test_arrays_stay_lists(self):
        Pair = collections.namedtuple("Pair", "a b")
        cases = [
            ((0.9, 0.999), [0.9, 0.999]),
            (Pair(1, (2, 3)), [1, [2, 3]]),
            ([(1, 2)], [[1, 2]]),
            (Array([0.5]), [0.5]),
            (Array([[1.0, float("nan")], [2.0, 3.0]]), [[1.0, "NaN"], [2.0, 3.0]]),
            (Array(7), 7),
        ]
        for given, expected in cases:
            with self.subTest(given=given):
                self.assertEqual(to_jsonable(given), expected)
        self.assertEqual(to_jsonable(Array([0.0], size=10**7)), "Array of 10000000")
        self.assertEqual(to_jsonable(array.array("d", [1.0, 2.0])), [1.0, 2.0])

    def test_arrays_of_numpy_and_torch_stay_lists(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("there is no numpy")
        self.assertEqual(to_jsonable(numpy.array([0.9])), [0.9])
        self.assertEqual(to_jsonable(numpy.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]])
        self.assertEqual(to_jsonable(numpy.float32(0.5)), 0.5)
        self.assertEqual(to_jsonable({"flags": numpy.array([True, False])}), {"flags": [True, False]})
        try:
            import torch
        except ImportError:
            return
        self.assertEqual(to_jsonable(torch.tensor([0.5], requires_grad=True)), [0.5])
        self.assertEqual(to_jsonable(torch.tensor(3)), 3)
        self.assertEqual(to_jsonable(torch.Size([2, 3])), [2, 3])


class Array:
    """As numpy's and torch's arrays are."""

    def __init__(self, values, size=3):
        self.values = values
        self.size = size

    def tolist(self):
        return self.values

    def item(self):
        raise ValueError("not one value")

    def __str__(self):
        return f"Array of {self.size}"


class SummaryTest(SdkTest):
    def test_it_has_the_last_values(self):
        run = self.attach()
        self.assertEqual(dict(run.summary), {})
        run.log({"loss": 1, "train": {"acc": 0.5}, "done": False}, step=10)
        run.log({"loss": 0.5, "text": "no"}, step=5)
        self.assertEqual(dict(run.summary), {"loss": 0.5, "train/acc": 0.5, "done": 0.0})
        with self.assertRaises(TypeError):
            run.summary["loss"] = 3


class DefineMetricTest(SdkTest):
    def test_it_is_sent_with_what_was_given(self):
        run = self.attach()
        run.define_metric("val/psnr ö", direction="maximize", unit="dB", primary=True)
        run.define_metric("loss", unit="x" * 60)
        run.flush()
        paths = [path for _, method, path, _ in self.server.requests if method == "PUT"]
        self.assertEqual(paths[0], f"/api/v1/runs/{RUN_ID}/metric-definitions/val/psnr%20%C3%B6")
        metrics = self.server.runs[RUN_ID]["metrics"]
        self.assertEqual(metrics["val/psnr ö"], {"direction": "maximize", "unit": "dB", "is_primary": True})
        self.assertEqual(len(metrics["loss"]["unit"]), 50)

    def test_what_cannot_be_used_is_warned_about(self):
        run = self.attach()
        with self.assertLogs("svc", "WARNING") as logs:
            run.define_metric("loss", direction="down")
            run.define_metric("")
            run.define_metric(7)
        run.flush()
        self.assertEqual(len(logs.output), 3)
        self.assertEqual(self.server.bodies_of("metric-definitions"), [])


class AttributeTest(SdkTest):
    def test_what_cannot_be_set_raises_at_once_and_says_the_way(self):
        self.set(SVC_MODE="disabled")
        disabled = svc.init()
        self.set(SVC_MODE="online")
        for run in (self.attach(), disabled):
            ways = {"name": "svc.init", "url": "svc.init", "tags": "svc.init", "lr": "run.config"}
            for attribute, way in {**ways, "config": "config.update", "summary": "run.log"}.items():
                with self.subTest(attribute=attribute), self.assertRaisesRegex(AttributeError, way):
                    setattr(run, attribute, 1)
            with self.assertRaisesRegex(AttributeError, r"config\.update\(lr=\.\.\.\)"):
                run.config.lr = 1

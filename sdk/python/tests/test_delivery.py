import json
import time

from support import RUN_ID, SdkTest


class DeliveryTest(SdkTest):
    def batches(self):
        return [[point["seq"] for point in body["points"]] for body in self.server.bodies("metrics:batch")]

    def test_after_a_refusal_for_now_the_same_batch_is_sent_again(self):
        run = self.attach()
        self.server.fail("metrics:batch", 503, 429, 408)
        run.log({"loss": 1.0, "lr": 2.0})
        self.assertTrue(run.flush())
        batches = self.batches()
        self.assertEqual(len(batches), 4)
        self.assertTrue(all(batch == batches[0] for batch in batches))
        self.assertEqual(self.server.values("loss"), [1.0])

    def test_a_page_of_a_proxy_is_no_answer_of_the_server(self):
        run = self.attach()
        self.server.fail("metrics:batch", "page", 302)
        run.log({"loss": 1.0})
        self.assertTrue(run.flush())
        self.assertEqual(len(self.batches()), 3)
        self.assertEqual(self.server.values("loss"), [1.0])

    def test_a_batch_carried_out_but_not_answered_is_not_doubled(self):
        run = self.attach()
        self.server.fail("metrics:batch", "cut-after", "cut")
        run.log({"loss": 1.0, "lr": 2.0})
        self.assertTrue(run.flush())
        self.assertEqual((self.server.accepted, self.server.duplicates), (2, 2))

    def test_the_wait_the_server_asks_for_is_kept(self):
        run = self.attach()
        run.flush()
        self.server.fail("metrics:batch", (429, 1))
        run.log({"loss": 1.0})
        self.assertTrue(run.flush())
        first, second = [at for at, _, path, _ in self.server.requests if path.endswith("metrics:batch")]
        self.assertGreaterEqual(second - first, 1.0)

    def test_points_wait_out_a_restart_of_the_server(self):
        run = self.attach()
        run.log({"loss": 1.0})
        run.flush()
        self.server.stop()
        run.log({"loss": 2.0})
        self.assertFalse(run.flush(0.2))
        run.log({"loss": 3.0})
        self.server.start(self.server.port)
        self.assertTrue(run.flush())
        self.assertEqual(self.server.values("loss"), [1.0, 2.0, 3.0])

    def test_one_connection_is_kept(self):
        run = self.attach()
        for step in range(5):
            run.log({"loss": 1.0}, step=step)
            run.flush()
        run.event("hello")
        run.finish()
        self.assertEqual(self.server.connections, 1)

    def test_a_checkpoint_in_a_mount_of_a_container_is_told_with_its_path_on_the_host(self):
        inner = self.directory / "ck"
        inner.mkdir()
        (inner / "model.bin").write_bytes(b"x" * 321)
        self.set(SVC_PATH_MAP=json.dumps({str(self.directory): "/data", str(inner): "/scratch/ck"}))
        run = self.attach()
        for place in (inner / "model.bin", f"{self.directory}/model.bin", "/elsewhere.bin"):
            run.checkpoint(place)
        self.assertTrue(run.flush())
        told = self.server.bodies_of("checkpoints")
        self.assertEqual(
            [body["path"] for body in told], ["/scratch/ck/model.bin", "/data/model.bin", "/elsewhere.bin"]
        )
        self.assertEqual(told[0]["size"], 321)

    def test_a_checkpoint_is_known_by_its_path_without_links(self):
        (self.directory / "real").mkdir()
        (self.directory / "link").symlink_to("real")
        run = self.attach()
        run.checkpoint(self.directory / "link" / "model.bin")
        self.set(SVC_PATH_MAP=json.dumps({str(self.directory / "link"): "/data"}))
        run.checkpoint(self.directory / "link" / "model.bin")
        with self.assertLogs("svc", "WARNING"):
            self.assertTrue(run.flush())
        real = str(self.directory.resolve() / "real" / "model.bin")
        self.assertEqual([body["path"] for body in self.server.bodies_of("checkpoints")], [real, "/data/model.bin"])

    def test_a_path_map_that_is_not_understood_changes_nothing(self):
        self.set(SVC_PATH_MAP="[1]")
        run = self.attach()
        with self.assertLogs("svc", "WARNING"):
            run.checkpoint("/ckpts/model.bin")
        self.assertTrue(run.flush())
        self.assertEqual(self.server.bodies_of("checkpoints")[0]["path"], "/ckpts/model.bin")

    def test_a_hung_server_holds_up_nothing(self):
        run = self.attach()
        run.flush()
        self.server.fail("metrics:batch", "hang")
        run.log({"loss": 0.0}, step=0)
        self.server.until(lambda: self.server.bodies("metrics:batch"))
        started = time.monotonic()
        for step in range(1, 1000):
            run.log({"loss": float(step)}, step=step)
        run.event("still here")
        run.checkpoint(self.directory, step=999)
        self.assertLess(time.monotonic() - started, 1.0)
        self.assertEqual(self.server.values("loss"), [])
        self.server.release.set()
        self.assertTrue(run.flush())
        self.assertEqual(self.server.values("loss"), [float(step) for step in range(1000)])
        self.assertEqual(len(self.server.bodies_of("events")), 1)

    def test_a_full_queue_drops_the_oldest_and_says_so_once(self):
        self.set(SVC_QUEUE_POINTS="100")
        run = self.attach()
        run.flush()
        self.server.fail("metrics:batch", "hang")
        run.log({"loss": -1.0}, step=0)
        self.server.until(lambda: self.server.bodies("metrics:batch"))
        with self.assertLogs("svc", "WARNING") as logs:
            for step in range(1, 251):
                run.log({"loss": float(step)}, step=step)
        self.server.release.set()
        self.assertTrue(run.flush())
        self.assertEqual(self.server.values("loss"), [-1.0, *map(float, range(151, 251))])
        self.assertEqual(len(logs.output), 1)
        self.assertIn("queue is full", logs.output[0])

    def test_a_refused_point_does_not_take_its_batch_along(self):
        run = self.attach()
        self.server.refused_names = {"bad"}
        with self.assertLogs("svc", "WARNING") as logs:
            for step in range(200):
                run.log({"bad" if step == 77 else "good": step}, step=step)
            self.assertTrue(run.flush())
        self.assertEqual(self.server.values("good"), [step for step in range(200) if step != 77])
        self.assertEqual([line["step"] for line in self.offline_lines("points.jsonl", RUN_ID)], [77])
        self.assertEqual(len(logs.output), 1)
        self.assertIn("422", logs.output[0])

    def test_what_the_server_will_never_take_is_kept_locally_with_one_warning(self):
        run = self.attach()
        run.flush()
        self.server.tokens.clear()
        self.server.fail("metrics:batch", 401, 401)
        with self.assertLogs("svc", "WARNING") as logs:
            for step in range(2):
                run.log({"loss": float(step)}, step=step)
                self.assertTrue(run.flush())
        self.assertEqual([line["value"] for line in self.offline_lines("points.jsonl", RUN_ID)], [0.0, 1.0])
        self.assertEqual(len(logs.output), 1)
        run.log({"loss": 2.0}, step=2)
        run.flush()
        self.assertEqual(self.server.values("loss"), [2.0])

    def test_a_batch_on_which_the_server_always_fails_does_not_hold_up_the_rest(self):
        run = self.attach()
        run.flush()
        self.server.fail("/events", *[500] * 8)
        with self.assertLogs("svc", "WARNING"):
            run.event("breaks the server")
            run.log({"loss": 1.0})
            self.server.until(lambda: len(self.server.bodies("/events")) >= 1)
            while not run.flush(0.05):  # each flush cuts the pause between two tries short
                pass
        self.assertEqual(self.server.values("loss"), [1.0])
        self.assertEqual([line["title"] for line in self.offline_lines("events.jsonl", RUN_ID)], ["breaks the server"])

    def test_what_is_left_at_the_end_is_kept_locally_and_complete(self):
        self.set(SVC_FLUSH_TIMEOUT_S="0.3")
        run = self.attach()
        run.flush()
        self.server.stop()
        with self.assertLogs("svc", "WARNING") as logs:
            run.log({"loss": 1.0}, step=1)
            run.event("the end", severity="critical")
            run.checkpoint(self.directory, step=1)
            started = time.monotonic()
            run.finish("FAILED")
        self.assertLess(time.monotonic() - started, 3.0)
        self.assertEqual(len(logs.output), 1)
        self.assertIn(str(run.offline_path), logs.output[0])
        (point,) = self.offline_lines("points.jsonl")
        self.assertEqual((point["name"], point["step"], point["value"]), ("loss", 1, 1.0))
        self.assertEqual(self.offline_lines("events.jsonl")[0]["severity"], "critical")
        self.assertEqual(self.offline_lines("checkpoints.jsonl")[0]["path"], str(self.directory))
        metadata = self.offline_metadata()
        self.assertEqual((metadata["run_id"], metadata["status"]), (RUN_ID, "FAILED"))
        self.assertIn("python", metadata["environment"])

    def test_a_hung_server_holds_up_the_end_no_longer_than_allowed(self):
        self.set(SVC_FLUSH_TIMEOUT_S="0.5")
        run = self.attach()
        run.flush()
        self.server.fail("metrics:batch", "hang")
        run.log({"loss": 1.0})
        started = time.monotonic()
        with self.assertLogs("svc", "WARNING"):
            run.finish()
        self.assertLess(time.monotonic() - started, 3.0)
        self.assertEqual([line["value"] for line in self.offline_lines("points.jsonl")], [1.0])

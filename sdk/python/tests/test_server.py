"""Which server is meant: as the clients in TypeScript decide it, from the same cases."""

import json
import os
from pathlib import Path

from support import SDK, SdkTest
from svc import notices
from svc.server import find_server

CASES = json.loads((SDK.parent.parent / "client" / "test" / "which-server.json").read_text("utf-8"))


class ServerTest(SdkTest):
    def setUp(self):
        super().setUp()
        self.set(HOME=str(self.directory))
        ticks = int(Path("/proc/self/stat").read_text("latin-1").rpartition(")")[2].split()[19])
        local = {"url": CASES["local_url"], "pid": os.getpid(), "start_ticks": ticks}
        for name, content in {**CASES["home"], ".svc/server.json": local}.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
            path.chmod(0o600)

    def find(self, env):
        server = find_server({name: value.replace("~", str(self.directory)) for name, value in env.items()})
        return server.url, server.token

    def test_the_order_of_all_clients(self):
        for case in CASES["cases"]:
            notices.forget()
            expected = case["url"], case["token"]
            with self.subTest(case["says"]):
                if "warns" not in case:
                    self.assertEqual(self.find(case["env"]), expected)
                    self.assertEqual(notices._told, set())
                    continue
                with self.assertLogs("svc", "WARNING") as logs:
                    self.assertEqual(self.find(case["env"]), expected)
                self.assertIn(case["warns"], logs.output[0])

    def test_a_file_that_others_may_read_is_warned_about(self):
        (self.directory / ".config/svc/profiles.json").chmod(0o644)
        with self.assertLogs("svc", "WARNING") as logs:
            self.assertEqual(self.find({}), ("http://lab:8600", "lab-token"))
        self.assertIn("chmod 600", logs.output[0])

    def test_a_file_of_another_shape_is_warned_about(self):
        for content in ("[]", '{"profiles": {"lab": 1}}', '{"profiles": null}', "\udcff"):
            notices.forget()
            path = self.directory / ".config/svc/profiles.json"
            path.write_text(content, errors="surrogateescape")
            with self.assertLogs("svc", "WARNING"):
                self.assertEqual(self.find({}), ("http://127.0.0.1:12345", "local-token"))

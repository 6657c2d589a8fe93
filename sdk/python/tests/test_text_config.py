import json
import unittest

from support import SDK
from svc.text_config import config_of_text
from svc.values import to_object

CASES = json.loads((SDK.parent.parent / "test/fixtures/text-config.json").read_text("utf-8"))


class TextConfigTest(unittest.TestCase):
    def test_the_texts_that_the_agent_reads_in_event_files(self):
        for tag, text, config in CASES["texts"]:
            with self.subTest(text):
                found = config_of_text(tag, text)
                self.assertEqual(None if found is None else to_object(found), config)

    def test_a_text_that_is_too_long_is_none(self):
        self.assertIsNone(config_of_text("config", json.dumps({"a": "x" * 300_000})))

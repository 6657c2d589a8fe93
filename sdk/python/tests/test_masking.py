import json
import time
import unittest

from support import SDK
from svc.masking import mask_secrets, mask_text

CASES = json.loads((SDK.parent.parent / "test/fixtures/secrets.json").read_text("utf-8"))
# A tenth of the largest diff.
HOSTILE_CHARACTERS = 100_000
# Far above what is needed, far below what a search that grows with the square takes.
MAX_S = 3.0


class MaskingTest(unittest.TestCase):
    def test_the_texts_that_the_server_masks(self):
        for text, masked in CASES["texts"]:
            with self.subTest(text):
                self.assertEqual(mask_text(text), masked)
                self.assertEqual(mask_text(masked), masked)

    def test_the_texts_that_the_server_keeps(self):
        for text in CASES["kept"]:
            with self.subTest(text):
                self.assertEqual(mask_text(text), text)

    def test_the_objects_that_the_server_masks(self):
        for value, masked in CASES["objects"]:
            with self.subTest(value):
                self.assertEqual(mask_secrets(value), masked)
                self.assertEqual(mask_secrets(masked), masked)

    def test_a_long_text_is_masked_throughout(self):
        line = "+x = 1\n"
        text = f"{line * 10_000}+token = 'abc'\n{line * 10_000}+API_KEY=abc1"
        masked = f"{line * 10_000}+token = '***'\n{line * 10_000}+API_KEY=***"
        self.assertEqual(mask_text(text), masked)

    def test_time_grows_with_the_length_alone(self):
        parts = ["a", "-", " ", "=", '"', "\\", "a-", "-a ", '-a "', "://a:", "token=", "token: a ", 'token="', "eyJ"]
        parts += ["token: str | ", "authorization: ", "--token ", "-----BEGIN PRIVATE KEY-----a-", "eyJaaaaaaaa."]
        for part in parts:
            with self.subTest(part):
                started_at = time.monotonic()
                mask_text(part * (HOSTILE_CHARACTERS // len(part)))
                self.assertLess(time.monotonic() - started_at, MAX_S)

import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { configOfText } from '../src/reader/text-config.js';

type Case = [tag: string, text: string, config: Record<string, unknown> | null];

const { texts } = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/text-config.json', import.meta.url), 'utf8'),
) as { texts: Case[] };

describe('hyperparameters in a text of an event file', () => {
  const read = (text: string, tag = 'config') => configOfText(tag, Buffer.from(text));

  for (const [tag, text, config] of texts)
    it(`are ${config === null ? 'not ' : ''}those of ${tag} ${JSON.stringify(text).slice(0, 80)}`, () => {
      expect(read(text, tag)).to.deep.equal(config);
      expect(read(text, `${tag}/text_summary`)).to.deep.equal(config);
    });

  it('are not taken from a text that is too long or too deep', () => {
    for (const text of [
      `{"a": "${'x'.repeat(300_000)}"}`,
      '{"a":'.repeat(50_000),
      `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`,
      `{"a": "${'\\"'.repeat(120_000)}`,
    ])
      expect(read(text), text.slice(0, 40)).to.equal(null);
  });
});

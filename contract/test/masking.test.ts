import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { maskSecrets, maskText } from '../src/index.js';

const cases = JSON.parse(
  readFileSync(new URL('../../test/fixtures/secrets.json', import.meta.url), 'utf8'),
) as { texts: [string, string][]; kept: string[]; objects: [object, object][] };

/** The largest body that a run can come in. */
const MIB = 1024 * 1024;
/** Far above what is needed on an idle machine, far below what a search that grows with the square takes. */
const MAX_MS = 3_000;

describe('secrets masked', () => {
  for (const [text, masked] of cases.texts) {
    it(`in ${JSON.stringify(text)}`, () => {
      expect(maskText(text)).to.equal(masked);
      expect(maskText(masked), 'masked again').to.equal(masked);
    });
  }

  for (const text of cases.kept) {
    it(`and not in ${JSON.stringify(text)}`, () => expect(maskText(text)).to.equal(text));
  }

  for (const [value, masked] of cases.objects) {
    it(`in the object ${JSON.stringify(Object.keys(value))}`, () => {
      expect(maskSecrets(value)).to.deep.equal(masked);
      expect(maskSecrets(masked), 'masked again').to.deep.equal(masked);
    });
  }

  const hostile: string[] = [
    'a',
    '-',
    ' ',
    '=',
    ':',
    '"',
    "'",
    '\\',
    '/',
    '@',
    '.',
    '\n',
    'eyJ',
    'hf_',
    'sk-',
    'a-',
    '-a ',
    '-a "',
    '://a:',
    '://',
    'token=',
    'token: a ',
    'token="',
    'token=\\"',
    'token: str | ',
    'authorization: ',
    'bearer ',
    '--token ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----a-',
    'eyJaaaaaaaa.',
    'a.b-c_d=',
    '+x = y(z)\n',
  ];
  for (const part of hostile) {
    it(`in time that grows with the length alone: ${JSON.stringify(part)} over and over`, () => {
      const text = part.repeat(MIB / part.length);
      const startedAt = performance.now();
      maskText(text);
      expect(performance.now() - startedAt).to.be.below(MAX_MS);
    });
  }

  it('in a key of a megabyte', () => {
    const key = 'aB_'.repeat(MIB / 3);
    expect(maskSecrets({ [`${key}token`]: 'x' })).to.deep.equal({ [`${key}token`]: '***' });
  });
});

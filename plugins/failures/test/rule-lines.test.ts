import { expect } from 'chai';
import { ErrorLines } from '../src/error-index/error-line.js';
import { splitRank } from '@svc/signals';
import { FAILURE_RULES } from '../src/rules/index.js';
import { evidenceOf, explain } from './support/attempt-evidence.js';
import { GPU_LINES } from './support/gpu-lines.js';
import { SYSTEM_LINES } from './support/system-lines.js';

const LINES = { ...GPU_LINES, ...SYSTEM_LINES };
const MIB = 1024 * 1024;

describe('failures: every rule', () => {
  for (const { name, definition } of FAILURE_RULES) {
    it(`${name} explains the lines of its error`, () => {
      const { explains, end } = LINES[name] ?? { explains: [] };
      expect(explains).not.to.have.length(0);
      for (const line of explains) {
        const explained = explain(evidenceOf(`step 1\n${line}\n`, end));
        expect(explained.rule, `${line}: ${JSON.stringify(explained.causes)}`).to.equal(name);
        expect(explained.evidence, line).not.to.have.length(0);
        expect(explained.suggested_fixes, line).not.to.have.length(0);
        for (const text of [explained.summary, ...explained.suggested_fixes])
          expect(text).not.to.match(/<\w+>/);
      }
    });

    it(`${name} finds its lines among those that are kept of a long log`, () => {
      const isInLog = (line: string) =>
        definition.patterns?.some((pattern) => pattern.test(splitRank(line).bare));
      for (const line of (LINES[name]?.explains ?? []).filter(isInLog))
        expect(new ErrorLines().has({ stream: 'stderr', text: line }), line).to.equal(true);
    });

    it(`${name} does not claim a line that resembles them`, () => {
      const { not } = LINES[name] ?? { not: [] };
      expect(not).not.to.have.length(0);
      for (const line of not) {
        const { causes } = explain(evidenceOf(`step 1\n${line}\n`));
        expect(
          causes.map(({ rule }) => rule),
          line,
        ).not.to.include(name);
      }
    });

    it(`${name} reads a line of 1 MiB in linear time`, function () {
      this.timeout(60_000);
      for (const pattern of definition.patterns ?? [])
        for (const line of hostileLines(pattern)) {
          const startedAt = performance.now();
          pattern.exec(line);
          const took = performance.now() - startedAt;
          expect(took, `${pattern} on ${line.slice(0, 60)}`).to.be.below(1000);
        }
    });
  }

  it('has a name of its own, and there are at least 35', () => {
    const names = FAILURE_RULES.map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
    expect(names.length).to.be.at.least(35);
    expect(Object.keys(LINES).sort()).to.deep.equal([...names].sort());
  });
});

/** The beginnings and the words of the pattern again and again, and what a quantifier could consume. */
function hostileLines({ source }: RegExp): string[] {
  const words = source.match(/[A-Za-z][\w' ]{2,}/g) ?? [];
  const repeated = [source.replace(/[\\^$?+*()[\]{}|]/g, ''), words.join(' '), ...words.slice(0, 4)];
  const generic = ['a', ' ', '.so', "'", '/', ': ', '1'];
  return [...repeated, ...generic]
    .filter((piece) => piece !== '')
    .map((piece) => `${piece} `.repeat(Math.ceil(MIB / (piece.length + 1))))
    .concat(generic.map((piece) => piece.repeat(MIB / piece.length)));
}

import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { KeptLines, NO_LINES } from '../src/error-index/kept-lines.js';
import { evidenceOf, explain, linesOf } from './support/attempt-evidence.js';
import { killedBy } from './support/rule-lines.js';

const FILE = new URL('support/whole-logs.txt', import.meta.url);

interface WholeLog {
  /** null: no rule is to claim it. */
  readonly rule: string | null;
  readonly exitCode: number;
  readonly says: string;
  readonly text: string;
}

/** Each begins with a line `### RULE EXIT-CODE WHAT IT IS`. */
function readLogs(): WholeLog[] {
  const parts = readFileSync(FILE, 'utf8').split(/^### /m).slice(1);
  return parts.map((part) => {
    const [head = '', ...lines] = part.split('\n');
    const [rule, code, ...says] = head.split(' ');
    return {
      rule: rule === 'none' ? null : (rule ?? null),
      exitCode: Number(code),
      says: says.join(' '),
      text: lines.join('\n'),
    };
  });
}

/** What the index keeps of the log when it comes in frames of 10 lines. */
function keptOf(text: string) {
  const kept = new KeptLines(NO_LINES);
  const lines = linesOf(text);
  for (let from = 0; from < lines.length; from += 10) kept.add(lines.slice(from, from + 10));
  return kept.lines;
}

describe('failures: whole logs as tools write them', () => {
  for (const { rule, exitCode, says, text } of readLogs())
    it(`${says}: ${rule ?? 'no rule'}`, () => {
      const end =
        exitCode < 0
          ? killedBy(exitCode)
          : { exit_code: exitCode, failure_message: `exited with code ${exitCode}` };
      const explained = explain(evidenceOf('', end, { lines: keptOf(text) }));
      expect(
        explained.rule,
        JSON.stringify(explained.causes.map(({ rule: each, confidence }) => [each, confidence])),
      ).to.equal(rule);
    });

  const CAUGHT = `Traceback (most recent call last):
  File "train.py", line 3, in main
    step()
RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.
`;
  const goingOn = (count: number) =>
    Array.from({ length: count }, (_, step) => `step ${step} lr 0.1\n`).join('');

  it('are less sure of a traceback that the process wrote long before its end', () => {
    const sure = explain(evidenceOf('', {}, { lines: keptOf(CAUGHT) }));
    const caught = explain(evidenceOf('', {}, { lines: keptOf(CAUGHT + goingOn(5000)) }));
    expect([sure.rule, caught.rule]).to.deep.equal(['cuda-out-of-memory', 'cuda-out-of-memory']);
    expect(caught.confidence).to.be.below(0.6);
  });

  it('name no cause for an error line behind which the same stream went on', () => {
    const line = 'ERROR: cannot listen: Address already in use\n';
    expect(explain(evidenceOf(line)).rule).to.equal('address-in-use');
    const { rule, causes } = explain(evidenceOf(line + goingOn(12)));
    expect(rule).to.equal(null);
    expect(causes[0]?.rule).to.equal('address-in-use');
  });
});

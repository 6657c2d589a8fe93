import { expect } from 'chai';
import { toFailureNote, toFailureWords } from '../src/output/failure-words.js';

describe('how an attempt ended, in words', () => {
  const cases = [
    [
      { failure_message: 'exited with code 1', failure_reason: 'EXIT_CODE', exit_code: 1 },
      'exited with code 1',
    ],
    [
      { failure_message: null, failure_reason: 'EXIT_CODE', exit_code: 1 },
      'the command ended with an error, exit code 1',
    ],
    [{ failure_message: null, failure_reason: 'OOM', exit_code: null }, 'ran out of memory'],
    [{ failure_message: null, failure_reason: null, exit_code: 0 }, 'exit code 0'],
    [{ failure_message: 'cancelled', failure_reason: null, exit_code: null }, 'cancelled'],
    [{ failure_message: null, failure_reason: null, exit_code: null }, ''],
  ] as const;
  for (const [attempt, words] of cases)
    it(`is "${words}"`, () => expect(toFailureWords(attempt)).to.equal(words));
});

describe('how an attempt ended, beside its status and exit code', () => {
  const cases = [
    ['SUCCEEDED', { failure_message: null, failure_reason: null, exit_code: 0 }, ''],
    ['FAILED', { failure_message: 'exited with code 3', failure_reason: 'EXIT_CODE', exit_code: 3 }, ''],
    [
      'FAILED',
      { failure_message: 'was killed by SIGKILL', failure_reason: 'signal', exit_code: -9 },
      'was killed by SIGKILL',
    ],
    [
      'CANCELLED',
      { failure_message: 'cancelled while queued', failure_reason: null, exit_code: null },
      'cancelled while queued',
    ],
  ] as const;
  for (const [status, attempt, words] of cases)
    it(`of one that ${status}: "${words}"`, () =>
      expect(toFailureNote({ status, ...attempt })).to.equal(words));
});

import { strict, type Detector, type DetectorInput, type Finding } from '@svc/contract';
import { createLogger } from '@svc/kernel';
import { fakeClock } from '@svc/kernel/testing';
import { expect } from 'chai';
import { toContent } from '../src/engine/content.js';
import { FailureLog } from '../src/engine/failure-log.js';
import { configure } from '../src/engine/settings.js';
import { Subjects } from '../src/engine/subjects.js';
import { watchOf } from './support/watch.js';

const finding = (fingerprint: string): Finding => ({ fingerprint, type: 'TEST', title: '' });
const refuse = (path: string, message: string): never => {
  throw new Error(`${path}: ${message}`);
};

describe('findings', () => {
  it('that are no such are reported, and the others are told', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const bad: unknown[] = [
      { ...finding('title'), title: 5 },
      { ...finding('severity'), severity: 'fatal' },
      { ...finding('cyclic'), data: cyclic },
      { ...finding('bigint'), data: { n: 1n } },
      { fingerprint: 'no title', type: 'TEST' },
    ];
    const careless: Detector = {
      name: 'careless',
      of: 'run',
      takes: ['metric'],
      finds: [],
      optionsSchema: strict({}),
      init: () => null,
      step: (memory) => ({ memory, findings: [...(bad as Finding[]), finding('good')] }),
    };
    const errors: string[] = [];
    const configured = configure(new Map([['careless', careless]]), {}, refuse);
    const subjects = new Subjects(configured, (name, error) => errors.push(`${name}: ${String(error)}`));
    const told = subjects.feed(
      { of: 'run', id: 'a' },
      { kind: 'metric', at: 1, run_id: 'a', points: [{ seq: 0, step: 0, name: 'x', value: 1 }] },
    );
    expect(told.map((one) => one.finding.fingerprint)).to.deep.equal(['good']);
    expect(errors).to.have.length(bad.length);
    expect(errors[0]).to.equal(
      'careless: TypeError: a finding is refused: title: must be a string, not a number',
    );
  });
});

describe('the log of failing detectors', () => {
  it('has a line at once, and then one a minute with the number', async () => {
    const clock = fakeClock();
    const lines: string[] = [];
    const log = createLogger('info', {
      write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg),
    });
    const { report } = new FailureLog({ clock, log });
    for (let batch = 0; batch < 200; batch += 1) report('a', new Error('afraid'));
    report('b', new Error('afraid'));
    await clock.advance(60_000);
    report('a', new Error('afraid'));
    expect(lines).to.deep.equal([
      'the detector a failed',
      'the detector b failed',
      'the detector a failed 200 times',
    ]);
  });
});

describe('what a finding says', () => {
  it('has no part of a secret that was cut', () => {
    const secret = `sk-${'a'.repeat(40)}`;
    const { title, message } = toContent({
      ...finding('a'),
      title: `${'x'.repeat(285)} ${secret}`,
      message: `${'x'.repeat(3_985)} ${secret}`,
    });
    expect(`${title} ${message}`).to.not.include('sk-').and.not.include('aaa');
    const log = (text: string): DetectorInput => ({
      kind: 'log',
      at: 1,
      job_id: 'job',
      attempt: 1,
      lines: [{ seq: 0, stream: 'stderr', ts: 1, text }],
    });
    const told = [
      ...watchOf('attempt').feed(log(`CUDA error: out of memory ${'x'.repeat(459)} ${secret}`)),
      ...watchOf('run').feed(log(`loss: nan ${'x'.repeat(475)} ${secret}`)),
    ];
    expect(told.map(({ finding: { type } }) => type)).to.deep.equal(['OOM', 'LOSS_NAN']);
    expect(JSON.stringify(told)).to.not.include('aaa');
  });
});

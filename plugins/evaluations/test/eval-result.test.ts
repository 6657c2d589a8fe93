import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHost, type Host } from '../../runner-process/test/support/host.js';

const VALID = '{"metrics": {"acc": 0.91, "loss": 1e-3}, "runtime_s": 12.5}';

describe('process runner: the result of an evaluation', () => {
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent();
  });
  afterEach(() => host.close());

  /** An evaluation that writes the text as its result. */
  const evaluate = (text: string, env: Record<string, string> = {}) =>
    host.sh('printf %s "$RESULT" > "$SVC_EVAL_OUTPUT"', {
      job_type: 'EVALUATE',
      env: { RESULT: text, ...env },
    });
  const exitOf = async (key: Parameters<Host['file']>[0]) => (await host.server.ended(key)).exit;

  it('is written where the runner says, in the directory of the attempt', async () => {
    const key = host.sh('echo "$SVC_EVAL_OUTPUT"; printf %s "$RESULT" > "$SVC_EVAL_OUTPUT"', {
      job_type: 'EVALUATE',
      env: { RESULT: VALID },
    });
    expect(await exitOf(key)).to.deep.equal({ kind: 'exited', code: 0 });
    expect(host.server.logs.lines(key)).to.deep.equal([host.file(key, 'eval_result.json')]);
  });

  it('is written where the job says', async () => {
    const file = path.join(host.stateDir, 'mine.json');
    expect(await exitOf(evaluate(VALID, { SVC_EVAL_OUTPUT: file }))).to.deep.equal({
      kind: 'exited',
      code: 0,
    });
    const invalid = await exitOf(evaluate('{}', { SVC_EVAL_OUTPUT: file }));
    expect(invalid).to.deep.equal({
      kind: 'result_invalid',
      message: `${file} lacks "metrics", an object of numbers (node-1)`,
    });
  });

  const invalid: readonly [text: string, flaw: RegExp][] = [
    ['', /is not JSON/],
    ['accuracy: 0.9', /is not JSON/],
    ['{"metrics": {"acc": NaN}, "runtime_s": 1}', /is not JSON/],
    ['[]', /is not a JSON object/],
    ['{"runtime_s": 1}', /lacks "metrics"/],
    ['{"metrics": [1], "runtime_s": 1}', /lacks "metrics"/],
    ['{"metrics": {"acc": "0.9"}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"acc": 1e999}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"acc": 1}}', /lacks "runtime_s"/],
    ['{"metrics": {"acc": 1}, "runtime_s": "1"}', /lacks "runtime_s"/],
  ];
  for (const [text, flaw] of invalid) {
    it(`is refused with the reason: ${text === '' ? 'an empty file' : text}`, async () => {
      const key = evaluate(text);
      const exit = await exitOf(key);
      expect(exit).to.have.keys('kind', 'message').and.include({ kind: 'result_invalid' });
      const { message } = exit as { message: string };
      expect(message).to.match(flaw).and.contain(host.file(key, 'eval_result.json'));
      expect(await host.json(key, 'exit.json')).to.include({ kind: 'result_invalid', message });
    });
  }

  it('is missing when nothing was written', async () => {
    const key = host.sh('true', { job_type: 'EVALUATE' });
    const message = `${host.file(key, 'eval_result.json')} was not written (node-1)`;
    expect(await exitOf(key)).to.deep.equal({ kind: 'result_invalid', message });
  });

  it('is not one that lay there before', async () => {
    const file = path.join(host.stateDir, 'old.json');
    await writeFile(file, VALID);
    const key = host.sh('true', { job_type: 'EVALUATE', env: { SVC_EVAL_OUTPUT: file } });
    const message = `${file} is from before the evaluation and was not written by it (node-1)`;
    expect(await exitOf(key)).to.deep.equal({ kind: 'result_invalid', message });
    expect(await exitOf(evaluate(VALID, { SVC_EVAL_OUTPUT: file }))).to.deep.equal({
      kind: 'exited',
      code: 0,
    });
  });

  it('is never waited for, and bounded', async () => {
    const pipe = host.sh('mkfifo "$SVC_EVAL_OUTPUT"', { job_type: 'EVALUATE' });
    expect(await exitOf(pipe))
      .to.have.property('message')
      .that.contains('is not a file');
    const large = host.sh('head -c 2000000 /dev/zero > "$SVC_EVAL_OUTPUT"', { job_type: 'EVALUATE' });
    expect(await exitOf(large))
      .to.have.property('message')
      .that.contains('is larger than 1 MiB');
  });

  it('does not matter when the evaluation failed anyway, nor to a training', async () => {
    const failed = host.sh('exit 4', { job_type: 'EVALUATE' });
    expect(await exitOf(failed)).to.deep.equal({ kind: 'exited', code: 4 });
    const training = host.sh('echo "[$SVC_EVAL_OUTPUT]"');
    expect(await exitOf(training)).to.deep.equal({ kind: 'exited', code: 0 });
    expect(host.server.logs.lines(training)).to.deep.equal(['[]']);
  });

  it('is looked at by the next agent when the evaluation ended without one', async () => {
    const go = path.join(host.stateDir, 'go');
    const key = host.sh(`echo ready; while [ ! -e ${go} ]; do sleep 0.02; done`, { job_type: 'EVALUATE' });
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    await host.closeAgent();
    await writeFile(go, '');
    await until(() => host.json(key, 'exit.json').catch(() => null), 'the end');
    await host.startAgent();
    const message = `${host.file(key, 'eval_result.json')} was not written (node-1)`;
    expect(await exitOf(key)).to.deep.equal({ kind: 'result_invalid', message });
  });
});

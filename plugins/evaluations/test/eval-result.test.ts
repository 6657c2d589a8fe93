import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHost, type Host } from '../../runner-process/test/support/host.js';

const VALID = '{"metrics": {"acc": 0.91, "loss": 1e-3}, "runtime_s": 12.5}';

describe('process runner: the result of an evaluation', () => {
  let host: Host;
  beforeEach(async () => {
    host = await createHost();
    host.server.channels = ['evaluations.results'];
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

  it('goes to the server over the channel, without what else stands in the file', async () => {
    const text =
      '{"metrics": {"acc": 0.5, "loss": "NaN", "up": "Infinity", "down": "-Infinity"}, "runtime_s": 2, "x": [1]}';
    const key = evaluate(text);
    expect(await exitOf(key)).to.deep.equal({ kind: 'exited', code: 0 });
    const { channel, lines } = await host.server.frame('channel');
    expect(channel).to.equal('evaluations.results');
    expect(lines.map((line) => JSON.parse(line.text) as unknown)).to.deep.equal([
      {
        message: { metrics: { acc: 0.5, loss: 'NaN', up: 'Infinity', down: '-Infinity' }, runtime_s: 2 },
        attempt: { job_id: key.job_id, attempt: key.attempt },
      },
    ]);
  });

  it('is not what a link names that leads out of its folder', async () => {
    const outside = path.join(host.stateDir, 'outside.json');
    const key = host.sh(`printf %s "$RESULT" > ${outside}; ln -sf ${outside} "$SVC_EVAL_OUTPUT"`, {
      job_type: 'EVALUATE',
      env: { RESULT: VALID },
    });
    expect(await exitOf(key))
      .to.have.property('message')
      .that.contains('is a link that leads out of its folder');
    const folder = path.join(host.stateDir, 'folder');
    const linked = path.join(host.stateDir, 'linked');
    const within = host.sh(
      `mkdir ${folder}; ln -s ${folder} ${linked}; printf %s "$RESULT" > ${folder}/a; ln -s a ${folder}/b`,
      { job_type: 'EVALUATE', env: { RESULT: VALID, SVC_EVAL_OUTPUT: `${linked}/b` } },
    );
    expect(await exitOf(within)).to.deep.equal({ kind: 'exited', code: 0 });
  });

  it('needs the checkpoint: one that does not exist on this host refuses the attempt before its start', async () => {
    const checkpoint = path.join(host.stateDir, 'gone', 'checkpoint-7');
    const env = { SVC_EVAL_CHECKPOINT: checkpoint };
    const key = host.sh('echo started', { job_type: 'EVALUATE', env });
    const { exit } = await host.server.frame(
      'attempt',
      ({ job_id, state }) => job_id === key.job_id && state === 'ended',
    );
    expect(exit).to.deep.equal({
      kind: 'dispatch_failed',
      message: `it cannot be prepared on node-1: the checkpoint ${checkpoint} does not exist there: name a node that has it (node_selector), or evaluate another one`,
    });
    await symlink(host.stateDir, path.join(host.stateDir, 'gone'));
    await writeFile(checkpoint, 'weights');
    const there = host.sh('cat "$SVC_EVAL_CHECKPOINT"; exit 4', { job_type: 'EVALUATE', env });
    expect(await exitOf(there)).to.deep.equal({ kind: 'exited', code: 4 });
    expect(host.server.logs.lines(there)).to.deep.equal(['weights']);
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
    ['', /is empty/],
    ['accuracy: 0.9', /is not JSON/],
    [
      '{"metrics": {"acc": NaN}, "runtime_s": 1}',
      /is not JSON: NaN, Infinity and -Infinity are words in quotes/,
    ],
    ['{"metrics": {"acc": -Infinity}, "runtime_s": 1}', /are words in quotes/],
    ['[]', /is not a JSON object/],
    ['{"runtime_s": 1}', /lacks "metrics"/],
    ['{"metrics": [1], "runtime_s": 1}', /lacks "metrics"/],
    ['{"metrics": {"acc": "0.9"}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"acc": 1e999}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"acc": "nan"}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"acc": {"top1": 1}}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"acc": null}, "runtime_s": 1}', /has a metric "acc" that is not a number/],
    ['{"metrics": {"": 1}, "runtime_s": 1}', /has a metric "" whose name is not 1 to 250 characters/],
    ['{"metrics": {"a\\nb": 1}, "runtime_s": 1}', /whose name is not 1 to 250 characters/],
    ['{"metrics": {"\\ud800": 1}, "runtime_s": 1}', /whose name is not 1 to 250 characters/],
    [`{"metrics": {"${'x'.repeat(251)}": 1}, "runtime_s": 1}`, /whose name is not 1 to 250 characters/],
    [`{"metrics": ${'['.repeat(5000)}${']'.repeat(5000)}, "runtime_s": 1}`, /lacks "metrics"/],
    ['{"metrics": {"acc": 1}, "runtime_s": 1e999}', /lacks "runtime_s"/],
    ['{"metrics": {"acc": 1}}', /lacks "runtime_s"/],
    ['{"metrics": {"acc": 1}, "runtime_s": "1"}', /lacks "runtime_s"/],
  ];
  for (const [text, flaw] of invalid) {
    it(`is refused with the reason: ${text === '' ? 'an empty file' : text.slice(0, 80)}`, async () => {
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
    const message = `${host.file(key, 'eval_result.json')} was not written (SVC_EVAL_OUTPUT names it to the command) (node-1)`;
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
    const message = `${host.file(key, 'eval_result.json')} was not written (SVC_EVAL_OUTPUT names it to the command) (node-1)`;
    expect(await exitOf(key)).to.deep.equal({ kind: 'result_invalid', message });
  });
});

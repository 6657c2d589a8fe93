import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { onEvaluationHost, RESULT, WRITE_RESULT, type EvaluationStage } from '../support/evaluation-stage.js';

/** A row of the specification's table of evaluation states, in its words, and what shows that it holds. */
interface Row {
  readonly title: string;
  readonly prove: (stage: EvaluationStage) => Promise<void>;
}

const EVALUATION_TABLE: readonly Row[] = [
  {
    title: '(new) | evaluation created | QUEUED | an EVALUATE job is queued',
    async prove(stage) {
      const evaluation = await stage.evaluate(WRITE_RESULT, { node_selector: { node: 'nowhere' } });
      expect(evaluation).to.deep.include({ status: 'QUEUED', metrics: {}, runtime_s: null, error: null });
      expect(await stage.lab.job(evaluation.job_id)).to.include({ type: 'EVALUATE', status: 'QUEUED' });
      expect(await stage.finished(evaluation)).to.deep.equal([]);
    },
  },
  {
    title:
      'QUEUED | EVALUATE job ends and a valid result file is read | SUCCEEDED | metrics attached to the checkpoint; EVALUATION_FINISHED event',
    async prove(stage) {
      const evaluation = await stage.evaluate(WRITE_RESULT);
      const ended = await stage.ended(evaluation);
      expect(ended).to.deep.include({ ...RESULT, status: 'SUCCEEDED', error: null });
      expect(await stage.attached()).to.deep.equal([ended]);
      expect((await stage.finished(evaluation)).map(({ severity }) => severity)).to.deep.equal(['info']);
    },
  },
  {
    title: 'QUEUED | EVALUATE job ends FAILED | FAILED | EVALUATION_FINISHED event, severity warning',
    async prove(stage) {
      for (const [script, reason] of [
        [`${WRITE_RESULT}; exit 3`, 'EXIT_CODE'],
        ['kill -SEGV $$', 'signal'],
        ['exit 0', 'EVALUATION_RESULT_INVALID'],
      ] as const) {
        const evaluation = await stage.evaluate(script);
        const ended = await stage.ended(evaluation);
        const job = await stage.lab.job(evaluation.job_id);
        expect(job).to.include({ status: 'FAILED', failure_reason: reason });
        expect(ended).to.deep.include({ status: 'FAILED', error: job.failure_message, metrics: {} });
        expect((await stage.finished(evaluation)).map(({ severity }) => severity)).to.deep.equal(['warning']);
      }
      expect(await stage.attached()).to.deep.equal([]);
    },
  },
  {
    title: 'QUEUED | EVALUATE job cancelled | CANCELLED | EVALUATION_FINISHED event, severity warning',
    async prove(stage) {
      const { lab } = stage;
      const waits = await stage.evaluate('exit 0', { node_selector: { node: 'nowhere' } });
      const runs = await stage.evaluate(`${WRITE_RESULT}; exec sleep 300`);
      await lab.reach(runs.job_id, 'RUNNING');
      for (const evaluation of [waits, runs]) {
        await lab.request('POST', `/jobs/${evaluation.job_id}/cancel`);
        expect(await stage.ended(evaluation)).to.deep.include({ status: 'CANCELLED', metrics: {} });
        expect((await stage.finished(evaluation)).map(({ severity }) => severity)).to.deep.equal(['warning']);
      }
      expect(await stage.attached()).to.deep.equal([]);
    },
  },
];

/** A LOST job has not ended: the specification names LOST beside the terminal states, and its node may come back. */
const WHILE_LOST: readonly Row[] = [
  {
    title: 'it stays QUEUED, and ends with what the process does after its node is back',
    async prove(stage) {
      const { evaluation, go, lost, back } = await begin(stage, WRITE_RESULT);
      await lost();
      expect((await stage.lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
      await back();
      await stage.lab.reach(evaluation.job_id, 'RUNNING');
      expect((await stage.lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
      await go();
      expect(await stage.ended(evaluation)).to.deep.include({ ...RESULT, status: 'SUCCEEDED' });
    },
  },
  {
    title: 'it ends with what the process has done meanwhile, with its result',
    async prove(stage) {
      for (const [script, status] of [
        [WRITE_RESULT, 'SUCCEEDED'],
        ['exit 3', 'FAILED'],
      ] as const) {
        const { evaluation, go, lost, back } = await begin(stage, script);
        await lost();
        await go();
        expect((await stage.lab.evaluation(evaluation.id)).status).to.equal('QUEUED');
        await back();
        expect((await stage.ended(evaluation)).status).to.equal(status);
      }
    },
  },
  {
    title: 'it is CANCELLED when the job is cancelled, and a late result changes nothing',
    async prove(stage) {
      const { evaluation, go, lost, back } = await begin(stage, WRITE_RESULT);
      await lost();
      await stage.lab.request('POST', `/jobs/${evaluation.job_id}/cancel`);
      const ended = await stage.lab.evaluation(evaluation.id);
      expect(ended.status).to.equal('CANCELLED');
      await go();
      await back();
      const later = await stage.evaluate(WRITE_RESULT);
      await stage.ended(later);
      expect(await stage.lab.evaluation(evaluation.id)).to.deep.equal(ended);
      expect(await stage.finished(evaluation)).to.have.length(1);
    },
  },
];

/** An evaluation that runs, waits for `go`, and then does what the script says. */
async function begin(stage: EvaluationStage, script: string) {
  const { lab, proxy, dir } = stage;
  const sign = path.join(dir, `go-${Math.random()}`);
  const evaluation = await stage.evaluate(`while [ ! -e ${sign} ]; do sleep 0.02; done; ${script}`);
  await lab.reach(evaluation.job_id, 'RUNNING');
  return {
    evaluation,
    go: () => writeFile(sign, ''),
    async lost() {
      proxy.cut('refuse', 'all');
      await lab.reach(evaluation.job_id, 'LOST');
    },
    async back() {
      proxy.heal();
      await until(() => stage.isConnected());
    },
  };
}

describe('the table of evaluation states', function () {
  this.timeout(120_000);
  for (const { title, prove } of EVALUATION_TABLE) it(title, () => onEvaluationHost(prove));

  it('an evaluation that is already terminal is not marked again: a retry of its job alone makes it QUEUED, and it is the same one', () =>
    onEvaluationHost(async (stage) => {
      const { lab, dir } = stage;
      const file = path.join(dir, 'again');
      const evaluation = await stage.evaluate(`test -e ${file} || exit 3; ${WRITE_RESULT}`);
      const failed = await stage.ended(evaluation);
      await writeFile(file, '');
      const other = await stage.evaluate(WRITE_RESULT);
      await stage.ended(other);
      expect(await stage.lab.evaluation(evaluation.id)).to.deep.equal(failed);
      await lab.request('POST', `/jobs/${evaluation.job_id}/retry`);
      const again = await stage.ended(evaluation);
      expect(again).to.deep.include({ ...RESULT, id: evaluation.id, job_id: evaluation.job_id });
      expect(await lab.job(evaluation.job_id)).to.include({ attempt: 2, evaluation_id: evaluation.id });
      const { items } = await lab.get<{ items: unknown[] }>(
        `/checkpoints/${stage.checkpoint.id}/evaluations`,
      );
      expect(items).to.have.length(2);
    }));

  describe('an evaluation never remains QUEUED after its job has failed or been cancelled; while the job is LOST', () => {
    for (const { title, prove } of WHILE_LOST) it(title, () => onEvaluationHost(prove));
  });
});

import {
  FOUND_SEQ_START,
  type FrameOf,
  type MetricPoint,
  type ServerFrame,
  type SpoolRecord,
} from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { metrics, metricsRef } from '@svc/plugin-metrics';
import { spool } from '@svc/plugin-spool';
import { expect } from 'chai';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { eventFiles } from '../src/index.js';

eachDatabase((database) => {
  describe('points that an agent has found', () => {
    let rig: Rig;
    let agent: JobAgent;
    let files = 0;
    let jobId: string;
    let runId: string;
    before(async () => {
      rig = await Rig.start({ database, plugins: [metrics(), checkpoints(), spool(), eventFiles()] });
      agent = await rig.agent();
    });
    after(() => rig.close());
    beforeEach(async () => {
      const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
      runId = (await agent.startJob(id)).run_id as string;
      jobId = id;
      await rig.reach(id, 'RUNNING');
    });

    async function ship(...records: SpoolRecord[]): Promise<void> {
      const file = `${(files += 1)}.jsonl`;
      const lines = records.map((record, index) => ({ to: 10 + index, text: JSON.stringify(record) }));
      const from = agent.frames.length;
      agent.send({ type: 'spool', job_id: jobId, attempt: 1, file, from: 0, lines });
      const ack: FrameOf<ServerFrame, 'spool_ack'> = await agent.take(
        'spool_ack',
        (frame) => frame.file === file,
        from,
      );
      expect(ack.refused).to.deep.equal([]);
    }
    const found = (name: string, step: number, value: number): SpoolRecord => {
      const points: MetricPoint[] = [{ seq: FOUND_SEQ_START + step, name, step, value }];
      return { kind: 'points', run_id: runId, found: true, body: { points } };
    };
    const report = (name: string, step: number, value: number) =>
      rig.kernel
        .use(metricsRef)
        .write({ run_id: runId, points: [{ seq: step, name, step, value }], at: Date.now() });
    const valuesOf = async (name: string): Promise<unknown[]> =>
      (await rig.get(`/runs/${runId}/metrics?names=${name}`)).body.series[name]?.values ?? [];

    /** Removing follows the report. */
    const untilValues = (name: string, values: unknown[]) =>
      until(async () => JSON.stringify(await valuesOf(name)) === JSON.stringify(values));

    it('are stored, once', async () => {
      await ship(found('loss', 1, 0.5), found('loss', 2, 0.25));
      await ship(found('loss', 2, 0.25), found('loss', 3, 0.125));
      expect(await valuesOf('loss')).to.deep.equal([0.5, 0.25, 0.125]);
    });

    it('are left out where the training reports the metric itself', async () => {
      await report('loss', 1, 7);
      await ship(found('loss', 1, 0.5), found('other', 1, 1));
      expect([await valuesOf('loss'), await valuesOf('other')]).to.deep.equal([[7], [1]]);
    });

    it('are removed when it begins to, and left out from then on', async () => {
      await ship(found('loss', 1, 0.5), found('loss', 2, 0.25), found('other', 9, 1));
      await report('loss', 2, 7);
      await untilValues('loss', [7]);
      await ship(found('loss', 1, 0.5), found('loss', 3, 0.25));
      await report('loss', 3, 8);
      expect([await valuesOf('loss'), await valuesOf('other')]).to.deep.equal([[7, 8], [1]]);
      const { metrics } = (await rig.get(`/runs/${runId}/summary`)).body;
      expect(metrics.loss).to.deep.include({ count: 2, best: { value: 7, step: 2 } });
    });

    it('are removed also where they are many, and were found before a restart of the server', async () => {
      const points = Array.from({ length: 3000 }, (_, step) => ({
        seq: FOUND_SEQ_START + step,
        name: 'loss',
        step,
        value: 1,
      }));
      const row = { run_id: runId, name: 'loss', is_reported: false };
      await rig.kernel.db('found_metrics').insert(row);
      await rig.kernel.use(metricsRef).write({ run_id: runId, points, at: Date.now() });
      await report('loss', 1500, 7);
      await untilValues('loss', [7]);
      await report('loss', 2, 8);
      expect(await valuesOf('loss')).to.deep.equal([8, 7]);
    });

    it('leave alone what has high numbers for another reason', async () => {
      await ship(found('loss', 1, 1));
      const points = [{ seq: FOUND_SEQ_START + 2 ** 50, name: 'imported', step: 1, value: 1 }];
      await rig.kernel.use(metricsRef).write({ run_id: runId, points, at: Date.now() });
      await report('imported', 2, 2);
      await report('loss', 3, 3);
      await untilValues('loss', [3]);
      expect(await valuesOf('imported')).to.deep.equal([1, 2]);
    });

    it('may come before their config, which adds to that of the training', async () => {
      const fill = (config: object): SpoolRecord => ({
        kind: 'update',
        run_id: runId,
        body: { fill: { config } },
      });
      await ship(
        { kind: 'update', run_id: runId, body: { config: { lr: 0.1 } } },
        fill({ lr: 9, layers: 3 }),
      );
      expect((await rig.get(`/runs/${runId}`)).body.config).to.deep.equal({ lr: 0.1, layers: 3 });
    });
  });
});

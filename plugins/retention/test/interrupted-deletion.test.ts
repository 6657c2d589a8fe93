import type { Run } from '@svc/contract';
import { definePlugin } from '@svc/kernel';
import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import type { Rig } from '../../runs/test/support/rig.js';
import { ServerData } from './support/server-data.js';
import { expectNoTrace } from './support/traces.js';

const METRICS = 10_000;
const LEAST_SLICE = 256;
/** Before the deletion would be over anyway. */
const MOST_BATCHES = 20;

/** A row of its table keeps the row of a run from being deleted. */
const hindrances = definePlugin({
  name: 'hindrances',
  requires: ['runs'],
  setup(ctx) {
    ctx.owns({ table: 'hindrances', key: ['subject'] });
    ctx.migrations([
      {
        name: '0001-init',
        up: (db) =>
          db.schema.createTable('hindrances', (table) => {
            table.string('subject', 40).primary().references('runs.id');
          }),
      },
    ]);
  },
});

describe('the deletion of a run that others get in the way of', function () {
  this.timeout(120_000);
  eachDatabase((database) => {
    let data: ServerData;
    let rig: Rig;
    let seq: number;
    beforeEach(async () => {
      data = await ServerData.create(database);
      rig = await data.start(hindrances());
      seq = 0;
    });
    afterEach(async () => {
      await rig.close();
      data.remove();
    });

    const remove = ({ id }: Run) => rig.kernel.request('DELETE', `/runs/${id}`, { token: rig.tokens.write });
    const statusOf = async ({ id }: Run) => (await rig.get(`/runs/${id}`)).status;
    const countDeletions = async () => (await rig.get('/events?type=RUN_DELETED')).body.items.length;
    const pending = () => rig.kernel.db('removals');

    /** One point of each metric. */
    async function write({ id }: Run, metricCount = METRICS): Promise<number> {
      const points = Array.from({ length: metricCount }, (_, index) => {
        seq += 1;
        return { seq, name: `m${index}`, step: seq, value: 1 };
      });
      return (await rig.post(`/runs/${id}/metrics:batch`, { points }, rig.tokens.sdk)).status;
    }

    async function endedRun(metricCount: number): Promise<Run> {
      const run = await rig.createRun();
      await write(run, metricCount);
      await rig.post(`/runs/${run.id}/finish`, { status: 'SUCCEEDED' });
      return run;
    }

    /** The tables that rows are deleted from, in order. */
    function followDeletes(): string[] {
      const tables: string[] = [];
      rig.kernel.db.on('query', ({ sql }: { sql: string }) => {
        const [, table] = /^delete from [`"](\w+)/.exec(sql) ?? [];
        if (table) tables.push(table);
      });
      return tables;
    }

    it('refuses every point from the decision on, and works in slices that do not shrink by what others write', async () => {
      const run = await endedRun(METRICS);
      const other = await rig.createRun();
      await write(other);
      const deletes = followDeletes();
      const statuses = new Set<number>();
      async function keepWriting(): Promise<void> {
        for (let count = 0; count < MOST_BATCHES && !statuses.has(404); count += 1)
          statuses.add(await write(run));
      }
      let isOver = false;
      async function writeToOther(): Promise<void> {
        while (!isOver) expect(await write(other, 3000)).to.equal(200);
      }
      const others = [keepWriting(), keepWriting(), writeToOther()];
      expect((await remove(run)).status).to.equal(200);
      isOver = true;
      await Promise.all(others);
      expect([...statuses].filter((status) => status !== 200)).to.deep.equal([404]);
      const slices = deletes.filter((table) => table === 'metric_series');
      expect(slices.length).to.be.at.most(Math.ceil(METRICS / LEAST_SLICE) + 2);
      await expectNoTrace(rig, run.id);
    });

    it('refuses a batch that was let in before the decision', async () => {
      const run = await endedRun(10);
      const [answer, status] = await Promise.all([remove(run), write(run), write(run), write(run)]);
      expect(answer.status).to.equal(200);
      expect(status).to.be.oneOf([200, 404]);
      expect(await write(run)).to.equal(404);
      await expectNoTrace(rig, run.id);
    });

    it('deletes rows before those that they belong to', async () => {
      const run = await endedRun(10);
      const deletes = followDeletes();
      expect((await remove(run)).status).to.equal(200);
      const last = (table: string) => deletes.lastIndexOf(table);
      const inOrder = ['metric_chunks', 'metric_series', 'metric_runs', 'runs'];
      expect([...inOrder].sort((a, b) => last(a) - last(b))).to.deep.equal(inOrder);
      expect(last('metric_seq_ranges')).to.be.lessThan(last('metric_runs'));
    });

    it('is completed later when it fails, also by the next server, and there is no such run meanwhile', async () => {
      const run = await endedRun(10);
      const free = await hinderDeletes(run);
      expect((await remove(run)).status).to.equal(500);
      expect(await pending()).to.have.length(1);
      const expectGone = async () => {
        expect(await statusOf(run)).to.equal(404);
        expect((await rig.get('/runs')).body.items).to.deep.equal([]);
        expect(await write(run)).to.equal(404);
        expect((await remove(run)).status).to.equal(404);
        expect(await countDeletions()).to.equal(1);
      };
      await expectGone();
      await rig.close();
      rig = await data.start(hindrances());
      await expectGone();
      expect(await pending()).to.have.length(1);
      await free();
      await until(async () => (await pending()).length === 0, { timeoutMs: 30_000 });
      await expectNoTrace(rig, run.id);
      expect(await countDeletions()).to.equal(1);
    });

    /** Until the function is called that this returns. */
    async function hinderDeletes({ id }: Run): Promise<() => Promise<void>> {
      await rig.kernel.db('hindrances').insert({ subject: id });
      return async () => {
        await rig.kernel.db('hindrances').delete();
      };
    }
  });
});

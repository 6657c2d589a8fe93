import type { MetricPoint, Run } from '@svc/contract';
import { definePlugin, type PointBatch } from '@svc/kernel';
import { eachDatabase, until, type SseClient } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from '../../runs/test/support/rig.js';
import { metrics } from '../src/index.js';

const UNKNOWN = 'run_01HZZZZZZZZZZZZZZZZZZZZZZZ';

describe('metrics over HTTP', () => {
  eachDatabase((database) => {
    const appended: PointBatch[] = [];
    const observer = definePlugin({
      name: 'observer',
      setup: (ctx) => ctx.hooks.pointsAppended.tap(ctx.name, (batch) => void appended.push(batch)),
    });
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database, plugins: [metrics(), observer()] })));
    after(() => rig.close());

    const newRun = async (body: object = {}): Promise<Run & { ingest_token: string }> =>
      (await rig.post('/runs', body, rig.tokens.sdk)).body;
    const write = (run: { id: string }, points: unknown[], token?: string) =>
      rig.post(`/runs/${run.id}/metrics:batch`, { points }, token);
    const series = async (run: { id: string }, query = '') =>
      (await rig.get(`/runs/${run.id}/metrics${query}`)).body.series;

    describe('metrics:batch', () => {
      it('counts what is new and what is not, and tells of what is new', async () => {
        const run = await newRun();
        const first = await write(run, [point(0), point(1), { ...point(1), value: 99 }], run.ingest_token);
        expect(first.status).to.equal(200);
        expect(first.body).to.deep.equal({ accepted: 2, duplicates: 1 });
        expect((await write(run, [point(1), point(2)])).body).to.deep.equal({ accepted: 1, duplicates: 1 });
        expect((await series(run)).loss.values).to.deep.equal([0, 1, 2]);
        const told = appended
          .filter(({ run_id }) => run_id === run.id)
          .map(({ points }) => points.map(({ seq }) => seq));
        expect(told).to.deep.equal([[0, 1], [2]]);
      });

      it('brings the run on to the highest step and epoch, and never back', async () => {
        const run = await newRun({ max_steps: 40 });
        await write(run, [{ ...point(0, 30), epoch: 1.5 }, point(1, 7)]);
        await write(run, [{ ...point(2, 10), epoch: 1 }]);
        expect((await rig.get(`/runs/${run.id}`)).body).to.include({ step: 30, epoch: 1.5 });
        const summary = (await rig.get(`/runs/${run.id}/summary`)).body;
        expect(summary).to.include({ step: 30, epoch: 1.5, max_steps: 40, progress: 0.75 });
      });

      it('refuses what is wrong as a whole, naming the field', async () => {
        const run = await newRun();
        const good = point(0);
        const cases: [unknown, string][] = [
          [{ ...good, seq: -1 }, 'points[1].seq'],
          [{ ...good, seq: 1.5 }, 'points[1].seq'],
          [{ ...good, seq: 2 ** 53 }, 'points[1].seq'],
          [{ ...good, step: '3' }, 'points[1].step'],
          [{ ...good, value: '0.5' }, 'points[1].value'],
          [{ ...good, value: null }, 'points[1].value'],
          [{ ...good, name: '' }, 'points[1].name'],
          [{ ...good, name: 'x'.repeat(1000) }, 'points[1].name'],
          [{ ...good, name: 'a\u0007b' }, 'points[1].name'],
          [{ ...good, ts: -1 }, 'points[1].ts'],
          [{ ...good, epoch: 'one' }, 'points[1].epoch'],
          [{ ...good, valeu: 1 }, 'points[1].valeu'],
        ];
        for (const [bad, path] of cases) {
          const answer = await write(run, [good, bad]);
          expect(answer.status, path).to.equal(422);
          const paths = answer.body.error.details.errors.map((issue: { path: string }) => issue.path);
          expect(paths.join(' ')).to.match(new RegExp(path.replaceAll(/\W/g, '.?')));
        }
        expect((await write(run, [])).status).to.equal(422);
        expect(
          (
            await write(
              run,
              Array.from({ length: 10_001 }, (_, seq) => point(seq)),
            )
          ).status,
        ).to.equal(422);
        expect((await rig.post(`/runs/${run.id}/metrics:batch`, {})).status).to.equal(422);
        expect((await rig.post(`/runs/${run.id}/metrics:batch`, '{"points":[')).status).to.equal(422);
        const lone = await write(run, [{ ...good, name: '\ud800' }]);
        expect(lone.status).to.equal(422);
        expect(await series(run)).to.deep.equal({});
      });

      it('takes 10 000 points at once, and refuses metrics past the limit of a run', async () => {
        const run = await newRun();
        const full = Array.from({ length: 10_000 }, (_, seq) => ({ ...point(seq), name: `m/${seq}` }));
        expect((await write(run, full)).body).to.deep.equal({ accepted: 10_000, duplicates: 0 });
        const over = await write(run, [{ ...point(10_000), name: 'one too many' }]);
        expect(over.status).to.equal(422);
        expect(over.body.error.message).to.include('at most 10000 metrics');
        expect((await write(run, [{ ...point(10_001), name: 'm/0' }])).body.accepted).to.equal(1);
      });

      it('is for those who may write to the run, until 10 minutes after its end', async () => {
        const [run, other] = [await newRun(), await newRun()];
        expect((await write(run, [point(0)], other.ingest_token)).status).to.equal(403);
        expect((await write(run, [point(0)], rig.tokens.read)).status).to.equal(403);
        expect((await write({ id: UNKNOWN }, [point(0)])).status).to.equal(404);
        expect((await write({ id: 'nonsense' }, [point(0)])).status).to.equal(404);
        expect(await series(run)).to.deep.equal({});
        await rig.post(`/runs/${run.id}/finish`, { status: 'SUCCEEDED' }, run.ingest_token);
        expect((await write(run, [point(0)], run.ingest_token)).body).to.deep.equal({
          accepted: 1,
          duplicates: 0,
        });
      });

      it('stores what many clients send at once, each point once', async () => {
        const run = await newRun();
        const send = (start: number) =>
          write(
            run,
            Array.from({ length: 100 }, (_, index) => point(start + index)),
          );
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => send(Math.floor(index / 2) * 100)),
        );
        const accepted = answers.reduce((sum, { body }) => sum + body.accepted, 0);
        expect(accepted).to.equal(1000);
        expect((await series(run)).loss.steps).to.deep.equal(Array.from({ length: 1000 }, (_, step) => step));
      });
    });

    describe('series', () => {
      let run: Run;
      before(async () => {
        run = await newRun();
        const points = Array.from({ length: 3000 }, (_, seq) => ({
          ...point(seq),
          name: 'train/loss',
          ts: 1_000_000 + seq,
        }));
        await write(run, points);
        await write(run, [
          { ...point(5000, 0), name: 'eval/acc', value: 'NaN' },
          { ...point(5001, 1), name: 'eval/acc', value: '-Infinity' },
        ]);
      });

      it('come by name, with slashes, as one comma-separated value', async () => {
        expect(Object.keys(await series(run))).to.have.members(['train/loss', 'eval/acc']);
        const picked = await series(run, `?names=${encodeURIComponent('eval/acc,nothing')}`);
        expect(picked).to.deep.equal({
          'eval/acc': {
            steps: [0, 1],
            values: ['NaN', '-Infinity'],
            ts: picked['eval/acc'].ts,
            total: 2,
            downsampled: false,
          },
        });
        expect(Object.keys(await series(run, '?names=eval/acc,train/loss'))).to.have.members([
          'train/loss',
          'eval/acc',
        ]);
        expect(await series(run, '?names=,')).to.deep.equal({});
        expect(await series(run, '?names=%00')).to.deep.equal({});
      });

      it('come by range of steps, thinned to the limit with the exact total', async () => {
        const part = (await series(run, '?names=train/loss&step_from=100&step_to=199'))['train/loss'];
        expect(part.steps).to.deep.equal(Array.from({ length: 100 }, (_, index) => 100 + index));
        const thin = (await series(run, '?names=train/loss&limit=50'))['train/loss'];
        expect(thin).to.include({ total: 3000, downsampled: true });
        expect(thin.steps).to.include(0).and.to.include(2999);
        expect(thin.steps.length).to.be.within(25, 50);
        expect((await series(run, '?names=train/loss&limit=50'))['train/loss']).to.deep.equal(thin);
        expect((await series(run, '?names=train/loss&step_from=9000'))['train/loss'].total).to.equal(0);
      });

      it('come by the last seconds', async () => {
        const live = await newRun();
        await write(live, [
          { ...point(0), ts: Date.now() - 60_000 },
          { ...point(1), ts: Date.now() - 1000 },
        ]);
        expect((await series(live, '?window_s=30')).loss.steps).to.deep.equal([1]);
        expect((await series(live, '?window_s=90')).loss.steps).to.deep.equal([0, 1]);
      });

      it('of several runs are keyed by run', async () => {
        const other = await newRun();
        await write(other, [point(0)]);
        const body = {
          run_ids: [run.id, other.id.slice(4), other.id],
          names: ['train/loss', 'loss'],
          step_to: 1,
        };
        const { body: answer } = await rig.post('/runs/metrics:query', body, rig.tokens.read);
        expect(Object.keys(answer.series)).to.deep.equal([run.id, other.id]);
        expect(answer.series[run.id]['train/loss'].steps).to.deep.equal([0, 1]);
        expect(Object.keys(answer.series[other.id])).to.deep.equal(['loss']);
        const unknown = await rig.post(
          '/runs/metrics:query',
          { run_ids: [run.id, UNKNOWN] },
          rig.tokens.read,
        );
        expect(unknown.status).to.equal(404);
        expect(unknown.body.error.message).to.include(UNKNOWN);
      });

      it('refuse what is wrong', async () => {
        for (const query of [
          'limit=0',
          'limit=10001',
          'step_from=x',
          'window_s=0',
          'window_s=-1',
          'names=',
          'name=loss',
        ]) {
          expect((await rig.get(`/runs/${run.id}/metrics?${query}`)).status, query).to.equal(422);
        }
        for (const body of [
          {},
          { run_ids: [] },
          { run_ids: [run.id], limit: 0 },
          { run_ids: [run.id], names: [] },
        ]) {
          expect((await rig.post('/runs/metrics:query', body)).status, JSON.stringify(body)).to.equal(422);
        }
        for (const path of ['metrics', 'summary', 'metrics/stream']) {
          expect((await rig.get(`/runs/${UNKNOWN}/${path}`)).status).to.equal(404);
        }
      });
    });

    describe('summary', () => {
      it('has latest, best by direction, trend and count of each metric', async () => {
        const run = await newRun();
        const falling = Array.from({ length: 50 }, (_, seq) => ({
          ...point(seq),
          name: 'train/loss',
          value: 5 - seq * 0.1,
        }));
        const rising = Array.from({ length: 3 }, (_, index) => ({
          ...point(100 + index, index),
          name: 'eval/acc',
          value: 0.5 + index,
        }));
        await write(run, [...falling, ...rising]);
        await write(run, [{ ...point(60, 50), name: 'train/loss', value: 3 }]);
        const { metrics: found, health, run_id, status } = (await rig.get(`/runs/${run.id}/summary`)).body;
        expect({ run_id, status, health }).to.deep.equal({
          run_id: run.id,
          status: 'RUNNING',
          health: { status: 'ok', reasons: [] },
        });
        expect(found['train/loss']).to.deep.include({
          trend: 'decreasing',
          direction: 'minimize',
          is_primary: false,
          count: 51,
        });
        expect(found['train/loss'].latest).to.include({ value: 3, step: 50 });
        expect(found['train/loss'].best.step).to.equal(49);
        expect(found['eval/acc']).to.deep.include({
          trend: 'unknown',
          direction: 'maximize',
          best: { value: 2.5, step: 2 },
        });
      });

      it('says what is wrong with the numbers', async () => {
        const run = await newRun();
        await write(run, [{ ...point(0), value: 'Infinity' }]);
        expect((await rig.get(`/runs/${run.id}/summary`)).body.health.status).to.equal('warning');
        await write(run, [
          { ...point(1), value: 'NaN' },
          { ...point(2), value: 'NaN' },
        ]);
        const { health, metrics: found } = (await rig.get(`/runs/${run.id}/summary`)).body;
        expect(health.status).to.equal('critical');
        expect(health.reasons).to.deep.equal([
          'loss is NaN from step 1 on (2 points)',
          'loss is Infinity at step 0',
        ]);
        expect(found.loss).to.deep.include({ best: null, trend: 'unknown' });
        expect(found.loss.latest.value).to.equal('NaN');
      });

      it('says what critical events the run had', async () => {
        const run = await newRun();
        const report = { title: 'gradient is gone', severity: 'critical' };
        await rig.post(`/runs/${run.id}/events`, report, run.ingest_token);
        const { health } = (await rig.get(`/runs/${run.id}/summary`)).body;
        expect(health).to.deep.equal({ status: 'critical', reasons: ['gradient is gone'] });
      });

      it('of a run without points is empty', async () => {
        const run = await newRun();
        const { body } = await rig.get(`/runs/${run.id}/summary`);
        expect(body).to.deep.include({ metrics: {}, progress: null, step: null });
      });
    });

    describe('stream', () => {
      const open = (id: string, query = ''): Promise<SseClient> =>
        rig.kernel.sse(`/runs/${id}/metrics/stream${query}`, { token: rig.tokens.read });

      it('sends every new point once, few messages, then the end', async () => {
        const run = await newRun();
        await write(run, [point(0)]);
        const client = await open(run.id);
        const startedAt = Date.now();
        for (let seq = 1; seq <= 60; seq += 1) await write(run, [point(seq), point(0)]);
        await rig.post(`/runs/${run.id}/finish`, { status: 'SUCCEEDED' });
        const messages = await all(client);
        const points = messages.flatMap(({ data }) => data.points ?? []) as MetricPoint[];
        expect(points.map(({ seq }) => seq)).to.deep.equal(
          Array.from({ length: 60 }, (_, index) => index + 1),
        );
        expect(points[0]).to.have.all.keys('seq', 'name', 'step', 'value', 'ts');
        expect(messages.at(-1)?.event).to.equal('end');
        expect(messages.at(-2)?.id).to.equal('60');
        expect(messages.length).to.be.at.most(3 + Math.ceil((Date.now() - startedAt) / 100));
      });

      it('sends the metrics asked for alone', async () => {
        const run = await newRun();
        const client = await open(run.id, '?names=a/b,c');
        await write(run, [
          { ...point(0), name: 'a/b' },
          { ...point(1), name: 'x' },
          { ...point(2), name: 'c' },
        ]);
        await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' });
        const points = (await all(client)).flatMap(({ data }) => data.points ?? []) as MetricPoint[];
        expect(points.map(({ name }) => name)).to.deep.equal(['a/b', 'c']);
      });

      it('of a run that is over ends at once', async () => {
        const run = await newRun();
        await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' });
        expect((await all(await open(run.id))).map(({ event }) => event)).to.deep.equal(['end']);
      });

      it('of a run that was LOST goes on until its job is retried', async () => {
        const agent = await rig.agent();
        const job = await rig.submit({ node_selector: { node: agent.nodeId } });
        const { run_id } = await agent.start(job.id);
        await rig.reach(job.id, 'RUNNING');
        agent.report({ job_id: job.id, attempt: 1, state: 'ended', exit: { kind: 'lost', reason: 'gone' } });
        await rig.reach(job.id, 'LOST');
        const client = await open(run_id ?? '');
        await write({ id: run_id ?? '' }, [point(0)]);
        expect((await client.take()).data.points).to.have.length(1);
        await rig.post(`/jobs/${job.id}/retry`);
        expect((await all(client)).map(({ event }) => event)).to.deep.equal(['end']);
        await until(async () => (await rig.job(job.id)).attempt === 2);
        expect((await all(await open(run_id ?? ''))).map(({ event }) => event)).to.deep.equal(['end']);
      });
    });
  });
});

function point(seq: number, step = seq): MetricPoint {
  return { seq, name: 'loss', step, value: seq };
}

async function all(client: SseClient) {
  const messages = [];
  for await (const message of client) messages.push(message);
  return messages;
}

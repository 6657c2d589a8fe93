import type { EventRecord, FrameOf, ServerFrame, SpoolRecord } from '@svc/contract';
import { newId } from '@svc/contract';
import { eachDatabase, until } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { metrics } from '@svc/plugin-metrics';
import { expect } from 'chai';
import type { JobAgent } from '../../runs/test/support/job-agent.js';
import { Rig } from '../../runs/test/support/rig.js';
import { spool } from '../src/index.js';

type Ack = FrameOf<ServerFrame, 'spool_ack'>;
type Line = SpoolRecord | string;

const DAY_MS = 24 * 60 * 60_000;

eachDatabase((database) => {
  describe('spool frames', () => {
    let rig: Rig;
    let agent: JobAgent;
    let files = 0;
    before(async () => {
      rig = await Rig.start({ database, plugins: [metrics(), checkpoints(), spool()] });
      agent = await rig.agent();
    });
    after(() => rig.close());

    async function startJob(on = agent): Promise<{ jobId: string; runId: string }> {
      const { id } = await rig.submit({ node_selector: { node: on.nodeId } });
      const { run_id } = await on.startJob(id);
      await rig.reach(id, 'RUNNING');
      return { jobId: id, runId: run_id as string };
    }

    /** Ships the lines as one file of the attempt; the mark moves by 10 with each of them. */
    async function ship(
      jobId: string,
      lines: readonly Line[],
      { by = agent, attempt = 1, file = `${(files += 1)}.jsonl` } = {},
    ): Promise<Ack> {
      const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
      const numbered = texts.map((text, index) => ({ to: 110 + index * 10, text }));
      const answeredFrom = by.frames.length;
      by.send({ type: 'spool', job_id: jobId, attempt, file, from: 100, lines: numbered });
      return by.take('spool_ack', (frame) => frame.file === file, answeredFrom);
    }

    const points = (run_id: string, ...seqs: number[]): SpoolRecord => {
      const list = seqs.map((seq) => ({ seq, name: 'loss', step: seq, value: seq / 2 }));
      return { kind: 'points', run_id, body: { points: list } };
    };
    const event = (run_id: string, key: string, ts = Date.now()): SpoolRecord => {
      return { kind: 'event', run_id, key, ts, body: { title: `event ${key}`, severity: 'warning' } };
    };
    const checkpoint = (run_id: string, step: number, ts = Date.now()): SpoolRecord => {
      return { kind: 'checkpoint', run_id, ts, body: { path: `/out/checkpoint-${step}`, step } };
    };
    const stepsOf = async (runId: string): Promise<number[]> =>
      (await rig.get(`/runs/${runId}/metrics`)).body.series.loss?.steps ?? [];
    const eventsOf = async (runId: string, type = 'CUSTOM'): Promise<EventRecord[]> =>
      (await rig.get(`/events?run_id=${runId}&type=${type}`)).body.items;
    const checkpointsOf = async (runId: string) => (await rig.get(`/runs/${runId}/checkpoints`)).body.items;

    it('bring points, events, checkpoints and what the training says of its run', async () => {
      const { jobId, runId } = await startJob();
      const ack = await ship(jobId, [
        { kind: 'update', run_id: runId, body: { config: { lr: 0.1 }, max_steps: 50 } },
        { kind: 'update', run_id: runId, body: { fill: { project: 'spooled' } } },
        { kind: 'metric', run_id: runId, name: 'loss', body: { unit: 'nat', is_primary: true } },
        points(runId, 0, 1),
        event(runId, 'a'),
        checkpoint(runId, 1),
      ]);
      expect([ack.offset, ack.refused]).to.deep.equal([160, []]);
      expect(await stepsOf(runId)).to.deep.equal([0, 1]);
      const [told] = await eventsOf(runId);
      expect(told).to.deep.include({ title: 'event a', severity: 'warning', run_id: runId, job_id: jobId });
      const [saved] = await checkpointsOf(runId);
      expect(saved).to.deep.include({ path: '/out/checkpoint-1', step: 1, source: 'sdk' });
      const { body: run } = await rig.get(`/runs/${runId}`);
      expect(run).to.deep.include({ config: { lr: 0.1 }, max_steps: 50, step: 1, status: 'RUNNING' });
      expect((await rig.get(`/projects/${run.project_id}`)).body.name).to.equal('spooled');
      const [loss] = (await rig.get(`/metric-definitions?run_id=${runId}`)).body.items;
      expect(loss).to.include({ name: 'loss', level: 'run', unit: 'nat', is_primary: true });
    });

    it('may be sent again and overlap what came over HTTP: all is there once', async () => {
      const { jobId, runId } = await startJob();
      const { SVC_TOKEN: token = '' } = (await agent.dispatchOf(jobId)).env;
      const { body } = event(runId, 'k') as SpoolRecord & { kind: 'event' };
      const headers = { 'idempotency-key': 'k' };
      const first = await rig.kernel.request('POST', `/runs/${runId}/events`, { token, body, headers });
      expect(first.status).to.equal(201);
      await rig.post(`/runs/${runId}/metrics:batch`, (points(runId, 1, 2) as { body: unknown }).body, token);
      await rig.post(`/runs/${runId}/checkpoints`, { path: '/out/checkpoint-2', step: 2 }, token);
      const all = [points(runId, 2, 3), event(runId, 'k'), checkpoint(runId, 2), event(runId, 'l')];
      for (const lines of [all, all]) expect((await ship(jobId, lines)).refused).to.deep.equal([]);
      expect(await stepsOf(runId)).to.deep.equal([1, 2, 3]);
      expect((await eventsOf(runId)).map(({ title }) => title)).to.have.members(['event k', 'event l']);
      expect(await eventsOf(runId, 'CHECKPOINT_CREATED')).to.have.length(1);
      expect(await checkpointsOf(runId)).to.have.length(1);
    });

    it('are taken however long the attempt is over, and summary and progress follow', async () => {
      const { jobId, runId } = await startJob();
      agent.end(jobId, { kind: 'signaled', signal: 'SIGKILL', code: -9 });
      await rig.reach(jobId, 'FAILED');
      await rig.kernel.db('tokens').where({ job_id: jobId }).delete();
      const ack = await ship(jobId, [points(runId, 3, 9), event(runId, 'late'), checkpoint(runId, 9)]);
      expect([ack.offset, ack.refused]).to.deep.equal([130, []]);
      const { body: summary } = await rig.get(`/runs/${runId}/summary`);
      expect(summary).to.deep.include({ status: 'FAILED', step: 9 });
      expect(summary.metrics.loss).to.deep.include({ count: 2, best: { value: 1.5, step: 3 } });
    });

    it('bring the end that a training gave its run, if that is not over already', async () => {
      const { jobId, runId } = await startJob();
      const finish = (status: 'FAILED' | 'SUCCEEDED'): SpoolRecord => ({
        kind: 'finish',
        run_id: runId,
        body: { status },
      });
      expect((await ship(jobId, [finish('FAILED'), finish('FAILED')])).refused).to.deep.equal([]);
      expect((await rig.get(`/runs/${runId}`)).body.status).to.equal('FAILED');
      const { refused } = await ship(jobId, [finish('SUCCEEDED'), points(runId, 1)]);
      expect(refused.map(({ to }) => to)).to.deep.equal([110]);
      expect(await stepsOf(runId)).to.deep.equal([1]);
    });

    it('carry the time of the report, never one before the run or in the future', async () => {
      const { jobId, runId } = await startJob();
      const { created_at } = (await rig.get(`/runs/${runId}`)).body;
      await until(() => Date.now() > created_at + 1);
      await ship(jobId, [
        event(runId, 'then', created_at + 1),
        event(runId, 'long ago', 5),
        event(runId, 'ahead', Date.now() + DAY_MS),
        checkpoint(runId, 1, created_at + 1),
      ]);
      const at = new Map((await eventsOf(runId)).map(({ title, created_at: time }) => [title, time]));
      expect(at.get('event then')).to.equal(created_at + 1);
      expect(at.get('event long ago')).to.equal(created_at);
      expect(at.get('event ahead')).to.be.within(created_at, Date.now());
      expect((await checkpointsOf(runId))[0].created_at).to.equal(created_at + 1);
    });

    it('tell that checkpoints of earlier attempts on the node are gone, and those alone', async () => {
      const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
      const { run_id: first } = await agent.startJob(id);
      await ship(id, [checkpoint(first as string, 1), checkpoint(first as string, 2)]);
      agent.end(id, { kind: 'exited', code: 1 });
      await rig.reach(id, 'FAILED');
      await rig.post(`/jobs/${id}/retry`);
      const second = (await agent.startJob(id, 2)).run_id as string;
      const path = '/out/checkpoint-1';
      const gone: SpoolRecord = {
        kind: 'checkpoint_gone',
        run_id: second,
        ts: Date.now(),
        body: { path, earlier: true },
      };
      const { refused } = await ship(id, [checkpoint(second, 1), gone], { attempt: 2 });
      expect(refused).to.deep.equal([]);
      const left = async (runId: string) =>
        (await checkpointsOf(runId))
          .filter(({ deleted_at }: { deleted_at: number | null }) => deleted_at === null)
          .map(({ step }: { step: number }) => step);
      expect(await left(first as string)).to.deep.equal([2]);
      expect(await left(second)).to.deep.equal([1]);
    });

    it('may be for further runs of the attempt', async () => {
      const { jobId } = await startJob();
      const { SVC_TOKEN: token = '' } = (await agent.dispatchOf(jobId)).env;
      const { body: run } = await rig.post('/runs', { name: 'second' }, token);
      expect((await ship(jobId, [points(run.id, 1)])).refused).to.deep.equal([]);
      expect(await stepsOf(run.id)).to.deep.equal([1]);
    });

    it('are taken for a run whose start the server has not heard of yet', async () => {
      const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
      const { run_id } = await agent.dispatchOf(id);
      expect((await ship(id, [points(run_id as string, 1)])).refused).to.deep.equal([]);
      expect(await stepsOf(run_id as string)).to.deep.equal([1]);
    });

    describe('refused, each alone and with a reason', () => {
      let own: { jobId: string; runId: string };
      before(async () => {
        own = await startJob();
      });

      async function expectRefused(line: Line, reason: RegExp): Promise<void> {
        const seq = (files + 1) * 100;
        const ack = await ship(own.jobId, [points(own.runId, seq), line, points(own.runId, seq + 1)]);
        expect(ack.offset).to.equal(130);
        expect(ack.refused.map(({ to }) => to)).to.deep.equal([120]);
        expect(ack.refused[0]?.reason).to.match(reason);
        expect(await stepsOf(own.runId)).to.include.members([seq, seq + 1]);
      }

      const bad: [string, (runId: string) => Line, RegExp][] = [
        ['a line that is no JSON', () => '{"kind":"poi', /no JSON/],
        ['an empty line', () => '', /no JSON/],
        ['another kind of thing', () => '[1]', /./],
        ['an unknown kind', (run_id) => JSON.stringify({ kind: 'token', run_id, body: {} }), /./],
        ['a point of no number', (run_id) => JSON.stringify(points(run_id, 1)).replace('0.5', '"x"'), /value/],
        ['a name that is no Unicode', (run_id) => JSON.stringify(points(run_id, 1)).replace('loss', '\\ud800'), /Unicode/],
        ['a relative path', (run_id) => JSON.stringify(checkpoint(run_id, 1)).replace('/out', 'out'), /path/],
        ['metadata that is the server’s', (run_id) => ({ kind: 'checkpoint', run_id, ts: 1, body: { path: '/a', metadata: { evaluations: [] } } }), /evaluations/],
        ['an event without a key', (run_id) => JSON.stringify({ kind: 'event', run_id, ts: 1, body: { title: 't' } }), /key/],
        ['a key with NUL', (run_id) => ({ kind: 'event', run_id, key: 'a\u0000b', ts: 1, body: { title: 't' } }), /key/],
        ['a tag with NUL', (run_id) => ({ kind: 'update', run_id, body: { tags: ['a\u0000b'] } }), /tags/],
        ['more than can be read at once', (run_id) => `{"kind":"event","run_id":"${run_id}","key":"k","ts":1,"body":{"title":"t","data":{"a":[${'{},'.repeat(150_000)}0]}}}`, /more than 200000 values/],
        ['10 000 points of nothing', (run_id) => JSON.stringify({ kind: 'points', run_id, body: { points: Array.from({ length: 10_000 }, () => null) } }), /body.points\[0\]: must be an object.*9980 more/],
        ['an update of what is people’s', (run_id) => ({ kind: 'update', run_id, body: { name: 'mine' } }), /write scope/],
        ['nested 5 000 levels deep', (run_id) => `{"kind":"event","run_id":"${run_id}","key":"k","ts":1,"body":{"title":"t","data":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}`, /deep/],
        ['a run that is not there', () => points(newId('run'), 1), /no run/],
        ['an id that is none', () => points('nonsense', 1), /no run/],
      ]; // prettier-ignore
      for (const [what, line, reason] of bad) {
        it(what, () => expectRefused(line(own.runId), reason));
      }

      it('a run of another job', async () => {
        const { runId } = await startJob();
        await expectRefused(points(runId, 1), /not good for/);
        expect(await stepsOf(runId)).to.deep.equal([]);
      });

      it('a run that no job made', async () => {
        const { body: run } = await rig.post('/runs', {});
        await expectRefused(points(run.id, 1), /not good for/);
      });

      it('a run of another node', async () => {
        const other = await rig.agent();
        const { jobId, runId } = await startJob(other);
        const ack = await ship(jobId, [points(runId, 1), event(runId, 'x')], { by: agent });
        expect(ack.refused.map(({ reason }) => /none of an attempt on node/.test(reason))).to.deep.equal([
          true,
          true,
        ]);
        expect(await stepsOf(runId)).to.deep.equal([]);
      });

      it('a run of another attempt, and an attempt that never was', async () => {
        for (const attempt of [2, 99]) {
          const { refused } = await ship(own.jobId, [points(own.runId, 1)], { attempt });
          expect(refused).to.have.length(1);
        }
        expect((await ship(newId('job'), [points(own.runId, 1)])).refused).to.have.length(1);
        expect((await ship('nonsense', [points(own.runId, 1)])).refused).to.have.length(1);
      });
    });

    it('lose of a line only the point that is refused', async () => {
      const { jobId, runId } = await startJob();
      const toPoint = (name: string, seq: number) => ({ seq, name, step: 1, value: seq });
      const many = Array.from({ length: 9_999 }, (_, at) => toPoint(`m${at}`, at));
      expect((await rig.post(`/runs/${runId}/metrics:batch`, { points: many })).status).to.equal(200);
      const names = ['m0', 'the last that fits', 'one too many', 'm1'];
      const list = names.map((name, at) => ({ ...toPoint(name, 20_000 + at), step: 2 }));
      const ack = await ship(jobId, [{ kind: 'points', run_id: runId, body: { points: list } }]);
      expect(ack.refused).to.have.length(1);
      expect(ack.refused[0]?.reason).to.contain('10');
      const { body } = await rig.post('/runs/metrics:query', { run_ids: [runId], names });
      const series = body.series[runId] as Record<string, { steps: number[] }>;
      expect(Object.fromEntries(names.map((name) => [name, series[name]?.steps.at(-1)]))).to.deep.equal({
        m0: 2,
        'the last that fits': 2,
        'one too many': undefined,
        m1: 2,
      });
    });

    it('are told of once for each attempt with refused ones, with how many at least and why', async () => {
      const { jobId, runId } = await startJob();
      const file = 'told.jsonl';
      await ship(jobId, ['{', points(runId, 1), '[]'], { file });
      for (let again = 0; again < 2; again += 1) await ship(jobId, ['{', '{', '{'], { file });
      const [event, ...others] = await eventsOf(runId);
      expect(others).to.deep.equal([]);
      expect(event).to.deep.include({
        severity: 'warning',
        job_id: jobId,
        title: 'At least 2 spooled records were refused',
      });
      expect(event?.data).to.deep.include({ file, attempt: 1, refused: 2, reason: 'the line is no JSON' });
      for (let more = 0; more < 20; more += 1) await ship(jobId, ['{']);
      expect(await eventsOf(runId)).to.have.length(1);
    });

    it('are told of once also when frames of several files come at the same time', async () => {
      const { jobId, runId } = await startJob();
      await Promise.all(Array.from({ length: 20 }, () => ship(jobId, ['{'])));
      const events = await eventsOf(runId);
      expect(events.map(({ title }) => title)).to.deep.equal(['At least 1 spooled record was refused']);
    });

    it('are not told of when they come from an agent that does not have the attempt', async () => {
      const { jobId, runId } = await startJob();
      await ship(jobId, ['{'], { by: await rig.agent(), file: 'of another.jsonl' });
      expect(await eventsOf(runId)).to.have.length(0);
      await ship(jobId, ['{']);
      expect(await eventsOf(runId)).to.have.length(1);
    });

    it('are refused when the server fails on one again and again while its database is well', async () => {
      const { jobId, runId } = await startJob();
      const lines = [points(runId, 1), event(runId, 'poison'), points(runId, 2)];
      const file = 'poisoned.jsonl';
      await rig.kernel.db.schema.renameTable('events', 'events_away');
      const acks: Ack[] = [];
      for (let tries = 1; tries <= 8; tries += 1) acks.push(await ship(jobId, lines, { file }));
      await rig.kernel.db.schema.renameTable('events_away', 'events');
      expect(acks.slice(0, 7).map(({ offset }) => offset)).to.deep.equal(Array(7).fill(110));
      expect(acks[7]?.offset).to.equal(130);
      expect(acks[7]?.refused).to.deep.equal([
        { to: 120, reason: 'the server failed on it 8 times; its log says why' },
      ]);
      expect(await stepsOf(runId)).to.deep.equal([1, 2]);
    });

    it('are not acknowledged from where the database fails on, and go on when it does not', async () => {
      const { jobId, runId } = await startJob();
      const lines = [points(runId, 1), event(runId, 'stuck'), points(runId, 2)];
      await rig.kernel.db.schema.renameTable('events', 'events_away');
      const stuck = await ship(jobId, lines);
      await rig.kernel.db.schema.renameTable('events_away', 'events');
      expect([stuck.offset, stuck.refused]).to.deep.equal([110, []]);
      expect(await stepsOf(runId)).to.deep.equal([1]);
      expect((await ship(jobId, lines)).offset).to.equal(130);
      expect(await stepsOf(runId)).to.deep.equal([1, 2]);
      expect(await eventsOf(runId)).to.have.length(1);
    });
  });
});

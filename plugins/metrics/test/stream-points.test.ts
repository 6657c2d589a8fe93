import type { MetricPoint } from '@svc/contract';
import { eachDatabase, until, type SseClient } from '@svc/kernel/testing';
import { expect } from 'chai';
import { count, MetricsRig, point, UNKNOWN_RUN } from './support/metrics-rig.js';

describe('GET /runs/{run_id}/metrics/stream', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    before(async () => void (rig = await MetricsRig.start(database)));
    after(() => rig.close());

    it('sends live points once, at most 10 messages a second, id the last seq, then the end', async () => {
      const run = await rig.newRun();
      await rig.write(run, [point(0)]);
      const client = await rig.stream(run);
      const startedAt = Date.now();
      for (let seq = 1; seq <= 60; seq += 1) await rig.write(run, [point(seq), point(0)]);
      await rig.finish(run);
      const messages = await all(client);
      const points = messages.flatMap(({ data }) => data.points ?? []) as MetricPoint[];
      expect(points.map(({ seq }) => seq)).to.deep.equal(count(60, 1));
      expect(points[0]).to.have.all.keys('seq', 'name', 'step', 'value', 'ts');
      expect(messages.at(-1)?.event).to.equal('end');
      expect(messages.at(-2)?.id).to.equal('60');
      expect(messages.length).to.be.at.most(3 + Math.ceil((Date.now() - startedAt) / 100));
    });

    it('names: one comma-separated value; only these are sent', async () => {
      const run = await rig.newRun();
      const client = await rig.stream(run, '?names=a/b,c');
      const names = ['a/b', 'x', 'c'];
      await rig.write(
        run,
        names.map((name, seq) => point(seq, { name })),
      );
      await rig.finish(run, 'FAILED');
      const points = (await all(client)).flatMap(({ data }) => data.points ?? []) as MetricPoint[];
      expect(points.map(({ name }) => name)).to.deep.equal(['a/b', 'c']);
    });

    it('values that JSON cannot write are sent as their words', async () => {
      const run = await rig.newRun();
      const client = await rig.stream(run);
      await rig.write(run, [point(0, { value: 'NaN' }), point(1, { value: '-Infinity' })]);
      const { points } = (await client.take()).data as { points: MetricPoint[] };
      expect(points.map(({ value }) => value)).to.deep.equal(['NaN', '-Infinity']);
      await client.close();
    });

    it('of a run that is over ends at once', async () => {
      const run = await rig.newRun();
      await rig.finish(run, 'FAILED');
      expect((await all(await rig.stream(run))).map(({ event }) => event)).to.deep.equal(['end']);
    });

    it('of a run that was LOST goes on until its job is retried', async () => {
      const { http } = rig;
      const agent = await http.agent();
      const job = await http.submit({ node_selector: { node: agent.nodeId } });
      const { run_id } = await agent.startJob(job.id);
      const run = { id: run_id ?? '' };
      await http.reach(job.id, 'RUNNING');
      agent.report({ job_id: job.id, attempt: 1, state: 'ended', exit: { kind: 'lost', reason: 'gone' } });
      await http.reach(job.id, 'LOST');
      const client = await rig.stream(run);
      await rig.write(run, [point(0)]);
      expect((await client.take()).data.points).to.have.length(1);
      await http.post(`/jobs/${job.id}/retry`);
      expect((await all(client)).map(({ event }) => event)).to.deep.equal(['end']);
      await until(async () => (await http.job(job.id)).attempt === 2);
      expect((await all(await rig.stream(run))).map(({ event }) => event)).to.deep.equal(['end']);
    });

    it('an unknown run is not_found', async () => {
      const answer = await rig.http.get(`/runs/${UNKNOWN_RUN}/metrics/stream`);
      expect(answer.body.error.code).to.equal('not_found');
    });
  });
});

async function all(client: SseClient) {
  const messages = [];
  for await (const message of client) messages.push(message);
  return messages;
}

import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { count, MetricsRig, point, pointsOf, UNKNOWN_RUN } from './support/metrics-rig.js';

describe('POST /runs/{run_id}/metrics:batch', () => {
  eachDatabase((database) => {
    let rig: MetricsRig;
    before(async () => void (rig = await MetricsRig.start(database)));
    after(() => rig.close());

    it('a point is identified by (run_id, seq): writing the same again is idempotent', async () => {
      const [run, other] = [await rig.newRun(), await rig.newRun()];
      const batch = [point(0), point(1)];
      expect((await rig.write(run, batch)).body).to.deep.equal({ accepted: 2, duplicates: 0 });
      expect((await rig.write(run, batch)).body).to.deep.equal({ accepted: 0, duplicates: 2 });
      expect((await rig.write(other, batch)).body).to.deep.equal({ accepted: 2, duplicates: 0 });
      expect((await rig.series(run))['loss']?.values).to.deep.equal([0, 1]);
    });

    it('counts what is new and what is not, and tells of what is new', async () => {
      const run = await rig.newRun();
      const first = await rig.write(run, [point(0), point(1), point(1, { value: 99 })], run.ingest_token);
      expect(first.status).to.equal(200);
      expect(first.body).to.deep.equal({ accepted: 2, duplicates: 1 });
      expect((await rig.write(run, [point(1), point(2)])).body).to.deep.equal({ accepted: 1, duplicates: 1 });
      const told = rig.appended
        .filter(({ run_id }) => run_id === run.id)
        .map(({ points }) => points.map(({ seq }) => seq));
      expect(told).to.deep.equal([[0, 1], [2]]);
    });

    it('brings the run on to the highest step and epoch, and never back', async () => {
      const run = await rig.newRun({ max_steps: 40 });
      await rig.write(run, [point(0, { step: 30, epoch: 1.5 }), point(1, { step: 7 })]);
      await rig.write(run, [point(2, { step: 10, epoch: 1 })]);
      expect((await rig.http.get(`/runs/${run.id}`)).body).to.include({ step: 30, epoch: 1.5 });
    });

    it('when a metric is first seen, a definition is created automatically with a direction guessed from its name', async () => {
      const run = await rig.newRun({ project: 'first-sight' });
      await rig.write(run, [...pointsOf('first/acc', [1]), ...pointsOf('first/loss', [1], 10)]);
      await rig.write(run, pointsOf('first/late_f1', [1], 20));
      const { items } = (await rig.http.get('/metric-definitions?limit=1000')).body;
      const made = items.filter(({ name }: { name: string }) => name.startsWith('first/'));
      expect(made).to.have.length(3);
      for (const definition of made) {
        expect(definition).to.deep.include({ level: 'global', auto: true, is_primary: false });
        expect(definition.direction).to.equal(definition.name === 'first/loss' ? 'minimize' : 'maximize');
      }
    });

    it('many runs that see the same metrics first, at once, define each once', async () => {
      const runs = await Promise.all(count(8).map(() => rig.newRun()));
      const names = count(200).map((index) => `shared/${(index * 37) % 200}`);
      const answers = await Promise.all(
        runs.map((run, turn) => {
          const own = turn % 2 === 0 ? names : names.toReversed();
          return rig.write(
            run,
            own.map((name, seq) => point(seq, { name })),
          );
        }),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(runs.map(() => 200));
      const defined = await rig.http.kernel.db('metric_definitions').where('name', 'like', 'shared/%');
      expect(defined).to.have.length(200);
    });

    it('a batch that is refused defines nothing', async () => {
      const run = await rig.newRun();
      const names = count(10_001).map((seq) => point(seq, { name: `refused/${seq}` }));
      await rig.write(run, names.slice(0, 5000));
      expect((await rig.write(run, names.slice(5000, 10_001))).status).to.equal(422);
      const { defined } = (await rig.http.kernel
        .db('metric_definitions')
        .where('name', 'like', 'refused/%')
        .count({ defined: '*' })
        .first()) as { defined: number };
      expect(Number(defined)).to.equal(5000);
    });

    it('takes 1 to 10 000 points', async () => {
      const run = await rig.newRun();
      expect((await rig.write(run, [point(0)])).body.accepted).to.equal(1);
      expect(
        (
          await rig.write(
            run,
            count(10_000, 1).map((seq) => point(seq)),
          )
        ).body.accepted,
      ).to.equal(10_000);
      const { loss } = await rig.series(run, '?limit=10');
      expect(loss).to.include({ total: 10_001 });
    });

    it('takes a run ingest token, or one of sdk or write scope, and no other', async () => {
      const { tokens } = rig.http;
      const [run, other] = [await rig.newRun(), await rig.newRun()];
      for (const [seq, token] of [run.ingest_token, tokens.sdk, tokens.write].entries())
        expect((await rig.write(run, [point(seq)], token)).status).to.equal(200);
      for (const token of [other.ingest_token, tokens.read, tokens.agent])
        expect((await rig.write(run, [point(9)], token)).body.error.code).to.equal('forbidden');
      expect((await rig.series(run))['loss']?.total).to.equal(3);
    });

    it('points for a run that has ended are taken within the grace of its token', async () => {
      const run = await rig.newRun();
      await rig.finish(run, 'SUCCEEDED', run.ingest_token);
      expect((await rig.write(run, [point(0)], run.ingest_token)).body.accepted).to.equal(1);
    });

    it('an unknown or malformed run is not_found', async () => {
      for (const id of [UNKNOWN_RUN, 'nonsense', 'job_01HZZZZZZZZZZZZZZZZZZZZZZZ'])
        expect((await rig.write({ id }, [point(0)])).body.error.code, id).to.equal('not_found');
    });

    it('stores what many clients send at once, each point once', async () => {
      const run = await rig.newRun();
      const send = (start: number) =>
        rig.write(
          run,
          count(100, start).map((seq) => point(seq)),
        );
      const answers = await Promise.all(count(20).map((index) => send(Math.floor(index / 2) * 100)));
      const accepted = answers.reduce((sum, { body }) => sum + body.accepted, 0);
      expect(accepted).to.equal(1000);
      expect((await rig.series(run))['loss']?.steps).to.deep.equal(count(1000));
    });
  });
});

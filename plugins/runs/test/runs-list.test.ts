import type { Run } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

const UNKNOWN = '01HZZZZZZZZZZZZZZZZZZZZZZZ';

eachDatabase((database) => {
  let rig: Rig;
  before(async () => void (rig = await Rig.start({ database })));
  after(() => rig.close());

  const list = async (path: string): Promise<Run[]> => {
    const { status, body } = await rig.get(path);
    expect(status, `${path} ${JSON.stringify(body)}`).to.equal(200);
    return body.items;
  };
  const ids = async (path: string) => (await list(path)).map(({ id }) => id);
  const names = async (path: string) => (await list(path)).map(({ name }) => name);

  describe('GET /runs', () => {
    it('applies every given filter, including job_id, newest first, with ids in either form', async () => {
      const job = await rig.submit({ project: 'lists', experiment: 'a', node_selector: { node: 'nowhere' } });
      const a = await rig.createRun({ project: 'lists', experiment: 'a' });
      const b = await rig.createRun({ project: 'lists', experiment: 'b' });
      const c = await rig.createRun({ project: 'lists', experiment: 'a' });
      const d = await rig.createRun({ job_id: job.id });
      await rig.post(`/runs/${c.id}/finish`, { status: 'FAILED' });
      const { project_id, experiment_id } = a;
      expect(await ids(`/runs?project_id=${project_id}`)).to.deep.equal([d.id, c.id, b.id, a.id]);
      expect(await ids(`/runs?project_id=${project_id}&limit=2`)).to.deep.equal([d.id, c.id]);
      expect(await ids(`/runs?experiment_id=${experiment_id.slice(4)}`)).to.deep.equal([d.id, c.id, a.id]);
      expect(await ids(`/runs?experiment_id=${experiment_id}&status=RUNNING`)).to.deep.equal([d.id, a.id]);
      expect(await ids(`/runs?job_id=${job.id.slice(4)}`)).to.deep.equal([d.id]);
      const all = `project_id=${project_id}&experiment_id=${experiment_id}&job_id=${job.id}`;
      expect(await ids(`/runs?${all}&status=RUNNING&limit=5&q=train`)).to.deep.equal([d.id]);
      for (const other of [
        `${all}&status=FAILED`,
        `${all}&q=other`,
        `${all}&tags=x`,
        `experiment_id=${b.experiment_id}&job_id=${job.id}`,
      ])
        expect(await ids(`/runs?${other}`), other).to.deep.equal([]);
      expect((await rig.get(`/runs?project_id=${project_id}&job_id=job_${UNKNOWN}`)).status).to.equal(404);
    });

    it('has the runs of exactly a name', async () => {
      const { id } = await rig.createRun({ name: 'Exact name' });
      await rig.createRun({ name: 'Exact name, longer' });
      expect(await ids('/runs?name=Exact%20name')).to.deep.equal([id]);
      expect(await ids('/runs?name=exact%20name')).to.deep.equal([]);
    });

    it('finds a name by an index', async () => {
      const { db } = rig.kernel;
      const query = db('runs').where({ name: 'none' }).orderBy('created_at', 'desc').limit(1);
      const plan = await db.transaction(async (tx) => {
        const isSqlite = database.client === 'sqlite';
        // Of a few rows PostgreSQL reads all.
        if (!isSqlite) await tx.raw('set local enable_seqscan = off');
        return tx.raw(
          `${isSqlite ? 'explain query plan' : 'explain'} ${query.toString()}`,
        ) as Promise<object>;
      });
      expect(JSON.stringify(plan)).to.contain('runs_name_created_at_index');
    });

    it('goes on behind the run that `before` names, in every list of runs', async () => {
      const job = await rig.submit({ project: 'pages', experiment: 'a', node_selector: { node: 'nowhere' } });
      const made: string[] = [];
      for (let index = 0; index < 5; index += 1) made.unshift((await rig.createRun({ job_id: job.id })).id);
      const { project_id, experiment_id } = (await list(`/jobs/${job.id}/runs`))[0]!;
      // Of one moment, and not of the moment that its id tells.
      await rig.kernel.db('runs').whereIn('id', made.slice(0, 3)).update({ created_at: 5 });
      const order = [...made.slice(3), ...made.slice(0, 3)];
      for (const path of [
        `/runs?project_id=${project_id}&q=train&`,
        `/experiments/${experiment_id}/runs?`,
        `/jobs/${job.id}/runs?`,
      ]) {
        expect(await ids(`${path}limit=2`), path).to.deep.equal(order.slice(0, 2));
        expect(await ids(`${path}limit=2&before=${order[1]}`), path).to.deep.equal(order.slice(2, 4));
        expect(await ids(`${path}before=${order[3]!.slice(4)}`), path).to.deep.equal(order.slice(4));
        expect(await ids(`${path}before=${order[4]}`), path).to.deep.equal([]);
        expect((await rig.get(`${path}before=run_${UNKNOWN}`)).status, path).to.equal(404);
      }
    });

    it('searches by name: every word, whatever its case, and no wildcards', async () => {
      const { project_id } = await rig.createRun({ project: 'search', name: 'ResNet-50 lr=0.1 Größe' });
      await rig.createRun({ project: 'search', name: 'resnet_18 100%' });
      const search = (q: string) => names(`/runs?project_id=${project_id}&q=${encodeURIComponent(q)}`);
      expect(await search('resnet')).to.have.length(2);
      expect(await search(' LR=0.1  resnet ')).to.deep.equal(['ResNet-50 lr=0.1 Größe']);
      expect(await search('GRÖSSE')).to.deep.equal([]);
      expect(await search('GRÖßE')).to.deep.equal(['ResNet-50 lr=0.1 Größe']);
      expect(await search('t_1')).to.deep.equal(['resnet_18 100%']);
      expect(await search('t_5')).to.deep.equal([]);
      expect(await search('%')).to.deep.equal(['resnet_18 100%']);
      expect(await search("'; drop table runs; --")).to.deep.equal([]);
      expect(await search('')).to.have.length(2);
    });

    it('finds a run by the beginning or the end of its id, in any letter case, beside words of the name', async () => {
      const { id } = await rig.createRun({ name: 'by its id' });
      await rig.createRun({ name: 'by its id' });
      const ulid = id.slice(4);
      for (const q of [id, ulid, ulid.slice(-6), ulid.slice(-6).toLowerCase(), `its ${ulid.slice(-8)}`])
        expect(await ids(`/runs?q=${encodeURIComponent(q)}`), q).to.deep.equal([id]);
      expect(await ids(`/runs?q=run_${ulid.slice(0, 6)}&limit=1000`)).to.include(id);
      for (const q of [ulid.slice(-5), ulid.slice(2, -2), `job_${ulid}`, `other ${ulid}`])
        expect(await ids(`/runs?q=${encodeURIComponent(q)}`), q).to.deep.equal([]);
    });

    it('finds a run by the name that it has now', async () => {
      const { id } = await rig.createRun({ name: 'before-renaming' });
      await rig.patch(`/runs/${id}`, { name: 'After-renaming' });
      expect(await ids('/runs?q=before-renaming')).to.deep.equal([]);
      expect(await ids('/runs?q=after-renaming')).to.deep.equal([id]);
    });

    it('filters by tags: the run has every one of them, as it is written', async () => {
      const one = await rig.createRun({ tags: ['base', 'lr sweep'] });
      const two = await rig.createRun({ tags: ['base', 'Best'] });
      expect(await ids('/runs?tags=base')).to.deep.equal([two.id, one.id]);
      expect(await ids('/runs?tags=base,%20lr%20sweep')).to.deep.equal([one.id]);
      expect(await ids('/runs?tags=best')).to.deep.equal([]);
      expect(await ids('/runs?tags=bas')).to.deep.equal([]);
      await rig.patch(`/runs/${one.id}`, { tags: ['Best'] });
      expect(await ids('/runs?tags=base')).to.deep.equal([two.id]);
      expect(await ids('/runs?tags=Best')).to.deep.equal([two.id, one.id]);
      await rig.patch(`/runs/${one.id}`, { tags: [] });
      expect(await ids('/runs?tags=Best')).to.deep.equal([two.id]);
    });

    it('shows a small config and environment whole, and of large ones the short values', async () => {
      const small = { lr: 0.1, layers: [1, 2, 3], note: 'x'.repeat(500) };
      const packages = Array.from({ length: 400 }, (_, index) => `package-${index}==1.0.${index}`);
      const git = { commit: 'c'.repeat(40), branch: 'main', dirty: true };
      const large = { hostname: 'h', packages, git: { ...git, diff: '+x\n'.repeat(100_000) } };
      const run = await rig.createRun({ name: 'listed', config: small, environment: large });
      expect(run).to.deep.include({ config: small, environment: large });
      const [listed] = await list('/runs?q=listed');
      expect(listed).to.deep.include({ config: small, environment: { hostname: 'h', git } });
      const { ingest_token: _, ...record } = run;
      expect((await rig.get(`/runs/${run.id}`)).body).to.deep.equal(record);
      expect({ ...listed, environment: large }).to.deep.equal(record);
    });

    it('shows at most 2 KiB of each, however many values there are', async () => {
      const config = Object.fromEntries(
        Array.from({ length: 5000 }, (_, index) => [`key ${index} é`, index]),
      );
      const run = await rig.createRun({ name: 'many values', config });
      const [listed] = await list('/runs?q=many%20values');
      expect(Buffer.byteLength(JSON.stringify(listed?.config))).to.be.within(1900, 2048);
      expect(listed?.config).to.include({ 'key 0 é': 0 });
      expect((await rig.get(`/runs/${run.id}`)).body.config).to.deep.equal(config);
    });

    it('shows little of what has very many entries, whole or within', async () => {
      const many = Object.fromEntries(Array.from({ length: 12_000 }, (_, index) => [`k${index}`, 'x']));
      await rig.createRun({ name: 'wide', config: { lr: 1, many }, environment: many });
      const [listed] = await list('/runs?q=wide');
      expect(listed?.config).to.deep.equal({ lr: 1 });
      expect(Buffer.byteLength(JSON.stringify(listed?.environment))).to.be.within(1900, 2048);
    });

    it('refuses what is wrong', async () => {
      const wrong = ['limit=0', 'limit=1001', 'limit=x', 'status=DONE', 'colour=red', 'q=%00', 'tags=a%00b'];
      for (const query of [...wrong, `q=${'x'.repeat(201)}`]) {
        expect((await rig.get(`/runs?${query}`)).status, query).to.equal(422);
      }
      for (const filter of ['job_id', 'project_id', 'experiment_id'])
        expect((await rig.get(`/runs?${filter}=nonsense`)).status, filter).to.equal(404);
      expect((await rig.get('/runs', rig.tokens.agent)).status).to.equal(403);
    });
  });

  describe('GET /experiments/{experiment_id}/runs', () => {
    it('answers the runs of the experiment, newest first, as many as asked for', async () => {
      const place = { project: 'of-experiment', experiment: 'e' };
      const [one, two] = [await rig.createRun(place), await rig.createRun(place)];
      await rig.createRun({ ...place, experiment: 'other' });
      expect(await ids(`/experiments/${one.experiment_id}/runs`)).to.deep.equal([two.id, one.id]);
      expect(await ids(`/experiments/${one.experiment_id.slice(4)}/runs?limit=1`)).to.deep.equal([two.id]);
    });

    it('answers 404 to an unknown experiment, 422 to a wrong limit', async () => {
      expect((await rig.get(`/experiments/exp_${UNKNOWN}/runs`)).status).to.equal(404);
      const { experiment_id } = await rig.createRun({ experiment: 'limits' });
      expect((await rig.get(`/experiments/${experiment_id}/runs?limit=0`)).status).to.equal(422);
      expect((await rig.get(`/experiments/${experiment_id}/runs?q=x`)).status).to.equal(422);
    });
  });

  describe('GET /jobs/{job_id}/runs', () => {
    it('answers all runs produced by the job across attempts', async () => {
      const agent = await rig.agent();
      const job = await rig.submit({ node_selector: { node: agent.nodeId } });
      for (const attempt of [1, 2]) {
        const { env } = await agent.startJob(job.id, attempt);
        await rig.reach(job.id, 'RUNNING');
        expect((await rig.post('/runs', { name: `more ${attempt}` }, env['SVC_TOKEN'])).status).to.equal(201);
        agent.end(job.id, { kind: 'exited', code: attempt === 1 ? 3 : 0 }, attempt);
        await rig.reach(job.id, attempt === 1 ? 'FAILED' : 'SUCCEEDED');
        if (attempt === 1) await rig.post(`/jobs/${job.id}/retry`);
      }
      const found = (await list(`/jobs/${job.id}/runs`)).map(
        ({ name, attempt, status, source }) => `${attempt} ${name} ${status} ${source}`,
      );
      expect(found).to.have.members([
        '2 more 2 SUCCEEDED sdk',
        '2 train SUCCEEDED job',
        '1 more 1 FAILED sdk',
        '1 train FAILED job',
      ]);
      expect(found.slice(0, 2).every((run) => run.startsWith('2 '))).to.equal(true);
      expect(await ids(`/runs?job_id=${job.id}`)).to.deep.equal(await ids(`/jobs/${job.id}/runs`));
    });

    it('answers 404 to an unknown job', async () => {
      expect((await rig.get(`/jobs/job_${UNKNOWN}/runs`)).status).to.equal(404);
      expect((await rig.get('/jobs/nonsense/runs')).status).to.equal(404);
    });
  });

  describe('GET /runs/{run_id}', () => {
    it('answers the run to its id in either form, 404 to any other', async () => {
      const { ingest_token: _, ...run } = await rig.createRun();
      expect((await rig.get(`/runs/${run.id}`)).body).to.deep.equal(run);
      expect((await rig.get(`/runs/${run.id.slice(4).toLowerCase()}`)).body).to.deep.equal(run);
      for (const id of [`run_${UNKNOWN}`, `job_${run.id.slice(4)}`, 'nonsense', '%00'])
        expect((await rig.get(`/runs/${id}`)).status, id).to.equal(404);
    });
  });
});

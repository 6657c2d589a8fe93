import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { DefinitionsRig } from './support/definitions-rig.js';

describe('PUT /runs/{run_id}/metric-definitions/{name:path}', () => {
  eachDatabase((database) => {
    let rig: DefinitionsRig;
    before(async () => void (rig = await DefinitionsRig.start(database)));
    after(() => rig.kernel.close());
    beforeEach(() => rig.forget());

    const define = (id: string, name: string, body: object, token?: string) =>
      rig.http.kernel.request('PUT', `/runs/${id}/metric-definitions/${name}`, {
        token: token ?? rig.http.tokens.sdk,
        body,
      });
    const newRun = () => rig.http.createRun({ project: 'vision', experiment: 'resnet' });

    it('lets a training say with its own token what a metric means in its run, which is the nearest level', async () => {
      const { id, project_id, experiment_id, ingest_token } = await newRun();
      await rig.put('eval/psi', { experiment_id, direction: 'minimize', unit: 'm', is_primary: true });
      await rig.put('loss', { project_id });
      const body = { direction: 'maximize', unit: '%', is_primary: true };
      const made = await define(id, 'eval/psi', body, ingest_token);
      expect(made.status).to.equal(201);
      expect(made.body).to.deep.equal({
        ...body,
        name: 'eval/psi',
        level: 'run',
        run_id: id,
        project_id,
        experiment_id,
        guessed: false,
        guessed_from: null,
        auto: false,
        description: '',
      });
      const changed = await define(id, 'eval/psi', { unit: 'dB' }, ingest_token);
      expect([changed.status, changed.body]).to.deep.equal([200, { ...made.body, unit: 'dB' }]);
      expect(await rig.applying(`?run_id=${id}`)).to.deep.equal({
        'eval/psi': 'run maximize *',
        loss: 'project minimize',
      });
      expect(await rig.applying(`?experiment_id=${experiment_id}`), 'others').to.deep.equal({
        'eval/psi': 'experiment minimize *',
        loss: 'project minimize',
      });
    });

    it('starts with what applied there before, and holds without a project too', async () => {
      const { id, experiment_id } = await newRun();
      await rig.put('loss', { experiment_id, unit: 'nat', description: 'd' });
      expect((await define(id, 'loss', {})).body).to.include({
        unit: 'nat',
        description: 'd',
        is_primary: false,
      });
      const alone = await rig.http.createRun();
      await define(alone.id, 'score2', { direction: 'maximize', is_primary: true });
      expect(await rig.applying(`?run_id=${alone.id}`)).to.deep.equal({ score2: 'run maximize *' });
      expect(await rig.applying()).to.deep.equal({});
      const placement = { project_id: null, experiment_id: null };
      const meanings = async (run_id?: string) =>
        (
          await rig.service.meanings(rig.kernel.db, { ...placement, ...(run_id && { run_id }) }, ['score2'])
        ).get('score2');
      expect(await meanings(alone.id)).to.include({
        direction: 'maximize',
        guessed: false,
        is_primary: true,
      });
      expect(await meanings()).to.include({ direction: 'minimize', guessed: true, is_primary: false });
    });

    it('is for the run of the token alone', async () => {
      const [mine, other] = [await newRun(), await newRun()];
      expect((await define(mine.id, 'loss', {}, other.ingest_token)).status).to.equal(403);
      expect((await define(mine.id, 'loss', {}, rig.http.tokens.read)).status).to.equal(403);
      expect((await define('run_01HZZZZZZZZZZZZZZZZZZZZZZZ', 'loss', {})).status).to.equal(404);
      expect(await rig.items(`?run_id=${mine.id}`)).to.deep.equal([]);
    });

    it('refuses other directions, names and levels', async () => {
      const { id, project_id } = await newRun();
      for (const body of [{ direction: 'up' }, { project_id }, { unit: 7 }])
        expect((await define(id, 'loss', body)).status).to.equal(422);
      expect((await define(id, 'x'.repeat(251), {})).status).to.equal(422);
      const { status, body } = await rig.list(`?run_id=${id}&project_id=${project_id}`);
      expect([status, body.error.details.errors[0].path]).to.deep.equal([422, 'run_id']);
    });

    it('takes 1000 names, and no more', async () => {
      const { id } = await newRun();
      await define(id, 'first', {});
      const [row] = await rig.kernel.db('metric_definitions').where({ level_id: id });
      const rows = Array.from({ length: 999 }, (_, at) => ({ ...row, name: `m${at}` }));
      await rig.kernel.db.batchInsert('metric_definitions', rows, 50);
      expect((await define(id, 'first', { unit: 's' })).status).to.equal(200);
      expect((await define(id, 'one more', {})).status).to.equal(409);
    });
  });
});

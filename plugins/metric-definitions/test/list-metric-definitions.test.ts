import { newId } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { DefinitionsRig } from './support/definitions-rig.js';

describe('GET /metric-definitions', () => {
  eachDatabase((database) => {
    let rig: DefinitionsRig;
    before(async () => void (rig = await DefinitionsRig.start(database)));
    after(() => rig.kernel.close());
    beforeEach(() => rig.forget());

    it('when a metric is first seen, a definition is created automatically with a direction guessed from its name', async () => {
      await rig.see('eval/acc', 'train/loss');
      const guessed = {
        level: 'global',
        project_id: null,
        experiment_id: null,
        auto: true,
        guessed: true,
        is_primary: false,
        unit: null,
        description: '',
      };
      expect(await rig.items()).to.deep.equal([
        { name: 'eval/acc', direction: 'maximize', guessed_from: 'acc', ...guessed },
        { name: 'train/loss', direction: 'minimize', guessed_from: 'loss', ...guessed },
      ]);
    });

    it('a direction that no word of the name tells is guessed from nothing, until somebody sets it', async () => {
      await rig.see('psi');
      const guess = { direction: 'minimize', guessed: true, guessed_from: null };
      expect((await rig.items())[0]).to.include({ ...guess, auto: true });
      await rig.put('psi', { unit: 'm' });
      expect((await rig.items())[0], 'the unit says nothing of it').to.include({ ...guess, auto: false });
      await rig.patch('psi', { direction: 'minimize' });
      expect((await rig.items())[0]).to.include({
        direction: 'minimize',
        guessed: false,
        guessed_from: null,
      });
    });

    it('a direction that is set on a farther level applies where a nearer one has only a guess', async () => {
      const { vision, resnet } = rig;
      await rig.put('psi', { experiment_id: resnet.id, unit: 'm' });
      await rig.put('psi', { project_id: vision.id, direction: 'maximize' });
      const [found] = await rig.items(`?experiment_id=${resnet.id}`);
      expect(found).to.include({ level: 'experiment', unit: 'm', direction: 'maximize', guessed: false });
      const placement = { project_id: vision.id, experiment_id: resnet.id };
      const meanings = await rig.service.meanings(rig.kernel.db, placement, ['psi']);
      expect(meanings.get('psi')).to.include({ direction: 'maximize', guessed: false });
    });

    it('seen again, a definition stays as somebody has set it', async () => {
      await rig.see('loss');
      await rig.put('loss', { direction: 'maximize', unit: 'nat' });
      await rig.see('loss', 'loss');
      expect(await rig.items()).to.have.length(1);
      expect((await rig.items())[0]).to.include({ direction: 'maximize', unit: 'nat', auto: false });
    });

    it('experiment overrides project, and project overrides global', async () => {
      const { vision, speech, resnet } = rig;
      for (const name of ['a', 'b', 'c']) await rig.put(name, { direction: 'minimize' });
      for (const name of ['b', 'c']) await rig.put(name, { direction: 'maximize', project_id: vision.id });
      await rig.put('c', { direction: 'minimize', experiment_id: resnet.id });
      const global = { a: 'global minimize', b: 'global minimize', c: 'global minimize' };
      const project = { ...global, b: 'project maximize', c: 'project maximize' };
      expect(await rig.applying()).to.deep.equal(global);
      expect(await rig.applying(`?project_id=${speech.id}`)).to.deep.equal(global);
      expect(await rig.applying(`?project_id=${vision.id}`)).to.deep.equal(project);
      const experiment = { ...project, c: 'experiment minimize' };
      expect(await rig.applying(`?experiment_id=${resnet.id}`)).to.deep.equal(experiment);
      expect(await rig.applying(`?experiment_id=${resnet.id}&project_id=${vision.id}`)).to.deep.equal(
        experiment,
      );
    });

    it('records name their level: an experiment’s has its project too', async () => {
      const { vision, resnet } = rig;
      await rig.put('a', { project_id: vision.id });
      await rig.put('b', { experiment_id: resnet.id });
      const [a, b] = (await rig.items(`?experiment_id=${resnet.id}`)).toSorted((x, y) =>
        x.name < y.name ? -1 : 1,
      );
      expect(a).to.include({ level: 'project', project_id: vision.id, experiment_id: null });
      expect(b).to.include({ level: 'experiment', project_id: vision.id, experiment_id: resnet.id });
    });

    it('the nearest level that has a primary decides: at most one is primary in an answer', async () => {
      const { vision, speech, resnet } = rig;
      await rig.see('a', 'b', 'c');
      await rig.setPrimary({ name: 'a' });
      await rig.setPrimary({ name: 'b', project_id: vision.id });
      const primaryAt = async (query: string) =>
        (await rig.items(query)).filter(({ is_primary }) => is_primary).map(({ name }) => name);
      expect(await primaryAt('')).to.deep.equal(['a']);
      expect(await primaryAt(`?project_id=${speech.id}`)).to.deep.equal(['a']);
      expect(await primaryAt(`?experiment_id=${resnet.id}`)).to.deep.equal(['b']);
      await rig.put('a', { experiment_id: resnet.id, is_primary: true });
      expect(await primaryAt(`?experiment_id=${resnet.id}`)).to.deep.equal(['a']);
      expect(await primaryAt(`?project_id=${vision.id}`)).to.deep.equal(['b']);
    });

    it('the primary one comes first, then those that people have set, then automatic ones, newest first', async () => {
      await rig.put('old', {});
      await rig.see('seen');
      await rig.put('new', {});
      await rig.see('primary');
      await rig.setPrimary({ name: 'primary' });
      const names = async (query = '') => (await rig.items(query)).map(({ name }) => name);
      expect((await names())[0]).to.equal('primary');
      expect((await names()).slice(1, 3)).to.have.members(['new', 'old']);
      expect((await names())[3]).to.equal('seen');
      expect(await names('?limit=2')).to.deep.equal((await names()).slice(0, 2));
    });

    it('answers 200 of them unless a limit of up to 1000 is given', async () => {
      await rig.see(...Array.from({ length: 1100 }, (_, index) => `m/${index}`));
      expect(await rig.items()).to.have.length(200);
      expect(await rig.items('?limit=1000')).to.have.length(1000);
      for (const limit of ['0', '1001', 'x'])
        expect((await rig.list(`?limit=${limit}`)).status).to.equal(422);
    });

    it('takes ids without their prefix; one that is unknown or malformed is not_found', async () => {
      await rig.put('a', { project_id: rig.vision.id.slice('prj_'.length) });
      expect(await rig.applying(`?project_id=${rig.vision.id.slice('prj_'.length)}`)).to.have.property('a');
      for (const query of [
        `project_id=${newId('project')}`,
        'project_id=vision',
        `experiment_id=${newId('experiment')}`,
        `experiment_id=${rig.vision.id}`,
      ]) {
        expect((await rig.list(`?${query}`)).body.error.code, query).to.equal('not_found');
      }
    });

    it('an experiment of another project is refused, naming its own', async () => {
      const answer = await rig.list(`?experiment_id=${rig.resnet.id}&project_id=${rig.speech.id}`);
      expect(answer.status).to.equal(422);
      expect(answer.body.error.message).to.include(rig.vision.id);
      expect(answer.body.error.details.errors[0].path).to.equal('project_id');
    });

    it('read scope suffices, sdk scope does not', async () => {
      expect((await rig.list('', 'read')).status).to.equal(200);
      expect((await rig.list('', 'write')).status).to.equal(200);
      expect((await rig.list('', 'sdk')).status).to.equal(403);
    });

    it('an experiment that moves keeps its own, and has its new project’s above it', async () => {
      const { vision, speech, resnet } = rig;
      await rig.put('own', { experiment_id: resnet.id });
      await rig.put('loss', { direction: 'maximize', project_id: speech.id });
      const move = (project_id: string) => rig.http.patch(`/experiments/${resnet.id}`, { project_id });
      await move(speech.id);
      expect(await rig.applying(`?experiment_id=${resnet.id}`)).to.deep.equal({
        own: 'experiment minimize',
        loss: 'project maximize',
      });
      const [own] = (await rig.items(`?experiment_id=${resnet.id}`)).filter(({ name }) => name === 'own');
      expect(own?.project_id).to.equal(speech.id);
      await move(vision.id);
    });

    it('deleting a project or an experiment takes its definitions with it', async () => {
      const { kernel } = rig;
      const create = async (path: string, body: object) =>
        (await rig.http.post(path, body)).body.id as string;
      const project_id = await create('/projects', { name: 'short' });
      const experiment_id = await create('/experiments', { name: 'e', project_id });
      await rig.put('a', { project_id, is_primary: true });
      await rig.put('b', { experiment_id, is_primary: true });
      expect((await rig.delete(`/experiments/${experiment_id}`)).status).to.equal(200);
      expect((await kernel.db('metric_definitions')).map(({ name }) => name as string)).to.deep.equal(['a']);
      expect((await rig.delete(`/projects/${project_id}`)).status).to.equal(200);
      expect(await kernel.db('metric_definitions')).to.deep.equal([]);
      expect(await kernel.db('metric_levels').whereIn('id', [project_id, experiment_id])).to.deep.equal([]);
    });
  });
});

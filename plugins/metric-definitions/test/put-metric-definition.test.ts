import { newId } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { DefinitionsRig } from './support/definitions-rig.js';

describe('PUT /metric-definitions/{name:path}', () => {
  eachDatabase((database) => {
    let rig: DefinitionsRig;
    before(async () => void (rig = await DefinitionsRig.start(database)));
    after(() => rig.kernel.close());
    beforeEach(() => rig.forget());

    it('creates, answering 201, then updates, answering 200', async () => {
      const body = { direction: 'maximize', is_primary: true, unit: '%', description: 'on the held-out set' };
      const made = await rig.put('loss', body);
      expect(made.status).to.equal(201);
      expect(made.body).to.deep.equal({
        ...body,
        name: 'loss',
        level: 'global',
        project_id: null,
        experiment_id: null,
        guessed: false,
        guessed_from: null,
        auto: false,
      });
      const changed = await rig.put('loss', { direction: 'minimize' });
      expect(changed.status).to.equal(200);
      expect(changed.body).to.deep.equal({ ...made.body, direction: 'minimize' });
      expect(await rig.items()).to.deep.equal([changed.body]);
    });

    it('what is left out of a new one is guessed from the name', async () => {
      expect((await rig.put('eval/acc')).body).to.include({
        direction: 'maximize',
        is_primary: false,
        unit: null,
        description: '',
      });
      expect((await rig.put('x')).body).to.include({ direction: 'minimize' });
    });

    it('what is left out of a new one below the global level is as it applied there before', async () => {
      const { vision, resnet } = rig;
      await rig.put('loss', { direction: 'maximize', unit: 'nat', description: 'd', is_primary: true });
      const project = await rig.put('loss', { project_id: vision.id, unit: 'bit' });
      expect(project.status).to.equal(201);
      expect(project.body).to.include({
        direction: 'maximize',
        unit: 'bit',
        description: 'd',
        is_primary: false,
      });
      const experiment = await rig.put('loss', { experiment_id: resnet.id, unit: null });
      expect(experiment.body).to.include({ direction: 'maximize', unit: null, level: 'experiment' });
    });

    it('an automatic one becomes one that somebody has set', async () => {
      await rig.see('loss');
      const { status, body } = await rig.put('loss', { unit: 'nat' });
      expect({ status, auto: body.auto }).to.deep.equal({ status: 200, auto: false });
    });

    it('setting a metric primary clears the primary flag on every other metric definition of the level', async () => {
      const { vision } = rig;
      await rig.put('a', { is_primary: true });
      await rig.put('p', { is_primary: true, project_id: vision.id });
      await rig.put('b', { is_primary: true });
      expect(await rig.applying()).to.deep.equal({ a: 'global minimize', b: 'global minimize *' });
      expect((await rig.applying(`?project_id=${vision.id}`))['p']).to.equal('project minimize *');
      await rig.put('a', { is_primary: false });
      expect((await rig.applying())['b'], 'it was not primary').to.equal('global minimize *');
      await rig.put('b', { is_primary: false });
      expect((await rig.applying())['b']).to.equal('global minimize');
    });

    it('of many that become primary at once, one is', async () => {
      const names = Array.from({ length: 10 }, (_, index) => `m${index}`);
      const answers = await Promise.all(names.map((name) => rig.put(name, { is_primary: true })));
      expect(answers.map(({ status }) => status)).to.deep.equal(names.map(() => 201));
      expect((await rig.items()).filter(({ is_primary }) => is_primary)).to.have.length(1);
    });

    it('of many that create the same at once, one answers 201', async () => {
      const puts = Array.from({ length: 8 }, () => rig.put('same', { project_id: rig.vision.id }));
      const statuses = (await Promise.all(puts)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).to.have.length(1);
      expect(statuses.filter((status) => status === 200)).to.have.length(7);
    });

    it('metric names are free strings that may contain slashes, encoded or plain', async () => {
      expect((await rig.put('train/loss', { unit: 'plain' })).body.name).to.equal('train/loss');
      expect((await rig.put('train%2Floss', { unit: 'encoded' })).status).to.equal(200);
      expect(await rig.items()).to.have.length(1);
      for (const name of [
        'a//b',
        '/a',
        'a/',
        'a b',
        'ü/λ/💥',
        'a%b',
        'a?b#c',
        'a+b&c=d',
        ':recommend',
        '*',
        "'; drop table",
      ]) {
        const { status, body } = await rig.put(encodeURIComponent(name));
        expect({ status, name: body.name as unknown }).to.deep.equal({ status: 201, name });
        expect((await rig.patch(encodeURIComponent(name), { unit: 's' })).body.name).to.equal(name);
      }
    });

    it('a name that no point can have is refused', async () => {
      for (const [name, why] of [
        ['x'.repeat(251), 'at most 250 characters'],
        ['a%00b', 'control character'],
        ['a%0Ab', 'control character'],
      ] as const) {
        const { status, body } = await rig.put(name);
        expect(status, name).to.equal(422);
        expect(body.error.details.errors[0].path).to.equal('name');
        expect(body.error.message).to.include(why);
      }
      expect((await rig.put('x'.repeat(250))).status).to.equal(201);
    });

    it('fields that are wrong or unknown are refused, naming them', async () => {
      for (const [body, path] of [
        [{ direction: 'down' }, 'direction'],
        [{ is_primary: 'yes' }, 'is_primary'],
        [{ unit: 'x'.repeat(51) }, 'unit'],
        [{ description: 1 }, 'description'],
        [{ descripton: 'x' }, 'descripton'],
        [{ level: 'global' }, 'level'],
        [{ name: 'other' }, 'name'],
      ] as const) {
        const answer = await rig.put('loss', body);
        expect(answer.status, path).to.equal(422);
        expect(answer.body.error.details.errors[0].path).to.equal(path);
      }
      expect(await rig.items()).to.deep.equal([]);
    });

    it('project_id or experiment_id name the level; unknown ones are not_found and create nothing', async () => {
      const { vision, speech, resnet } = rig;
      expect((await rig.put('a', { project_id: vision.id, experiment_id: null })).body.level).to.equal(
        'project',
      );
      expect((await rig.put('a', { project_id: vision.id, experiment_id: resnet.id })).body.level).to.equal(
        'experiment',
      );
      for (const body of [
        { project_id: newId('project') },
        { project_id: 'a new name' },
        { experiment_id: newId('experiment') },
        { experiment_id: 'a new name' },
      ]) {
        expect((await rig.put('b', body)).status, JSON.stringify(body)).to.equal(404);
      }
      expect((await rig.put('b', { project_id: speech.id, experiment_id: resnet.id })).status).to.equal(422);
      expect(await rig.kernel.db('projects')).to.have.length(2);
    });

    it('needs write scope', async () => {
      for (const token of ['read', 'sdk', 'agent'] as const) {
        expect((await rig.put('loss', {}, token)).body.error.code, token).to.equal('forbidden');
      }
      expect(await rig.items()).to.deep.equal([]);
    });
  });
});

import { newId } from '@svc/contract';
import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { DefinitionsRig } from './support/definitions-rig.js';

describe('PUT /primary-metric', () => {
  eachDatabase((database) => {
    let rig: DefinitionsRig;
    before(async () => void (rig = await DefinitionsRig.start(database)));
    after(() => rig.kernel.close());
    beforeEach(() => rig.forget());

    it('sets the primary metric at global, project or experiment level, unique within each', async () => {
      const { vision, resnet, service, kernel } = rig;
      await rig.see('g', 'p', 'e', 'other');
      for (const name of ['other', 'g']) await rig.setPrimary({ name });
      for (const name of ['other', 'p']) await rig.setPrimary({ name, project_id: vision.id });
      for (const name of ['other', 'e']) await rig.setPrimary({ name, experiment_id: resnet.id });
      const at = async (project_id: string | null, experiment_id: string | null) => {
        const meanings = await service.meanings(kernel.db, { project_id, experiment_id }, ['g', 'p', 'e']);
        return [...meanings].find(([, { is_primary }]) => is_primary)?.[0];
      };
      expect(await at(null, null)).to.equal('g');
      expect(await at(vision.id, null)).to.equal('p');
      expect(await at(vision.id, resnet.id)).to.equal('e');
      expect(await at(rig.speech.id, null)).to.equal('g');
    });

    it('answers 200 with the definition, again too', async () => {
      await rig.see('train/loss');
      const { status, body } = await rig.setPrimary({ name: 'train/loss' });
      expect(status).to.equal(200);
      expect(body).to.include({
        name: 'train/loss',
        is_primary: true,
        level: 'global',
        direction: 'minimize',
      });
      expect((await rig.setPrimary({ name: 'train/loss' })).body).to.deep.equal(body);
    });

    it('gives the level a definition of it when it has none, with what applied there before', async () => {
      await rig.put('loss', { direction: 'maximize', unit: 'nat' });
      const { body } = await rig.setPrimary({ name: 'loss', experiment_id: rig.resnet.id });
      expect(body).to.include({ level: 'experiment', direction: 'maximize', unit: 'nat', is_primary: true });
      expect((await rig.setPrimary({ name: 'never seen/acc' })).body.direction).to.equal('maximize');
    });

    it('tells what metrics mean somewhere, defined or not', async () => {
      const { vision, service, kernel } = rig;
      await rig.put('loss', { direction: 'maximize', project_id: vision.id });
      await rig.setPrimary({ name: 'acc' });
      const names = ['loss', 'acc', 'unseen/f1', 'unseen'];
      const placement = { project_id: vision.id, experiment_id: null };
      expect(Object.fromEntries(await service.meanings(kernel.db, placement, names))).to.deep.equal({
        loss: { direction: 'maximize', guessed: false, guessed_from: null, is_primary: false },
        acc: { direction: 'maximize', guessed: true, guessed_from: 'acc', is_primary: true },
        'unseen/f1': { direction: 'maximize', guessed: true, guessed_from: 'f1', is_primary: false },
        unseen: { direction: 'minimize', guessed: true, guessed_from: null, is_primary: false },
      });
    });

    it('refuses what is wrong: no name, a name that no point can have, an unknown level', async () => {
      for (const [body, status, path] of [
        [{}, 422, 'name'],
        [{ name: '' }, 422, 'name'],
        [{ name: 'a\u0000' }, 422, 'name'],
        [{ name: '\ud800' }, 422, 'name'],
        [{ name: 'loss', direction: 'minimize' }, 422, 'direction'],
        [{ name: 'loss', project_id: newId('project') }, 404, null],
        [{ name: 'loss', experiment_id: 'nonsense' }, 404, null],
      ] as const) {
        const answer = await rig.setPrimary(body);
        expect(answer.status, JSON.stringify(body)).to.equal(status);
        if (path) expect(answer.body.error.details.errors[0].path).to.equal(path);
      }
      expect(await rig.items()).to.deep.equal([]);
    });

    it('needs write scope', async () => {
      for (const token of ['read', 'sdk', 'agent'] as const) {
        expect((await rig.setPrimary({ name: 'loss' }, token)).status, token).to.equal(403);
      }
    });
  });
});

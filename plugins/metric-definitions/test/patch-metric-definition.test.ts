import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { DefinitionsRig } from './support/definitions-rig.js';

describe('PATCH /metric-definitions/{name:path}', () => {
  eachDatabase((database) => {
    let rig: DefinitionsRig;
    before(async () => void (rig = await DefinitionsRig.start(database)));
    after(() => rig.kernel.close());
    beforeEach(() => rig.forget());

    it('changes what is given and leaves the rest', async () => {
      const { body: before } = await rig.put('a/b', { direction: 'maximize', unit: '%', is_primary: true });
      const { status, body } = await rig.patch('a/b', { description: 'new' });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ ...before, description: 'new' });
      expect((await rig.patch('a%2Fb', { unit: null, direction: 'minimize' })).body).to.deep.equal({
        ...body,
        unit: null,
        direction: 'minimize',
      });
      expect((await rig.patch('a/b', { is_primary: false })).body.is_primary).to.equal(false);
    });

    it('of an automatic one: from then on somebody has set it; an empty change changes nothing', async () => {
      await rig.see('loss');
      expect((await rig.patch('loss')).body.auto).to.equal(true);
      expect((await rig.patch('loss', { unit: 'nat' })).body.auto).to.equal(false);
    });

    it('is not_found when that very level has no definition, naming the remedy, and creates none', async () => {
      const { vision, resnet } = rig;
      await rig.put('loss', { project_id: vision.id });
      for (const level of [{}, { experiment_id: resnet.id }]) {
        const { status, body } = await rig.patch('loss', { unit: 's', ...level });
        expect(status).to.equal(404);
        expect(body.error.message).to.include('"loss"').and.to.include('PUT creates one');
      }
      expect((await rig.patch('loss', { unit: 's', project_id: vision.id })).body.unit).to.equal('s');
      expect(await rig.items(`?experiment_id=${resnet.id}`)).to.have.length(1);
    });

    it('setting a metric primary clears the primary flag on every other metric definition of the level', async () => {
      await rig.put('a', { is_primary: true });
      await rig.put('b');
      await rig.patch('b', { is_primary: true });
      expect(await rig.applying()).to.deep.equal({ a: 'global minimize', b: 'global minimize *' });
    });

    it('fields that are wrong or unknown are refused, naming them', async () => {
      await rig.put('loss');
      for (const [body, path] of [
        [{ direction: null }, 'direction'],
        [{ is_primary: 1 }, 'is_primary'],
        [{ auto: true }, 'auto'],
      ] as const) {
        const answer = await rig.patch('loss', body);
        expect(answer.status, path).to.equal(422);
        expect(answer.body.error.details.errors[0].path).to.equal(path);
      }
    });

    it('needs write scope', async () => {
      await rig.put('loss');
      for (const token of ['read', 'sdk', 'agent'] as const) {
        expect((await rig.patch('loss', { unit: 's' }, token)).status, token).to.equal(403);
      }
    });
  });
});

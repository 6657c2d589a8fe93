import { eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from './support/rig.js';

describe('PATCH /runs/{run_id}', () => {
  eachDatabase((database) => {
    let rig: Rig;
    before(async () => void (rig = await Rig.start({ database })));
    after(() => rig.close());

    it('lets write scope change what people write, and the training what it says of itself', async () => {
      const { id, ingest_token } = await rig.createRun({ config: { a: 1 } });
      const patched = await rig.patch(`/runs/${id}`, { name: 'better', tags: ['x'], notes: 'good\none' });
      expect(patched.body).to.deep.include({
        name: 'better',
        tags: ['x'],
        notes: 'good\none',
        config: { a: 1 },
      });
      const own = { config: { b: 2 }, environment: { python: '3.12', api_key: 'k' }, max_steps: 5 };
      const byTraining = await rig.patch(`/runs/${id}`, own, ingest_token);
      expect(byTraining.status).to.equal(200);
      expect(byTraining.body).to.deep.include({ ...own, environment: { python: '3.12', api_key: '***' } });
      expect((await rig.patch(`/runs/${id}`, { max_steps: null }, ingest_token)).body.max_steps).to.equal(
        null,
      );
      expect((await rig.patch(`/runs/${id}`, {})).body.name).to.equal('better');
    });

    it('takes notes of 16 KiB of UTF-8, and reads longer ones of earlier versions', async () => {
      const { id } = await rig.createRun({});
      const notes = 'ä'.repeat(8 * 1024);
      expect((await rig.patch(`/runs/${id}`, { notes })).body.notes).to.equal(notes);
      const old = 'x'.repeat(100_000);
      await rig.kernel.db('runs').where({ id }).update({ notes: old });
      expect((await rig.get(`/runs/${id}`)).body.notes).to.equal(old);
      expect((await rig.patch(`/runs/${id}`, { name: 'kept' })).body.notes).to.equal(old);
    });

    it('refuses names, tags and notes without write scope, changing nothing', async () => {
      const { id, ingest_token } = await rig.createRun({ name: 'kept' });
      for (const token of [ingest_token, rig.tokens.sdk]) {
        const answer = await rig.patch(`/runs/${id}`, { name: 'stolen', config: { c: 3 } }, token);
        expect(answer.status).to.equal(403);
        expect(answer.body.error.message).to.include('name');
      }
      expect((await rig.get(`/runs/${id}`)).body).to.deep.include({ name: 'kept', config: {} });
      expect((await rig.patch(`/runs/${id}`, { status: 'FAILED' })).status).to.equal(422);
      for (const notes of [7, 'a\0b', 'x'.repeat(16 * 1024 + 1), 'ä'.repeat(8 * 1024 + 1)]) {
        expect((await rig.patch(`/runs/${id}`, { notes })).status).to.equal(422);
      }
      const { body } = await rig.patch(`/runs/${id}`, { notes: 'ä'.repeat(8 * 1024 + 1) });
      expect(body.error.message).to.equal(
        'notes: must be at most 16 KiB (16384 bytes of UTF-8), not 16386 bytes; shorten them',
      );
    });
  });
});

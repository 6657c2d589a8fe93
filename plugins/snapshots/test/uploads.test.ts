import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { toArchive } from './support/archives.js';
import { openRig, type Rig, type SlowUpload } from './support/rig.js';

const ARCHIVE = toArchive([{ path: 'train.py', content: 'X = 1\n' }]);
const OF_A_TOKEN = 8;
const IN_ALL = 32;

eachDatabase((database) => {
  describe('uploads of snapshots', () => {
    let rig: Rig;
    let open: SlowUpload[];
    before(async () => (rig = await openRig(database)));
    after(() => rig.kernel.close());
    beforeEach(() => (open = []));
    afterEach(async () => {
      for (const { upload } of open) upload.destroy();
      await until(() => partials() === 0);
    });

    const folder = () => path.dirname(rig.fileOf(''));
    const partials = () => readdirSync(folder()).filter((name) => name.endsWith('.partial')).length;
    const bytesOfPartials = () =>
      readdirSync(folder())
        .filter((name) => name.endsWith('.partial'))
        .reduce((sum, name) => sum + statSync(path.join(folder(), name)).size, 0);
    /** As many that have begun and do not go on. */
    const beginSlow = async (count: number, token?: string) => {
      const wanted = open.length + count;
      for (let at = 0; at < count; at += 1) {
        const slow = rig.send(token);
        slow.upload.write(ARCHIVE.subarray(0, 10));
        open.push(slow);
      }
      await until(() => partials() === wanted);
    };

    it('do not wait for others that come slowly', async () => {
      await rig.upload(ARCHIVE);
      await beginSlow(OF_A_TOKEN - 1);
      expect((await rig.upload(ARCHIVE)).status).to.equal(200);
      for (const { upload } of open) upload.end(ARCHIVE.subarray(10));
      for (const { answered } of open) expect((await answered).status).to.equal(200);
    });

    it('are bounded for each token, and in all, and say when to come again', async () => {
      await rig.upload(ARCHIVE);
      await beginSlow(OF_A_TOKEN);
      const { status, headers, text } = await rig.send().answered;
      expect(status).to.equal(429);
      expect(headers['retry-after']).to.equal('2');
      expect(text).to.contain('this token sends 8 snapshots now').and.contain('send this one again');
      const another = await rig.newToken('write');
      expect((await rig.upload(ARCHIVE, another)).status).to.equal(200);
      while (open.length < IN_ALL) await beginSlow(OF_A_TOKEN, await rig.newToken('write'));
      const refused = await rig.send(another).answered;
      expect(refused.status).to.equal(503);
      expect(refused.headers['retry-after']).to.equal('2');
      open.pop()?.upload.destroy();
      await until(async () => (await rig.upload(ARCHIVE, another)).status === 200);
    });

    it('that come too slowly are ended, and are told', async () => {
      await rig.upload(ARCHIVE);
      await beginSlow(1);
      await rig.clock.advance(29_000);
      open[0]?.upload.write(ARCHIVE.subarray(10, 20));
      await rig.clock.advance(1_000);
      const answer = await open[0]?.answered;
      expect(answer?.status).to.equal(408);
      expect(answer?.text).to.contain('request_timeout').and.contain('less than 16 KiB/s over 30 s');
      await until(() => partials() === 0);
    });

    it('may take any time as long as they come fast enough', async () => {
      const slow = rig.send();
      open.push(slow);
      slow.upload.write(Buffer.alloc(500 * 1024));
      await until(() => partials() === 1);
      await until(() => bytesOfPartials() === 500 * 1024);
      await rig.clock.advance(30_000);
      slow.upload.end();
      expect((await slow.answered).status).to.equal(422);
    });

    it('are inspected in turn, however many come at once', async () => {
      const many = toArchive(Array.from({ length: 3000 }, (_, at) => ({ path: `f${at}` })));
      const tokens = await Promise.all(Array.from({ length: 3 }, () => rig.newToken('write')));
      const answers = await Promise.all(
        tokens.flatMap((token) => Array.from({ length: 6 }, () => rig.upload(many, token))),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(17).fill(200), 201]);
    });
  });
});

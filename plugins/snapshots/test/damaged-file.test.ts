import { eachDatabase, until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { toArchive } from './support/archives.js';
import { openRig, type Rig } from './support/rig.js';

const ARCHIVE = toArchive([{ path: 'train.py', content: 'X = 1\n' }]);

eachDatabase((database) => {
  describe('a snapshot whose file is damaged', () => {
    let rig: Rig;
    let sha256: string;
    let file: string;
    before(async () => (rig = await openRig(database)));
    after(() => rig.kernel.close());
    beforeEach(async () => {
      ({ sha256 } = (await rig.upload(ARCHIVE)).body);
      file = rig.fileOf(sha256);
    });

    const bodyOf = async (answer: Promise<Response>) => Buffer.from(await (await answer).arrayBuffer());
    const setAside = () => `${file}.damaged`;
    const damage = () => writeFileSync(file, Buffer.alloc(ARCHIVE.length, 1));

    for (const [what, change] of [
      ['cut short', () => truncateSync(file, 10)],
      ['gone', () => rmSync(file)],
    ] as const) {
      it(`is missing to who asks when it is ${what}, and to who submits`, async () => {
        change();
        expect((await rig.get(sha256, 'HEAD')).status).to.equal(404);
        const answer = await rig.get(sha256);
        expect(answer.status).to.equal(404);
        expect(await answer.text())
          .to.contain('gone or damaged')
          .and.contain('svc submit --upload');
        const { status, body } = await rig.submit(sha256);
        expect(status).to.equal(422);
        expect(JSON.stringify(body)).to.contain('gone or damaged');
      });

      it(`is replaced by an upload of the same files when it is ${what}`, async () => {
        change();
        expect((await rig.upload(ARCHIVE)).status).to.equal(200);
        expect((await rig.get(sha256, 'HEAD')).status).to.equal(200);
        expect((await bodyOf(rig.get(sha256))).equals(ARCHIVE)).to.equal(true);
      });
    }

    it('is set aside once it was read, so that the next who asks is told', async () => {
      damage();
      expect((await bodyOf(rig.get(sha256))).equals(ARCHIVE)).to.equal(false);
      await until(() => existsSync(setAside()));
      expect((await rig.get(sha256)).status).to.equal(404);
      expect((await rig.get(sha256, 'HEAD')).status).to.equal(404);
      expect((await rig.upload(ARCHIVE)).status).to.equal(200);
      expect((await bodyOf(rig.get(sha256))).equals(ARCHIVE)).to.equal(true);
      expect(existsSync(setAside())).to.equal(false);
    });

    it('keeps its file when a good one is read, or one is read in part', async () => {
      const reading = await rig.get(sha256);
      await reading.body?.cancel();
      await bodyOf(rig.get(sha256));
      expect(readFileSync(file).equals(ARCHIVE)).to.equal(true);
    });

    it('takes what was set aside along when it is removed', async () => {
      damage();
      await bodyOf(rig.get(sha256));
      await until(() => existsSync(setAside()));
      await rig.clock.advance(10_000);
      expect(await rig.collect(5)).to.equal(1);
      expect(existsSync(setAside())).to.equal(false);
    });
  });
});

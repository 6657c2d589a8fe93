import { definePlugin, type Db } from '@svc/kernel';
import { eachDatabase } from '@svc/kernel/testing';
import { jobAdmit } from '@svc/plugin-jobs';
import { expect } from 'chai';
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { SnapshotStore } from '../src/store.js';
import { toArchive } from './support/archives.js';
import { openRig, type Rig } from './support/rig.js';

const ARCHIVE = toArchive([{ path: 'train.py', content: 'X = 1\n' }]);

eachDatabase((database) => {
  describe('the removal of a snapshot', () => {
    let rig: Rig;
    let sha256: string;
    /** What another does between the check of a job and its record. */
    let meanwhile: (db: Db) => Promise<unknown>;
    const between = definePlugin({
      name: 'between',
      requires: ['jobs', 'snapshots'],
      setup: (ctx) => ctx.tap(jobAdmit, async () => void (await meanwhile(ctx.db))),
    });
    before(async () => (rig = await openRig(database, [between()])));
    after(() => rig.kernel.close());
    beforeEach(async () => {
      meanwhile = async () => undefined;
      ({ sha256 } = (await rig.upload(ARCHIVE)).body);
      await rig.clock.advance(10_000);
    });

    const isThere = async () => (await rig.get(sha256, 'HEAD', rig.tokens.read)).status === 200;
    const transact = <T>(work: (tx: never) => Promise<T>): Promise<T> =>
      rig.kernel.db.transaction((tx) => work(tx as never));

    for (const [what, use] of [
      ['uploaded again', () => rig.upload(ARCHIVE)],
      ['asked for by who may submit', () => rig.get(sha256, 'HEAD')],
    ] as const) {
      it(`waits anew when it is ${what}`, async () => {
        await use();
        await rig.clock.advance(2_000);
        await rig.collect(5);
        expect(await isThere()).to.equal(true);
        await rig.clock.advance(5_000);
        await rig.collect(5);
        expect(await isThere()).to.equal(false);
      });
    }

    it('does not wait for who may only read', async () => {
      expect(await isThere()).to.equal(true);
      await rig.collect(5);
      expect(await isThere()).to.equal(false);
    });

    it('does not wait for who downloads it, which changes nothing', async () => {
      expect((await rig.get(sha256)).status).to.equal(200);
      await rig.collect(5);
      expect(await isThere()).to.equal(false);
    });

    it('takes the files that have no row, and no others', async () => {
      const store = new SnapshotStore(`${rig.kernel.dataDir}/snapshots`);
      const orphan = 'a'.repeat(64);
      for (const file of [store.fileOf(orphan), `${store.fileOf(orphan)}.damaged`])
        copyFileSync(store.fileOf(sha256), file);
      await store.removeOrphans(rig.kernel.db);
      expect(readdirSync(store.directory)).to.include(`${sha256}.tar.gz`).and.not.include(`${orphan}.tar.gz`);
      expect(existsSync(`${store.fileOf(orphan)}.damaged`)).to.equal(false);
    });

    it('leaves no file of an upload whose row cannot be written', async () => {
      const store = new SnapshotStore(`${rig.kernel.dataDir}/snapshots`);
      const file = `${store.directory}/received.partial`;
      copyFileSync(store.fileOf(sha256), file);
      const insert = (): never => {
        throw new Error('the disk is full');
      };
      const full = ((table: string) => Object.assign(rig.kernel.db(table), { insert })) as unknown as Db;
      const received = { file, sha256: 'b'.repeat(64), size: 1, files: 1 };
      const error = await store.keep(full, received, 1).catch((caught: Error) => caught.message);
      expect(error).to.equal('the disk is full');
      expect(existsSync(store.fileOf(received.sha256))).to.equal(false);
    });

    it('before the record of a job that names it refuses the job', async () => {
      meanwhile = (db) => db('snapshots').where({ sha256 }).delete();
      const { status, body } = await rig.submit(sha256);
      expect(status).to.equal(422);
      expect(JSON.stringify(body)).to.contain('upload it first');
    });

    it('looks again in its transaction whether it is used', async () => {
      const store = new SnapshotStore(`${rig.kernel.dataDir}/snapshots`);
      const now = rig.clock.now();
      expect(await store.remove(transact, sha256, now, async () => true)).to.equal(false);
      await store.renew(rig.kernel.db, sha256, now);
      expect(await store.remove(transact, sha256, now, async () => false)).to.equal(false);
      expect(await isThere()).to.equal(true);
      expect(await store.remove(transact, sha256, now + 1, async () => false)).to.equal(true);
    });

    it('leaves the file of an upload that comes meanwhile', async () => {
      const store = new SnapshotStore(`${rig.kernel.dataDir}/snapshots`);
      const file = `${rig.fileOf(sha256)}.partial`;
      copyFileSync(rig.fileOf(sha256), file);
      const received = { file, sha256, size: ARCHIVE.length, files: 1 };
      let kept: Promise<unknown> = Promise.resolve();
      const removed = await store.remove(transact, sha256, rig.clock.now(), async () => {
        kept = store.keep(rig.kernel.db, received, rig.clock.now());
        await new Promise((resolve) => setImmediate(resolve));
        return false;
      });
      expect(removed).to.equal(true);
      await kept;
      expect(existsSync(rig.fileOf(sha256))).to.equal(true);
      expect(await isThere()).to.equal(true);
    });
  });
});

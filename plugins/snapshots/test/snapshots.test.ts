import type { Job, Scope, Snapshot } from '@svc/contract';
import { createTestKernel, eachDatabase, fakeClock, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { logs } from '@svc/plugin-logs';
import { metricDefinitions } from '@svc/plugin-metric-definitions';
import { metrics } from '@svc/plugin-metrics';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { retention } from '@svc/plugin-retention';
import { runnerProcess } from '@svc/plugin-runner-process';
import { runs } from '@svc/plugin-runs';
import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGzip, gzipSync } from 'node:zlib';
import { snapshots } from '../src/index.js';
import { readAll, sha256Of, toArchive, type Entry } from './support/archives.js';

const MIB = 1024 * 1024;
const TREE: readonly Entry[] = [
  { path: './src/', type: 'Directory' },
  { path: './src/model.py', content: 'X = 5\n' },
  { path: './train.py', content: 'import src.model\n', mode: 0o755 },
  { path: './latest', type: 'SymbolicLink', linkpath: 'src' },
];

eachDatabase((database) => {
  describe('snapshots', () => {
    const clock = fakeClock();
    let kernel: TestKernel;
    const tokens = {} as Record<Scope, string>;

    before(async () => {
      const limits = { max_mb: 1, max_unpacked_mb: 8, max_files: 50 };
      const plugins = [
        auth(),
        projects(),
        events(),
        nodes(),
        jobs(),
        runnerProcess(),
        logs(),
        runs(),
        metricDefinitions(),
        metrics(),
        retention(),
        snapshots(limits),
      ];
      kernel = await createTestKernel({ plugins, database, clock });
      for (const scope of ['read', 'write', 'sdk', 'agent'] as const) {
        const draft = { name: scope, scope, expires_at: null };
        tokens[scope] = (await createToken(kernel.db, draft, clock.now())).token;
      }
    });
    after(() => kernel.close());

    const address = (sha256 = '') => `${kernel.url}/api/v1/snapshots${sha256 && `/${sha256}`}`;
    const authorization = (scope: Scope) => ({ authorization: `Bearer ${tokens[scope]}` });
    const upload = async (bytes: Buffer, scope: Scope = 'write') => {
      const headers = { ...authorization(scope), 'content-type': 'application/gzip' };
      const answer = await fetch(address(), { method: 'POST', headers, body: bytes });
      return {
        status: answer.status,
        body: (await answer.json()) as Snapshot & { error?: { message: string } },
      };
    };
    const get = (sha256: string, scope: Scope = 'read', method = 'GET') =>
      fetch(address(sha256), { method, headers: authorization(scope) });
    const folder = () => path.join(kernel.dataDir, 'snapshots');

    it('are stored once by their content, and come back byte for byte', async () => {
      const bytes = toArchive(TREE);
      const first = await upload(bytes);
      expect(first.status).to.equal(201);
      expect(first.body).to.deep.equal({
        sha256: sha256Of(bytes),
        size: bytes.length,
        files: 3,
        created_at: clock.now(),
      });
      await clock.advance(1000);
      expect(await upload(bytes)).to.deep.equal({ status: 200, body: first.body });
      const answer = await get(first.body.sha256);
      expect(answer.headers.get('content-length')).to.equal(String(bytes.length));
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).to.equal(true);
      expect(readdirSync(folder())).to.deep.equal([`${first.body.sha256}.tar.gz`]);
    });

    it('are there or not by HEAD', async () => {
      const { body } = await upload(toArchive(TREE));
      expect((await get(body.sha256, 'write', 'HEAD')).status).to.equal(200);
      expect((await get('0'.repeat(64), 'write', 'HEAD')).status).to.equal(404);
      expect((await get('no-sha', 'write')).status).to.equal(404);
    });

    it('are uploaded with write scope, and read with read, agent or write scope', async () => {
      const { body } = await upload(toArchive(TREE));
      for (const scope of ['read', 'agent', 'sdk'] as const)
        expect((await upload(toArchive(TREE), scope)).status).to.equal(403);
      for (const scope of ['read', 'agent', 'write'] as const)
        expect((await get(body.sha256, scope)).status).to.equal(200);
      const refused = await get(body.sha256, 'sdk');
      expect(refused.status).to.equal(403);
      expect(await refused.text()).to.contain('read, agent or write scope');
    });

    const refused: [string, Buffer, string][] = [
      ['rubbish', Buffer.from('no archive at all'), 'incorrect header check'],
      ['nothing', Buffer.alloc(0), 'gzipped tar'],
      ['an archive that is cut off', toArchive(TREE).subarray(0, 60), 'gzipped tar'],
      ['a path that leads up', toArchive([{ path: '../out', content: 'x' }]), 'leads out of the tree'],
      ['a path in the middle that leads up', toArchive([{ path: 'a/../../out' }]), 'leads out of the tree'],
      ['an absolute path', toArchive([{ path: '/etc/cron.d/x', content: 'x' }]), 'leads out of the tree'],
      ['a device', toArchive([{ path: 'null', type: 'CharacterDevice' }]), 'CharacterDevice'],
      ['a pipe', toArchive([{ path: 'pipe', type: 'FIFO' }]), 'FIFO'],
      [
        'a hard link to a file outside',
        toArchive([{ path: 'shadow', type: 'Link', linkpath: '/etc/shadow' }]),
        'outside the tree',
      ],
      [
        'too many files',
        toArchive(Array.from({ length: 51 }, (_, at) => ({ path: `f${at}` }))),
        'more than 50 files',
      ],
      [
        'too many directories',
        toArchive([
          { path: 'f' },
          ...Array.from({ length: 50 }, (_, at) => ({ path: `d${at}`, type: 'Directory' as const })),
        ]),
        'more than 50 files and directories',
      ],
      [
        'too many directories of paths',
        toArchive([{ path: `${'a/'.repeat(49)}f` }, { path: 'b/f' }]),
        'more than 50',
      ],
      ['a path that is too deep', toArchive([{ path: `${'a/'.repeat(60)}f` }]), 'more than 50'],
      ['a path that leads up on Windows', toArchive([{ path: '..\\x' }]), 'leads out of the tree'],
      [
        'an entry below a link',
        toArchive([{ path: 'd', type: 'SymbolicLink', linkpath: '/tmp' }, { path: 'd/f' }]),
        'is no directory',
      ],
      [
        'a link in the place of a directory',
        toArchive([{ path: 'd/f' }, { path: 'd', type: 'SymbolicLink', linkpath: '/tmp' }]),
        'is no directory',
      ],
      [
        'more behind the end',
        Buffer.concat([toArchive([{ path: 'a' }]), gzipSync(Buffer.alloc(2 * MIB))]),
        'more stands behind its end',
      ],
      ['an archive that is packed twice', gzipSync(toArchive([{ path: 'a' }])), 'packed twice'],
      [
        'too much unpacked',
        toArchive([{ path: 'zeros', content: Buffer.alloc(9 * MIB) }]),
        'more than 8388608 bytes',
      ],
    ];
    for (const [name, bytes, reason] of refused) {
      it(`are refused: ${name}`, async () => {
        const before = readdirSync(folder());
        const { status, body } = await upload(bytes);
        expect(status).to.equal(422);
        expect(JSON.stringify(body)).to.contain(reason);
        expect(readdirSync(folder())).to.deep.equal(before);
      });
    }

    it('may have links that lead anywhere', async () => {
      const links = [
        { path: 'data', type: 'SymbolicLink', linkpath: '/mnt/datasets' },
        { path: 'shared', type: 'SymbolicLink', linkpath: '../shared' },
      ] as const;
      expect((await upload(toArchive(links))).status).to.equal(201);
    });

    it('are refused above the limit of the body', async () => {
      const bytes = Buffer.alloc(MIB + 1, 0x1f);
      expect((await upload(bytes)).status).to.equal(413);
      expect(readdirSync(folder()).filter((name) => name.endsWith('.partial'))).to.deep.equal([]);
    });

    it('that unpack to gigabytes are refused without keeping anybody waiting', async () => {
      const bomb = createGzip({ level: 9 });
      for (let at = 0; at < 200; at += 1) bomb.write(Buffer.alloc(MIB));
      bomb.end();
      const bytes = await readAll(bomb);
      let worstMs = 0;
      let isDone = false;
      const asked = (async () => {
        while (!isDone) {
          const startedMs = performance.now();
          await fetch(`${kernel.url}/api/v1/snapshots/${'0'.repeat(64)}`, { headers: authorization('read') });
          worstMs = Math.max(worstMs, performance.now() - startedMs);
        }
      })();
      expect((await upload(bytes)).status).to.equal(422);
      isDone = true;
      await asked;
      expect(worstMs).to.be.below(1000);
    });

    describe('of a job', () => {
      const submit = (body: object) =>
        kernel.request('POST', '/jobs', { token: tokens.write, body: { command: ['true'], ...body } });

      it('are named by its record, and by that of its retry', async () => {
        const { body: snapshot } = await upload(toArchive(TREE));
        const { status, body } = await submit({ snapshot: snapshot.sha256 });
        expect(status).to.equal(201);
        expect((body as Job).snapshot).to.equal(snapshot.sha256);
        await kernel.request('POST', `/jobs/${(body as Job).id}/cancel`, { token: tokens.write });
        const retried = await kernel.request('POST', `/jobs/${(body as Job).id}/retry`, {
          token: tokens.write,
        });
        expect((retried.body as Job).snapshot).to.equal(snapshot.sha256);
      });

      it('must be there', async () => {
        const { status, body } = await submit({ snapshot: 'f'.repeat(64) });
        expect(status).to.equal(422);
        expect(JSON.stringify(body)).to.contain('upload it first');
      });

      it('are its working directory, so it has no other', async () => {
        const { body: snapshot } = await upload(toArchive(TREE));
        const { status, body } = await submit({ snapshot: snapshot.sha256, working_dir: '/data' });
        expect(status).to.equal(422);
        expect(JSON.stringify(body)).to.contain('leave one of them out');
      });
    });

    it('go with the garbage once they are old and no job names them', async () => {
      const { body: used } = await upload(toArchive([{ path: 'used', content: 'x' }]));
      const { body: unused } = await upload(toArchive([{ path: 'unused', content: 'x' }]));
      const job = await kernel.request('POST', '/jobs', {
        token: tokens.write,
        body: { command: ['true'], snapshot: used.sha256 },
      });
      expect(job.status).to.equal(201);
      await clock.advance(2000);
      const collect = async (body: object) =>
        (await kernel.request('POST', '/admin/gc', { token: tokens.write, body })).body.orphans;
      expect((await collect({ older_than_s: 60, dry_run: false })).snapshots).to.equal(0);
      const dry = await collect({ older_than_s: 1 });
      expect(dry.snapshots).to.be.at.least(1);
      expect((await get(unused.sha256)).status).to.equal(200);
      expect(await collect({ older_than_s: 1, dry_run: false })).to.deep.equal(dry);
      expect((await get(unused.sha256)).status).to.equal(404);
      expect((await get(used.sha256)).status).to.equal(200);
      expect(readdirSync(folder())).to.not.include(`${unused.sha256}.tar.gz`);
    });

    it('that a server which died has not finished are removed at the start', async () => {
      const dataDir = mkdtempSync(path.join(tmpdir(), 'svc-snapshots-'));
      const partial = path.join(dataDir, 'snapshots', 'some.partial');
      mkdirSync(path.dirname(partial));
      writeFileSync(partial, 'half');
      const plugins = [projects(), events(), nodes(), jobs(), snapshots()];
      const another = await createTestKernel({ plugins, database, dataDir });
      expect(existsSync(partial)).to.equal(false);
      await another.close();
      rmSync(dataDir, { recursive: true });
    });
  });
});

import {
  createTestKernel,
  eachDatabase,
  fakeClock,
  until,
  type FakeClock,
  type TestKernel,
} from '@svc/kernel/testing';
import { newId } from '@svc/contract';
import { expect } from 'chai';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, authRef } from '@svc/plugin-auth';

const DAY_MS = 24 * 60 * 60_000;

eachDatabase((database) => {
  describe('auth', () => {
    let kernel: TestKernel;
    let clock: FakeClock;
    let write: string;

    before(async () => {
      clock = fakeClock();
      kernel = await createTestKernel({ plugins: [auth()], database, clock });
      write = kernel.use(authRef).takeFirstToken()!;
    });
    after(() => kernel.close());

    const call = (method: string, path: string, body?: unknown, token = write) =>
      kernel.request(method, path, { token, body });
    const create = async (body: object) => (await call('POST', '/tokens', body)).body;
    const whoami = async (token: string) => (await kernel.request('GET', '/auth/whoami', { token })).status;

    it('lists tokens in parts, newest first, without ingest tokens', async () => {
      for (const name of ['a', 'b', 'c']) {
        await clock.advance(1);
        await create({ name, scope: 'read' });
        await kernel.use(authRef).mintIngest(kernel.db, { run_id: newId('run') }, clock.now());
      }
      const { body: first } = await call('GET', '/tokens?limit=2');
      expect(first.items.map(({ name }: { name: string }) => name)).to.deep.equal(['c', 'b']);
      const { body: rest } = await call('GET', `/tokens?limit=2&before=${first.items[1].id}`);
      expect(rest.items.map(({ name }: { name: string }) => name)).to.deep.equal(['a', 'first token']);
      expect((await call('GET', '/tokens?limit=0')).status).to.equal(422);
      expect((await call('GET', `/tokens?before=${newId('token')}`)).status).to.equal(404);
    });

    describe('the first token', () => {
      it('is in <data_dir>/token, for its owner alone, and has write scope', async () => {
        const file = join(kernel.dataDir, 'token');
        expect(readFileSync(file, 'utf8')).to.equal(`${write}\n`);
        expect(statSync(file).mode & 0o777).to.equal(0o600);
        expect((await call('GET', '/auth/whoami')).body).to.deep.equal({
          name: 'first token',
          scope: 'write',
          can_write: true,
        });
      });

      it('is handed out once', () => {
        expect(kernel.use(authRef).takeFirstToken()).to.equal(null);
      });
    });

    describe('tokens', () => {
      it('are created, shown once and listed newest first without their secret', async () => {
        const older = await create({ name: 'older', scope: 'read' });
        const newer = await create({ name: 'newer', scope: 'agent', expires_at: clock.now() + DAY_MS });
        expect(older.token).to.match(/^svc_read_[0-9A-Za-z]{43}$/);
        const { items } = (await call('GET', '/tokens')).body;
        expect(items.slice(0, 2).map(({ name }: { name: string }) => name)).to.deep.equal(['newer', 'older']);
        const { token, ...record } = newer;
        expect(items[0]).to.deep.equal(record);
        expect(JSON.stringify(items)).not.to.include(token);
      });

      it('are stored as a hash alone', async () => {
        const { token } = await create({ name: 'stored', scope: 'read' });
        const rows = JSON.stringify(await kernel.db('tokens').select());
        expect(rows).not.to.include(token).and.not.include(token.slice('svc_read_'.length));
      });

      for (const scope of ['read', 'write', 'sdk', 'agent']) {
        it(`of ${scope} scope say so`, async () => {
          const { token } = await create({ name: scope, scope });
          const { body } = await call('GET', '/auth/whoami', undefined, token);
          expect(body).to.deep.equal({ name: scope, scope, can_write: scope === 'write' });
        });
      }

      it('stop working the moment they are revoked, and revoking again changes nothing', async () => {
        const { token, id } = await create({ name: 'to revoke', scope: 'write' });
        expect(await whoami(token)).to.equal(200);
        const revoked = await call('DELETE', `/tokens/${id}`);
        expect(revoked.status).to.equal(200);
        expect(revoked.body).to.include({ id, revoked_at: clock.now() });
        expect(await whoami(token)).to.equal(401);
        const { body } = await call('GET', '/auth/whoami', undefined, token);
        expect(body.error.message).to.match(
          /^the token "to revoke" was revoked at \d{4}-.*: use another one$/,
        );
        await clock.advance(1000);
        expect((await call('DELETE', `/tokens/${id}`)).body).to.deep.equal(revoked.body);
      });

      it('stay revoked when they are used and revoked at the same time', async () => {
        const { token, id } = await create({ name: 'busy', scope: 'read' });
        const uses = Array.from({ length: 20 }, (_, index) =>
          index === 10 ? call('DELETE', `/tokens/${id}`) : whoami(token),
        );
        await Promise.all(uses);
        expect(await whoami(token)).to.equal(401);
      });

      it('accept their id without the prefix', async () => {
        const { id } = await create({ name: 'bare id', scope: 'read' });
        expect((await call('DELETE', `/tokens/${id.slice('tok_'.length).toLowerCase()}`)).body.id).to.equal(
          id,
        );
      });

      it('stop working when they expire', async () => {
        const { token } = await create({ name: 'short', scope: 'read', expires_at: clock.now() + 1000 });
        expect(await whoami(token)).to.equal(200);
        await clock.advance(999);
        expect(await whoami(token)).to.equal(200);
        await clock.advance(1);
        expect(await whoami(token)).to.equal(401);
      });

      for (const [when, passedMs] of [
        ['within half a second', 400],
        ['also when the clock is set back', -3_600_000],
      ] as const)
        it(`are noticed when another process revokes them, ${when}`, async () => {
          const { token, id } = await create({ name: 'elsewhere', scope: 'read' });
          expect(await whoami(token)).to.equal(200);
          await kernel.db('tokens').where({ id }).update({ revoked_at: clock.now() });
          await clock.advance(passedMs);
          expect(await whoami(token)).to.equal(401);
          await clock.advance(Math.max(0, -passedMs));
        });

      it('note their last use at most once a minute', async () => {
        const { token, id } = await create({ name: 'used', scope: 'read' });
        const lastUse = async () => (await kernel.db('tokens').where({ id }).first()).last_used_at;
        expect(await lastUse()).to.equal(null);
        const first = clock.now();
        await whoami(token);
        await until(async () => (await lastUse()) === first);
        await clock.advance(59_999);
        await whoami(token);
        expect(await lastUse()).to.equal(first);
        await clock.advance(1);
        await whoami(token);
        await until(async () => (await lastUse()) === first + 60_000);
      });
    });

    describe('bad input', () => {
      const body = (change: object) => ({ name: 'n', scope: 'read', ...change });
      const refused: [string, unknown, string][] = [
        ['no name', { scope: 'read' }, 'name'],
        ['no scope', { name: 'n' }, 'scope'],
        ['a name of the wrong type', body({ name: 7 }), 'name'],
        ['an empty name', body({ name: '' }), 'name'],
        ['a blank name', body({ name: '   ' }), 'name'],
        ['a name that is too long', body({ name: 'x'.repeat(201) }), 'name'],
        ['a name with a line break', body({ name: 'a\nb' }), 'name'],
        ['an unknown scope', body({ scope: 'admin' }), 'scope'],
        ['an unknown field', body({ scopes: 'read' }), 'scopes'],
        ['an expiry in the past', body({ expires_at: 1 }), 'expires_at'],
        ['an expiry that is text', body({ expires_at: 'tomorrow' }), 'expires_at'],
        ['an expiry beyond all time', body({ expires_at: 1e300 }), 'expires_at'],
        ['an array for a body', [], ''],
        ['malformed JSON', '{"name": ', ''],
        ['no body', undefined, 'name'],
      ];
      for (const [what, sent, path] of refused) {
        it(`refuses ${what}, naming the field, and stores nothing`, async () => {
          const before = (await call('GET', '/tokens')).body.items.length;
          const answer = await call('POST', '/tokens', sent);
          expect(answer.status).to.equal(422);
          expect(answer.body.error.code).to.equal('validation_error');
          expect(answer.body.error.details.errors.map((issue: { path: string }) => issue.path)).to.include(
            path,
          );
          expect((await call('GET', '/tokens')).body.items.length).to.equal(before);
        });
      }

      it('refuses a body over 1 MiB', async () => {
        const answer = await call('POST', '/tokens', body({ name: 'x'.repeat(1024 * 1024) }));
        expect([answer.status, answer.body.error.code]).to.deep.equal([413, 'payload_too_large']);
      });

      for (const id of [
        'tok_01ARZ3NDEKTSV4RRFFQ69G5FAV',
        'job_01ARZ3NDEKTSV4RRFFQ69G5FAV',
        'nonsense',
        '%00',
      ]) {
        it(`answers 404 to DELETE /tokens/${id}`, async () => {
          expect((await call('DELETE', `/tokens/${id}`)).body.error?.code).to.equal('not_found');
        });
      }

      it('does not let an ingest token be listed or revoked', async () => {
        const binding = { run_id: 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV' };
        await kernel.use(authRef).mintIngest(kernel.db, binding, clock.now());
        const { id } = await kernel.db('tokens').where(binding).first();
        expect(JSON.stringify((await call('GET', '/tokens')).body)).not.to.include(id);
        expect((await call('DELETE', `/tokens/${id}`)).status).to.equal(404);
      });

      const unusable: [string, string | undefined][] = [
        ['no token', undefined],
        ['a malformed token', 'nonsense'],
        ['an unknown token', `svc_write_${'x'.repeat(43)}`],
        ['a token with a character too many', `svc_write_${'x'.repeat(44)}`],
      ];
      const guarded: [string, string][] = [
        ['GET', '/auth/whoami'],
        ['POST', '/tokens'],
        ['GET', '/tokens'],
        ['DELETE', '/tokens/tok_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
        ['POST', '/auth/sign-in-links'],
      ];
      for (const [method, path] of guarded) {
        for (const [what, token] of unusable) {
          it(`answers 401 to ${method} ${path} with ${what}`, async () => {
            const answer = await kernel.request(method, path, token === undefined ? {} : { token });
            expect([answer.status, answer.body.error.code]).to.deep.equal([401, 'unauthorized']);
            expect(answer.body.error.message).not.to.match(/revoked|expired/);
          });
        }
        if (path === '/auth/whoami') continue;
        for (const scope of ['read', 'sdk', 'agent']) {
          it(`answers 403 to ${method} ${path} with ${scope} scope`, async () => {
            const { token } = await create({ name: scope, scope });
            const answer = await call(method, path, undefined, token);
            expect([answer.status, answer.body.error.code]).to.deep.equal([403, 'forbidden']);
            expect(answer.body.error.message).to.include('write');
          });
        }
      }
    });

    describe('sign-in links', () => {
      const redeem = (code: unknown) =>
        kernel.request('POST', '/auth/sign-in-links:redeem', { body: { code } });
      const createLink = async () => (await call('POST', '/auth/sign-in-links')).body;
      /** Wrong codes count against the address: each test starts with none. */
      beforeEach(() => clock.advance(60_000));

      it('trade a code once for a write token that lives seven days', async () => {
        const { code, expires_at } = await createLink();
        expect(expires_at).to.equal(clock.now() + 10 * 60_000);
        const { status, body } = await redeem(code);
        expect(status).to.equal(200);
        expect((await call('GET', '/auth/whoami', undefined, body.token)).body).to.deep.equal({
          name: 'console sign-in',
          scope: 'write',
          can_write: true,
        });
        expect((await redeem(code)).status).to.equal(401);
        const [record] = (await call('GET', '/tokens')).body.items;
        expect(record.expires_at).to.equal(clock.now() + 7 * DAY_MS);
      });

      it('are traded by one of two who try at the same time', async () => {
        const { code } = await createLink();
        const statuses = (await Promise.all([redeem(code), redeem(code)])).map(({ status }) => status);
        expect(statuses.sort()).to.deep.equal([200, 401]);
      });

      it('are stored as a hash alone', async () => {
        const { code } = await createLink();
        expect(JSON.stringify(await kernel.db('sign_in_links').select())).not.to.include(code);
      });

      it('expire after ten minutes', async () => {
        const { code } = await createLink();
        await clock.advance(10 * 60_000);
        const answer = await redeem(code);
        expect([answer.status, answer.body.error.code]).to.deep.equal([401, 'unauthorized']);
      });

      for (const [what, code] of [
        ['number', 7],
        ['empty text', ''],
        ['text too long', 'x'.repeat(201)],
      ] as const) {
        it(`refuse a code that is a ${what}`, async () => {
          expect((await redeem(code)).body.error.details.errors[0].path).to.equal('code');
        });
      }

      it('let an address miss ten times a minute, and a right code work until then', async () => {
        for (let miss = 0; miss < 9; miss += 1) expect((await redeem('wrong')).status).to.equal(401);
        expect((await redeem((await createLink()).code)).status).to.equal(200);
        expect((await redeem('wrong')).status).to.equal(401);
        const { code } = await createLink();
        const refused = await redeem(code);
        expect([refused.status, refused.body.error.code]).to.deep.equal([429, 'rate_limited']);
        expect(refused.headers.get('retry-after')).to.equal('60');
        await clock.advance(60_000);
        expect((await redeem(code)).status).to.equal(200);
      });

      it('count what cannot be read as misses, and refuse before anything is read', async () => {
        const send = (body: string) => kernel.request('POST', '/auth/sign-in-links:redeem', { body });
        for (let miss = 0; miss < 5; miss += 1) expect((await send('{')).status).to.equal(422);
        for (let miss = 0; miss < 5; miss += 1) expect((await send('x'.repeat(1025))).status).to.equal(413);
        expect((await send('{')).status).to.equal(429);
      });

      it('do not count right codes as guesses', async () => {
        for (let link = 0; link < 12; link += 1) {
          expect((await redeem((await createLink()).code)).status).to.equal(200);
        }
      });
    });
  });

  describe('auth at the first start', () => {
    it('makes its token once for a database, and never again', async () => {
      const config = await database.create();
      const fixed = { ...database, create: () => Promise.resolve(config) };
      const first = await createTestKernel({ plugins: [auth()], database: fixed });
      const token = first.use(authRef).takeFirstToken()!;
      const { items } = (await first.request('GET', '/tokens', { token })).body;
      await first.request('DELETE', `/tokens/${items[0].id}`, { token });
      await first.close();

      const second = await createTestKernel({ plugins: [auth()], database: fixed });
      expect(second.use(authRef).takeFirstToken()).to.equal(null);
      expect(existsSync(join(second.dataDir, 'token'))).to.equal(false);
      expect((await second.request('GET', '/auth/whoami', { token })).status).to.equal(401);
      await second.close();
    });

    it('replaces the file that an earlier database has left, tightening its mode', async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'svc-auth-'));
      const earlier = await createTestKernel({ plugins: [auth()], database, dataDir });
      chmodSync(join(earlier.dataDir, 'token'), 0o644);
      await earlier.close();
      const later = await createTestKernel({ plugins: [auth()], database, dataDir });
      const file = join(later.dataDir, 'token');
      expect(readFileSync(file, 'utf8').trim()).to.equal(later.use(authRef).takeFirstToken());
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      await later.close();
      rmSync(dataDir, { recursive: true });
    });
  });
});

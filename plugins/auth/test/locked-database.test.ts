import { createTestKernel, until, type TestKernel } from '@svc/kernel/testing';
import { auth, authRef } from '@svc/plugin-auth';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** So long the kernel waits for another process that has the database locked. */
const LOCK_PATIENCE_MS = 5_000;

describe('a token whose use cannot be noted, for another process writes to the database', () => {
  let dataDir: string;
  let kernel: TestKernel;
  let token: string;
  let writer: Database.Database;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-auth-'));
    kernel = await createTestKernel({ plugins: [auth()], dataDir });
    token = kernel.use(authRef).takeFirstToken()!;
    writer = new Database(join(dataDir, 'svc.db'));
    writer.exec('BEGIN EXCLUSIVE');
  });
  afterEach(async () => {
    writer.close();
    await kernel.close();
    rmSync(dataDir, { recursive: true });
  });

  const use = async () => (await kernel.request('GET', '/auth/whoami', { token })).status;
  const lastUse = () => writer.prepare('select last_used_at from tokens').pluck().get();

  it('is answered at once, and its use is noted when that can be', async () => {
    const startedMs = performance.now();
    for (let uses = 0; uses < 3; uses++) expect(await use()).to.equal(200);
    expect(performance.now() - startedMs).to.be.below(LOCK_PATIENCE_MS / 2);
    expect(lastUse()).to.equal(null);
    writer.exec('ROLLBACK');
    await until(() => lastUse() !== null);
  });

  it('is waited for when the server closes', async () => {
    expect(await use()).to.equal(200);
    const closed = kernel.close();
    await until(() =>
      use().then(
        () => false,
        () => true,
      ),
    );
    writer.exec('ROLLBACK');
    await closed;
    expect(lastUse()).to.be.a('number');
  });
});

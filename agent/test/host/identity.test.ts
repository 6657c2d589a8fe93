import { toId } from '@svc/contract';
import { expect } from 'chai';
import { mkdtemp, readFile, rm, stat, readdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { VERSION } from '../../src/core/version.js';
import { createUlid, ensureIdentity, saveIdentitySync } from '../../src/host/identity.js';

describe('agent: identity', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'svc-identity-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('is made at the first start and kept', async () => {
    const first = await ensureIdentity(dir, undefined, 'host-a');
    const second = await ensureIdentity(dir, undefined, 'host-b');
    expect(second).to.deep.equal(first);
    expect(first).to.deep.include({ name: 'host-a', node_secret: null });
    expect(toId('node', first.node_id)).to.equal(first.node_id);
  });

  it('takes another name and keeps the rest', async () => {
    const first = await ensureIdentity(dir, 'a', 'host');
    saveIdentitySync(dir, { ...first, node_secret: 'secret' });
    expect(await ensureIdentity(dir, 'b', 'host')).to.deep.equal({
      ...first,
      name: 'b',
      node_secret: 'secret',
    });
    expect((await ensureIdentity(dir, undefined, 'host')).name).to.equal('b');
  });

  it('is for the owner of the directory alone', async () => {
    await ensureIdentity(dir, undefined, 'host');
    expect((await stat(path.join(dir, 'agent'))).mode & 0o777).to.equal(0o700);
    expect((await stat(path.join(dir, 'agent', 'agent.json'))).mode & 0o777).to.equal(0o600);
  });

  it('is taken along from where earlier versions kept it', async () => {
    const former = { node_id: 'node_01JD0000000000000000000001', node_secret: 'secret', name: 'host' };
    await writeFile(path.join(dir, 'agent.json'), JSON.stringify(former));
    expect(await ensureIdentity(dir, undefined, 'other')).to.deep.equal(former);
    expect(await readdir(dir)).to.deep.equal(['agent']);
    expect(await ensureIdentity(dir, undefined, 'other')).to.deep.equal(former);
  });

  it('has ULIDs that sort by time', () => {
    const ulids = [0, 1, 1_700_000_000_000, 1_700_000_000_001].map((ms) => createUlid(ms));
    expect([...ulids].sort()).to.deep.equal(ulids);
    expect(createUlid(1_700_000_000_000).slice(0, 10)).to.equal('01HF7YAT00');
  });

  it('has the version of its package', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    expect((JSON.parse(text) as { version: string }).version).to.equal(VERSION);
  });
});

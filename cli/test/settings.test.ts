import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { UsageError } from '../src/failure.js';
import { loadConnection, toDataDir } from '../src/settings.js';

describe('where the server is', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(os.tmpdir(), 'svc-settings-'));
    writeFileSync(path.join(dataDir, 'token'), 'svc_write_local\n');
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  it('is the local one by default, with the token that it left', () => {
    expect(loadConnection({ dataDir }, {})).to.deep.equal({
      url: 'http://127.0.0.1:8600',
      token: 'svc_write_local',
    });
  });

  it('options win over SVC_URL and SVC_TOKEN', () => {
    const env = { SVC_URL: 'http://a:1', SVC_TOKEN: 't1' };
    expect(loadConnection({ dataDir }, env)).to.deep.equal({ url: 'http://a:1', token: 't1' });
    expect(loadConnection({ dataDir, url: 'http://b:2/', token: 't2' }, env)).to.deep.equal({
      url: 'http://b:2',
      token: 't2',
    });
  });

  it('sends the local token to a loopback address alone', () => {
    const tokenFor = (url: string) => loadConnection({ dataDir, url }, {}).token;
    for (const url of ['http://127.0.0.1:9', 'http://127.9.9.9', 'http://localhost:9', 'http://[::1]:9']) {
      expect(tokenFor(url), url).to.equal('svc_write_local');
    }
    for (const url of [
      'http://127.0.0.1.example.org',
      'http://example.org',
      'http://10.0.0.1:8600',
      'http://localhost.example.org',
    ]) {
      expect(tokenFor(url), url).to.equal(null);
    }
  });

  it('is the server that works on the data directory, on whatever port', () => {
    const server = { url: 'http://127.0.0.1:12345', pid: process.pid };
    writeFileSync(path.join(dataDir, 'server.json'), JSON.stringify(server));
    expect(loadConnection({ dataDir }, {}).url).to.equal('http://127.0.0.1:12345');
  });

  it('forgets one that was killed', () => {
    writeFileSync(
      path.join(dataDir, 'server.json'),
      JSON.stringify({ url: 'http://127.0.0.1:12345', pid: 2 ** 30 }),
    );
    expect(loadConnection({ dataDir }, {}).url).to.equal('http://127.0.0.1:8600');
  });

  it('refuses what is no address', () => {
    expect(() => loadConnection({ dataDir, url: 'server:8600' }, {})).to.throw(UsageError, 'server:8600');
    expect(() => loadConnection({ dataDir, url: 'nonsense' }, {})).to.throw(
      UsageError,
      'http://127.0.0.1:8600',
    );
  });

  it('the data directory: option, SVC_DATA_DIR, ~/.svc', () => {
    expect(toDataDir('/x', { SVC_DATA_DIR: '/y' })).to.equal('/x');
    expect(toDataDir(undefined, { SVC_DATA_DIR: '/y' })).to.equal('/y');
    expect(toDataDir(undefined, {})).to.equal(path.join(os.homedir(), '.svc'));
  });
});

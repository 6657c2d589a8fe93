import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { toDataDir, toLocalServer, type LocalServer } from '@svc/client/local-server';
import { expect } from 'chai';
import { Failure, UsageError } from '../src/failure.js';
import { isServerMeant, loadConnection } from '../src/settings.js';

describe('where the server is', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(path.join(os.tmpdir(), 'svc-settings-'));
    writeFileSync(path.join(dataDir, 'token'), 'svc_write_local\n');
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  function leaveServer(server: Partial<LocalServer> = {}): void {
    const all = { ...toLocalServer('http://127.0.0.1:12345'), ...server };
    writeFileSync(path.join(dataDir, 'server.json'), JSON.stringify(all));
  }

  it('is the one that works on the data directory, on whatever port, with the token that it left', () => {
    leaveServer();
    const local = { url: 'http://127.0.0.1:12345', token: 'svc_write_local' };
    expect(loadConnection({ dataDir }, {})).to.deep.equal(local);
    expect(loadConnection({ dataDir, url: 'http://127.0.0.1:12345/' }, {})).to.deep.equal(local);
  });

  it('is nowhere without one: no address is guessed', () => {
    const sentence = `no server is running on the data directory ${dataDir}: start one with svc up, or name one with svc login URL, --url or SVC_URL`;
    expect(() => loadConnection({ dataDir }, {})).to.throw(Failure, sentence);
    leaveServer({ pid: 2 ** 30 });
    expect(() => loadConnection({ dataDir }, {}), 'one that was killed').to.throw(Failure, sentence);
    leaveServer({ start_ticks: 1 });
    expect(() => loadConnection({ dataDir }, {}), 'another process under its pid').to.throw(
      Failure,
      sentence,
    );
    expect(isServerMeant({ dataDir }, {})).to.equal(false);
  });

  it('options win over SVC_URL and SVC_TOKEN', () => {
    const env = { SVC_URL: 'http://a:1', SVC_TOKEN: 't1' };
    expect(loadConnection({}, env)).to.deep.equal({ url: 'http://a:1', token: 't1' });
    expect(loadConnection({ url: 'http://b:2/', token: 't2' }, env)).to.deep.equal({
      url: 'http://b:2',
      token: 't2',
    });
  });

  it('one option names the server', () => {
    expect(() => loadConnection({ url: 'http://a:1', profile: 'lab' }, {})).to.throw(UsageError, '--profile');
  });

  it('sends the local token to the server that works on the data directory alone', () => {
    const tokenFor = (url: string) => loadConnection({ dataDir, url }, {}).token;
    const others = [
      'http://127.0.0.1:8600',
      'http://localhost:12345',
      'http://[::1]:12345',
      'http://example.org',
    ];
    for (const url of ['http://127.0.0.1:12345', ...others]) expect(tokenFor(url), url).to.equal(null);
    leaveServer();
    for (const url of others) expect(tokenFor(url), url).to.equal(null);
    leaveServer({ start_ticks: 1 });
    expect(tokenFor('http://127.0.0.1:12345'), 'a stranger on the port of one that was killed').to.equal(
      null,
    );
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
    expect(toDataDir('~/x', {})).to.equal(path.join(os.homedir(), 'x'));
  });
});

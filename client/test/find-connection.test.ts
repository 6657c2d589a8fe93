import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { findConnection, type NamedServer } from '../src/find-connection.js';
import { toLocalServer } from '../src/local-server.js';

interface WhichServer {
  readonly home: Readonly<Record<string, unknown>>;
  readonly local_url: string;
  readonly cases: readonly {
    readonly says: string;
    readonly env: Readonly<Record<string, string>>;
    readonly url: string;
    readonly token: string;
    readonly warns?: string;
  }[];
}

/** The tests of the Python SDK read the same file. */
const { home, local_url, cases } = JSON.parse(
  readFileSync(new URL('./which-server.json', import.meta.url), 'utf8'),
) as WhichServer;

describe('which server is meant', () => {
  const HOME = process.env['HOME'];
  let dir: string;
  before(() => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-home-'));
    process.env['HOME'] = dir;
    for (const [name, content] of Object.entries(home)) leave(name, content);
    leave('.svc/server.json', toLocalServer(local_url));
  });
  after(() => {
    process.env['HOME'] = HOME;
    rmSync(dir, { recursive: true });
  });

  function leave(name: string, content: unknown): void {
    const file = path.join(dir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(file, text, { mode: 0o600 });
  }

  function find(named: NamedServer, env: Readonly<Record<string, string>> = {}) {
    const warnings: string[] = [];
    const inHome = Object.entries(env).map(([name, value]) => [name, value.replace(/^~/, dir)]);
    try {
      const found = findConnection(named, Object.fromEntries(inHome), (text) => warnings.push(text));
      return { url: found?.url ?? '', token: found?.token ?? '', warnings };
    } catch (error) {
      return { url: '', token: '', warnings: [(error as Error).message] };
    }
  }

  for (const { says, env, url, token, warns } of cases)
    it(says, () => {
      const { warnings, ...found } = find({}, env);
      expect(found).to.deep.equal({ url, token });
      expect(warnings).to.have.length(warns === undefined ? 0 : 1);
      if (warns !== undefined) expect(warnings[0]).to.contain(warns);
    });

  it('options before the environment', () => {
    const env = { SVC_URL: 'http://a:1', SVC_TOKEN: 't', SVC_PROFILE: 'lab', SVC_DATA_DIR: '~/elsewhere' };
    const isFound = (named: NamedServer, url: string, token: string) =>
      expect(find(named, env)).to.deep.equal({ url, token, warnings: [] });
    isFound({ profile: 'prod' }, 'https://svc.example.org/team', 'prod-token');
    isFound({ profile: 'prod', token: 'u' }, 'https://svc.example.org/team', 'u');
    isFound({ url: 'http://lab:8600/' }, 'http://lab:8600', 'lab-token');
    isFound({ url: 'http://b:2' }, 'http://b:2', '');
    isFound({ url: 'http://a:1/' }, 'http://a:1', 't');
    isFound({ dataDir: path.join(dir, '.svc') }, local_url, 'local-token');
    isFound({ dataDir: path.join(dir, 'elsewhere') }, '', '');
  });

  it('warns of a file that others may read', () => {
    const file = path.join(dir, '.config/svc/profiles.json');
    chmodSync(file, 0o640);
    expect(find({}).warnings).to.deep.equal([
      `other users of this host may read the tokens in ${file}: run chmod 600 ${file}`,
    ]);
    expect(find({}, { SVC_URL: 'http://a:1', SVC_TOKEN: 't' }).warnings, 'not needed').to.deep.equal([]);
    chmodSync(file, 0o600);
  });
});

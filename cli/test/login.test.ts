import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { NodeRecord } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { askSecret, type Terminal } from '../src/read-secret.js';
import { ROOT, startSvc } from './support/svc.js';
import { answerOnTerminal } from './support/terminal.js';

const FROM_SOURCE = ['--import=tsx', '--conditions=svc-source'];
const NOBODY = 'http://127.0.0.1:9';

describe('svc login', () => {
  let rig: Rig;
  let home: string;
  let file: string;
  before(async () => (rig = await Rig.start()));
  after(() => rig.close());
  beforeEach(() => {
    home = mkdtempSync(path.join(os.tmpdir(), 'svc-login-'));
    file = path.join(home, '.config/svc/profiles.json');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const svc = (args: readonly string[], { stdin = '', env = {} } = {}) =>
    startSvc(args, { HOME: home, ...env }, stdin).ended;

  const logIn = (profile: string, token = rig.tokens.read) =>
    svc(['login', `${rig.kernel.url}/`, '--profile', profile, '--token-stdin'], { stdin: `${token}\n` });

  it('saves what the server accepts, for this user alone, and every command uses it', async () => {
    const { status, stdout, stderr } = await logIn('lab');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(
      `logged in to ${rig.kernel.url} as read (scope read, cannot write); saved as profile lab in ${file}\n`,
    );
    expect(JSON.parse(readFileSync(file, 'utf8'))).to.deep.equal({
      current: 'lab',
      profiles: { lab: { url: rig.kernel.url, token: rig.tokens.read } },
    });
    expect([file, path.dirname(file)].map((name) => statSync(name).mode & 0o777)).to.deep.equal([
      0o600, 0o700,
    ]);
    const caller = await svc(['whoami', '--json']);
    expect(JSON.parse(caller.stdout)).to.deep.equal({ name: 'read', scope: 'read', can_write: false });
  });

  it('saves nothing that the server refuses, and never prints a token', async () => {
    const refused = await logIn('lab', 'svc_write_wrong');
    expect(refused.status).to.equal(1);
    expect(refused.stderr).to.match(/^svc: http:\S+ refuses this token: .*; nothing was saved\n$/);
    expect(refused.stdout + refused.stderr).not.to.contain('svc_write_wrong');
    const unreachable = await svc(['login', NOBODY, '--token-stdin'], { stdin: 't' });
    expect(unreachable.stderr).to.match(/^svc: cannot reach .*; nothing was saved\n$/);
    const empty = await svc(['login', NOBODY, '--token-stdin']);
    expect(empty.stderr).to.match(/^svc: no token was given/);
    expect(existsSync(file)).to.equal(false);
  });

  it('refuses a token of a scope for programs, says which program takes it, and keeps the profile', async () => {
    await logIn('lab');
    for (const [scope, user] of [
      ['agent', 'svc agent --token-file FILE'],
      ['sdk', 'SVC_TOKEN'],
    ] as const) {
      const { status, stderr } = await logIn('lab', rig.tokens[scope]);
      expect(status).to.equal(1);
      expect(stderr).to.contain(`the scope ${scope}: `).and.contain(user).and.contain('nothing was saved');
    }
    expect(readFileSync(file, 'utf8')).to.contain(rig.tokens.read);
  });

  it('without a terminal and without --token-stdin is wrong usage, as is what is no address', async () => {
    const blind = await svc(['login', NOBODY]);
    expect(blind.status).to.equal(2);
    expect(blind.stderr).to.equal(
      'svc: there is no terminal to ask for the token: give it with --token-stdin\n',
    );
    expect((await svc(['login', 'server:8600', '--token-stdin'])).status).to.equal(2);
  });

  it('keeps several: profile use, --profile and SVC_PROFILE choose, logout removes', async () => {
    await logIn('first');
    await logIn('second', rig.tokens.write);
    const nameOf = async (...[args, env]: [string[]?, object?]) =>
      (JSON.parse((await svc(['whoami', '--json', ...(args ?? [])], { env })).stdout) as { name: string })
        .name;
    expect(await nameOf()).to.equal('write');
    expect(await nameOf(['--profile', 'first'])).to.equal('read');
    expect(await nameOf([], { SVC_PROFILE: 'first' })).to.equal('read');
    const used = await svc(['profile', 'use', 'first'], { env: { SVC_URL: NOBODY } });
    expect(used.stderr).to.contain('SVC_URL is set in this shell and decides before the profile');
    const { stdout } = await svc(['profile', 'list', '--json']);
    expect(stdout).not.to.contain(rig.tokens.write);
    expect(JSON.parse(stdout)).to.deep.equal({
      items: [
        { name: 'first', url: rig.kernel.url, is_current: true },
        { name: 'second', url: rig.kernel.url, is_current: false },
      ],
    });
    const left = await svc(['logout']);
    expect(left.stdout).to.equal(`removed profile first (${rig.kernel.url})\n`);
    expect((await svc(['logout'])).stderr).to.contain('there is no current profile');
    expect((await svc(['logout', '--profile', 'second'])).status).to.equal(0);
    expect(readFileSync(file, 'utf8')).not.to.contain('svc_');
    const lost = await svc(['whoami', '--profile', 'second']);
    expect(lost.stderr)
      .to.contain('there is no profile "second"')
      .and.contain('svc login URL --profile second');
  });

  it('names the server that svc agent connects to', async () => {
    expect((await logIn('lab')).status).to.equal(0);
    const tokenFile = path.join(home, 'agent-token');
    writeFileSync(tokenFile, rig.tokens.agent, { mode: 0o600 });
    const args = ['agent', '--name', 'of-lab', '--token-file', tokenFile, '--state-dir', home];
    const { program, ended } = startSvc(args, { HOME: home });
    try {
      await until(async () =>
        ((await rig.get('/nodes')).body as { items: NodeRecord[] }).items.some(
          ({ name }) => name === 'of-lab',
        ),
      );
    } finally {
      program.kill('SIGTERM');
      await ended;
    }
  });

  it('says that others may read the file, and closes it at the next login', async () => {
    await logIn('lab');
    chmodSync(file, 0o644);
    const { status, stderr } = await svc(['whoami']);
    expect(status).to.equal(0);
    expect(stderr).to.equal(
      `other users of this host may read the tokens in ${file}: run chmod 600 ${file}\n`,
    );
    await logIn('lab');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
  });

  it('keeps what several save at the same time', async () => {
    const source = path.join(ROOT, 'cli/src/profile-file.ts');
    const names = ['q0', 'q1', 'q2', 'q3'];
    const code = `const { saveProfile } = await import(${JSON.stringify(source)});
      for (let at = 0; at < 20; at += 1)
        await saveProfile(process.argv[1] + '-' + at, { url: 'http://127.0.0.1:9', token: 't' }, ${JSON.stringify(file)});`;
    const programs = names.map((name) =>
      spawn(process.execPath, [...FROM_SOURCE, '--input-type=module', '-e', code, name], {
        cwd: ROOT,
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
    const statuses = await Promise.all(programs.map(async (program) => (await once(program, 'exit'))[0]));
    expect(statuses).to.deep.equal([0, 0, 0, 0]);
    const { profiles } = JSON.parse(readFileSync(file, 'utf8')) as { profiles: object };
    expect(Object.keys(profiles)).to.have.length(80);
  });

  it('writes through a link, also one that leads to no file yet', async () => {
    const target = path.join(home, 'dotfiles.json');
    mkdirSync(path.dirname(file), { recursive: true });
    symlinkSync('../../dotfiles.json', file);
    for (const name of ['first', 'second']) expect((await logIn(name)).status).to.equal(0);
    expect(lstatSync(file).isSymbolicLink()).to.equal(true);
    const { profiles } = JSON.parse(readFileSync(target, 'utf8')) as { profiles: object };
    expect(Object.keys(profiles)).to.deep.equal(['first', 'second']);
  });

  it('overwrites no file that it does not understand', async () => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'mine');
    const { status, stderr } = await logIn('lab');
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: `svc: ${file} does not hold profiles: remove it, and log in again\n`,
    });
    expect(readFileSync(file, 'utf8')).to.equal('mine');
  });

  it('asks on a terminal, which shows nothing of the token', async () => {
    const answer = { question: 'token for', text: `${rig.tokens.write}\r`, isHidden: true };
    const { status, shown } = await answerOnTerminal(['login', rig.kernel.url], answer, { HOME: home });
    expect(status, shown).to.equal(0);
    expect(shown)
      .to.contain(`token for ${rig.kernel.url}: `)
      .and.contain('as write (scope write, can write)');
    expect(shown).not.to.contain(rig.tokens.write.slice(0, 14));
  });
});

describe('a secret typed on a terminal', () => {
  it('can be corrected, pasted in pieces, and given up', async () => {
    const typed = async (...pieces: string[]) => {
      const modes: boolean[] = [];
      const keys = new EventEmitter();
      const terminal = Object.assign(keys, {
        setRawMode: (raw: boolean) => modes.push(raw),
        setEncoding: () => undefined,
        resume: () => undefined,
        pause: () => undefined,
      }) as unknown as Terminal;
      const answer = askSecret('', terminal).catch((error: Error) => error.message);
      await until(() => keys.listenerCount('data') === 1);
      for (const piece of pieces) keys.emit('data', piece);
      const text = await answer;
      expect(modes).to.deep.equal([true, false]);
      return text;
    };
    expect(await typed('svc', '_wrx', '\u007f', 'ite_1\r')).to.equal('svc_write_1');
    expect(await typed('a', '\u0004')).to.equal('a');
    expect(await typed('a', '\u0003')).to.contain('nothing was saved');
  });
});

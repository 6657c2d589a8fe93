import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compiledShim } from './support/compiled-shim.js';

/** Whom file permissions stop, whoever runs the tests. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe('agent: what a shim says that cannot start a program', () => {
  let root: string;
  let shim: readonly string[];
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'svc-shim-test-'));
    const command = compiledShim();
    const file = path.join(root, 'shim.mjs');
    await cp(command.at(-1)!, file);
    shim = [...command.slice(0, -1), file];
    await mkdir(path.join(root, 'attempt'));
    const { uid, gid } = NOBODY;
    if (uid !== undefined) await chown(path.join(root, 'attempt'), uid, gid);
    await chmod(root, 0o755);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** How an attempt ends that is ordered from a shim of another user. */
  async function order(
    command: readonly string[],
    cwd: string,
    stdoutPath = path.join(root, 'attempt', 'stdout'),
  ) {
    const dir = path.join(root, 'attempt');
    const [program = '', ...args] = shim;
    const child = spawn(program, args, { ...NOBODY, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
    const files = { stdoutPath, stderrPath: path.join(dir, 'stderr') };
    const env = { PATH: process.env['PATH'] };
    child.stdin.end(`${JSON.stringify({ dir, command, cwd, env, ...files, mark: {}, host: 'node-1' })}\n`);
    await once(child, 'exit');
    return JSON.parse(await readFile(path.join(dir, 'exit.json'), 'utf8')) as {
      kind: string;
      message: string;
    };
  }

  const failed = (message: string) => ({ kind: 'dispatch_failed', message: `${message} on node-1` });

  it('names a working_dir that it may not enter', async () => {
    const cwd = path.join(root, 'secret');
    await mkdir(cwd, { mode: 0o700 });
    if (NOBODY.uid === undefined) await chmod(cwd, 0);
    expect(await order(['true'], cwd)).to.include(
      failed(`permission denied: working_dir ${cwd} cannot be entered`),
    );
  });

  it('names a program that it may not execute', async () => {
    const program = path.join(root, 'train.sh');
    await writeFile(program, '#!/bin/sh\n', { mode: 0o644 });
    expect((await order([program], '/')).message).to.equal(
      `permission denied: ${program} cannot be executed on node-1: write sh ${program}, or ${program} after chmod +x ${program}`,
    );
  });

  it('names a file of the output that it may not write', async () => {
    const file = path.join(root, 'stdout');
    await writeFile(file, '', { mode: 0o444 });
    expect(await order(['true'], '/', file)).to.include(failed(`${file} cannot be written (EACCES)`));
  });
});

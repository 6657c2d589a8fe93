import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { EVENT_TYPES, JOB_STATUSES, JOB_TYPES, type Job } from '@svc/contract';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { SCRIPTS, SHELLS } from '../src/completion/scripts.js';
import { createProgram } from '../src/main.js';
import { SVC, ROOT, runHere } from './support/svc.js';

describe('completion in a shell', () => {
  let rig: Rig;
  let dir: string;
  let job: Job;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    rig = await Rig.start();
    job = await rig.submit({ name: 'resnet', project: 'vision' });
    await rig.submit({ name: 'two words; rm' });
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-completion-'));
    mkdirSync(path.join(dir, 'bin'));
    const svc = path.join(dir, 'bin', 'svc');
    writeFileSync(svc, `#!/bin/sh\nexec ${process.execPath} ${SVC} "$@"\n`);
    chmodSync(svc, 0o755);
    writeFileSync(path.join(dir, 'train.py'), '');
    env = { HOME: dir, SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.read };
  });
  after(async () => {
    rmSync(dir, { recursive: true });
    await rig.close();
  });

  async function complete(...words: string[]): Promise<string[]> {
    const { status, stdout, stderr } = await runHere(['complete', '--', ...words], env);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split('\t')[0] ?? '');
  }

  it('knows every command and option that there is', async () => {
    const shown = createProgram().createHelp().visibleCommands(createProgram());
    expect(await complete('')).to.deep.equal(shown.map((command) => command.name()));
    expect(await complete('tok')).to.deep.equal(['token']);
    expect(await complete('token', 're')).to.deep.equal(['revoke']);
    expect(await complete('jobs', '--st')).to.deep.equal(['--status']);
    expect(await complete('events', 'watch', '--ex')).to.deep.equal(['--exec']);
  });

  it('knows the words that an option or an argument takes', async () => {
    expect(await complete('jobs', '--status', '')).to.deep.equal([...JOB_STATUSES]);
    expect(await complete('jobs', '--json', '--status', 'run')).to.deep.equal(['running']);
    expect(await complete('token', 'create', '--scope', 'w')).to.deep.equal(['write']);
    expect(await complete('submit', '--type', '')).to.deep.equal([...JOB_TYPES]);
    expect(await complete('events', '--type', '')).to.deep.equal([...EVENT_TYPES]);
    expect(await complete('events', 'watch', '--type', 'gpu')).to.deep.equal([
      'gpu_underutilized',
      'gpu_unhealthy',
    ]);
    expect(await complete('completion', '')).to.deep.equal(SHELLS);
    expect(await complete('completion', 'bash', '')).to.deep.equal([]);
    expect(await complete('restore', '')).to.deep.equal([':files']);
    expect(await complete('agent', '--token-file', '')).to.deep.equal([':files']);
  });

  it('asks the server for ids and names, whatever these contain', async () => {
    const end = job.id.slice(-6);
    expect(await complete('logs', '')).to.include.members([end, 'resnet']);
    expect(await complete('cancel', 'x', 'res')).to.deep.equal(['resnet']);
    expect(await complete('job', 'two')).to.deep.equal(['two words; rm']);
    expect(await complete('jobs', '--project', '')).to.deep.equal(['vision']);
    expect(await complete('run', 'ren')).to.deep.equal(['rename']);
    expect(await complete('events', '--job', end.toLowerCase())).to.deep.equal([end.toLowerCase()]);
  });

  it('knows the value of an option that stands in the same word', async () => {
    expect(await complete('jobs', '--status=Q')).to.deep.equal(['--status=QUEUED']);
    expect(await complete('jobs', '--status=QUEUED', '--project=')).to.deep.equal(['--project=vision']);
    expect(await complete('jobs', `--url=http://127.0.0.1:9`, '--project', '')).to.deep.equal([]);
    expect(await complete('submit', 'python3', '--status=')).to.deep.equal([':files']);
  });

  it('leaves the words of a job to the shell', async () => {
    expect(await complete('submit', '')).to.deep.equal([':files']);
    expect(await complete('submit', '--gpu', '1', 'python3', '--')).to.deep.equal([':files']);
    expect(await complete('submit', '--follow', '--no-v')).to.deep.equal(['--no-venv']);
  });

  it('offers what it knows when the server does not answer', async () => {
    const away = { ...env, SVC_URL: 'http://127.0.0.1:9' };
    expect(await runHere(['complete', '--', 'logs', ''], away)).to.deep.equal({
      status: 0,
      stdout: '',
      stderr: '',
    });
    expect((await runHere(['complete', '--', 'run', 'ta'], away)).stdout).to.match(/^tag\t/);
  });

  for (const { shell, args, script, last } of [
    {
      shell: 'bash',
      args: ['--norc', '-c'],
      script: `${SCRIPTS.bash}\nCOMP_WORDS=(svc job res); COMP_CWORD=2; _svc svc; echo "\${COMPREPLY[@]}"
        COMP_WORDS=(svc jobs --status QU); COMP_CWORD=3; _svc svc; echo "\${COMPREPLY[@]}"
        COMP_WORDS=(svc events --type LOSS_S); _svc svc; echo "\${COMPREPLY[@]}"
        COMP_WORDS=(svc jobs --status = QU); COMP_CWORD=4; _svc svc; echo "\${COMPREPLY[@]}"
        COMP_WORDS=(svc jobs --project =); COMP_CWORD=3; _svc svc; echo "\${COMPREPLY[@]}"
        COMP_WORDS=(svc job 'two\\ w'); COMP_CWORD=2; _svc svc; echo "\${COMPREPLY[@]}"
        COMP_WORDS=(svc job '"two w'); _svc svc; echo "\${COMPREPLY[@]}"`,
      last: ['QUEUED', 'vision', 'two\\ words\\;\\ rm', 'two words; rm'],
    },
    {
      shell: 'fish',
      args: ['--no-config', '-c'],
      script: `${SCRIPTS.fish}\ncomplete -C 'svc job res'\ncomplete -C 'svc jobs --status QU'\ncomplete -C 'svc events --type LOSS_S'
        complete -C 'svc jobs --status=QU'\ncomplete -C 'svc job two\\ w'\ncomplete -C 'svc job "two w'`,
      last: ['--status=QUEUED', 'two words; rm', 'two words; rm'],
    },
    {
      shell: 'zsh',
      args: ['-f', '-c'],
      script: `compdef() { :; }; _describe() { local -a found; found=("\${(@P)2}"); print -r -- "\${found[@]%%:*}"; }
        ${SCRIPTS.zsh}\nat() { words=("$@"); CURRENT=$#; PREFIX=$@[-1]; _svc; }
        at svc job res; at svc jobs --status QU; at svc events --type LOSS_S
        at svc jobs --status=QU; at svc job 'two\\ w'; words=(svc job '"two w'); PREFIX='two w'; _svc`,
      last: ['--status=QUEUED', 'two words; rm', 'two words; rm'],
    },
  ]) {
    it(`the script for ${shell} works in it`, async function () {
      if (spawnSync(shell, ['--version']).error) return this.skip();
      const all = {
        ...env,
        PATH: `${path.join(dir, 'bin')}:${process.env['PATH']}`,
        TERM: 'dumb',
      };
      const { stdout, stderr } = await promisify(execFile)(shell, [...args, script], { cwd: ROOT, env: all });
      expect(stderr).to.equal('');
      expect(stdout.trim().split('\n')).to.deep.equal(['resnet', 'QUEUED', 'LOSS_SPIKE', ...last]);
    });
  }
});

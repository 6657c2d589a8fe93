import { expect } from 'chai';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { allowMounts, allowWorkingDir, isWithin, type MountRules } from '../src/agent/mounts.js';
import { refusal } from './support/refusal.js';

describe('the mounts that an agent allows', () => {
  let dir: string;
  let rules: MountRules;
  const at = (...parts: string[]) => path.join(dir, ...parts);

  beforeEach(() => {
    dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'svc-mounts-')));
    for (const folder of ['data/imagenet', 'data-private', 'run']) mkdirSync(at(folder), { recursive: true });
    writeFileSync(at('run/docker.sock'), '');
    rules = {
      allowedMounts: [at('data')],
      socket: at('run/docker.sock'),
      nodeName: 'gpu-1',
      attemptDir: at('state/jobs/job_1/attempt-1'),
    };
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const mount = (source: string, target = '/data') => ({ source, target, read_only: true });

  it('are those below its directories, and these themselves', async () => {
    for (const source of [at('data'), at('data/imagenet')])
      expect(await allowMounts([mount(source)], rules)).to.deep.equal([mount(source)]);
  });

  it('are not those beside them, with the line that would allow it', async () => {
    const message = await refusal(allowMounts([mount(at('data-private'))], rules));
    expect(message).to.contain(`allows containers what lies below: ${at('data')}.`);
    expect(message).to.contain(`runnerDocker({ allowedMounts: ['${at('data')}', '${at('data-private')}'] })`);
  });

  it('are none at first', async () => {
    const message = await refusal(allowMounts([mount(at('data'))], { ...rules, allowedMounts: [] }));
    expect(message).to.contain('lies below: none.');
  });

  it('are judged by where links lead, and mounted from there', async () => {
    symlinkSync(at('data-private'), at('data/link'));
    symlinkSync(at('data/imagenet'), at('good'));
    expect(await refusal(allowMounts([mount(at('data/link'))], rules))).to.contain(at('data-private'));
    expect(await allowMounts([mount(at('good'))], rules)).to.deep.equal([mount(at('data/imagenet'))]);
  });

  it('may lie below a link that the agent allows', async () => {
    symlinkSync(at('data-private'), at('scratch'));
    expect(
      await allowMounts([mount(at('scratch'))], { ...rules, allowedMounts: [at('scratch')] }),
    ).to.have.length(1);
  });

  it('are there', async () => {
    expect(await refusal(allowMounts([mount(at('data/none'))], rules))).to.contain('was not found on gpu-1');
  });

  it('never hold the socket of the engine', async () => {
    const all = { ...rules, allowedMounts: ['/'] };
    for (const source of [at('run'), at('run/docker.sock'), dir])
      expect(await refusal(allowMounts([mount(source)], all))).to.contain('socket of the engine');
    expect(await refusal(allowWorkingDir(at('run'), true, all))).to.contain('socket of the engine');
  });

  it('never hide the files of the attempt', async () => {
    const target = at('state/jobs/job_1/attempt-1/spool');
    expect(await refusal(allowMounts([mount(at('data'), target)], rules))).to.contain(
      'hides files of the job',
    );
  });

  it('hold for the working directory too, unless the rights of its user say what a job may do', async () => {
    expect(await refusal(allowWorkingDir(at('data-private'), false, rules))).to.contain('cannot be mounted');
    expect(await allowWorkingDir(`${at('data-private')}/`, true, rules)).to.deep.equal({
      source: at('data-private'),
      target: at('data-private'),
      read_only: false,
    });
  });

  it('tell what lies within what', () => {
    expect(isWithin('/a', '/a')).to.equal(true);
    expect(isWithin('/a', '/a/..b')).to.equal(true);
    expect(isWithin('/', '/a')).to.equal(true);
    expect(isWithin('/a', '/ab')).to.equal(false);
    expect(isWithin('/a/b', '/a')).to.equal(false);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FakeAgent, virtualSlots } from '@svc/agent/testing';
import type { EventRecord, MetricDefinition, Run } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { checkpoints } from '@svc/plugin-checkpoints';
import { metrics } from '@svc/plugin-metrics';
import { service } from '@svc/plugin-service';
import { expect } from 'chai';
import type { Rig } from '../../plugins/runs/test/support/rig.js';
import { ServerUser } from './support/server-user.js';
import { runHere, startSvc } from './support/svc.js';

describe('commands against a server', () => {
  let user: ServerUser;
  let rig: Rig;
  let dir: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    user = await ServerUser.start([service(), metrics(), checkpoints()]);
    ({ rig, home: dir, env } = user);
  });
  after(() => user.close());

  const svc = (...args: string[]) => user.svc(...args);
  const json = <T>(...args: string[]) => user.json<T>(...args);

  describe('svc status', () => {
    it('is one screen: nodes, slots, jobs, why the oldest waits, and runs', async () => {
      expect(await svc('status')).to.match(/nodes +none; to add this host, run: svc agent\n.*0 of 0/);
      const agent = await rig.agent();
      const { id } = await rig.submit();
      await agent.startJob(id);
      await rig.reach(id, 'RUNNING');
      const oldest = await rig.submit({ name: 'first', resources: { gpu: 64 } });
      await rig.submit({ name: 'second', resources: { gpu: 64 } });
      // The run of a job is made just after the job is RUNNING.
      await until(async () => (await svc('status')).includes('1 RUNNING, 0 LOST'));
      const shown = await svc('status');
      expect(shown).to.match(new RegExp(`^svc \\S+ at ${rig.kernel.url}, up for \\d+`));
      expect(shown)
        .to.match(/^nodes +1 ONLINE$/m)
        .and.match(/^jobs +2 QUEUED, 1 RUNNING$/m);
      expect(shown)
        .to.match(/^CPU jobs +1 of \d+ used, \d+ free$/m)
        .and.match(/^runs +1 RUNNING, 0 LOST$/m);
      expect(shown).to.match(
        new RegExp(`^waiting +${oldest.id} \\(first\\) longest, .*: needs 64 GPUs`, 'm'),
      );
      const answer = await json<{ oldest_queued: { id: string }; cpu_jobs: object; runs: object }>('status');
      expect(answer.oldest_queued.id).to.equal(oldest.id);
      expect(answer.runs).to.deep.equal({ running: 1, stale: 0, lost: 0, is_partial: false });
      await agent.close();
    });

    it('says of GPUs that take no job how many there are, and why, without what controls a terminal', async () => {
      const [first, second] = virtualSlots(2);
      const health = { state: 'foreign' as const, reason: 'is used by \u001b[2Jevil (pid 7)', since: 1 };
      const hello = { name: 'gpu-host', slots: [first!, { ...second!, health }] };
      const agent = new FakeAgent({ url: rig.kernel.url, token: rig.tokens.agent, hello });
      await agent.connect();
      expect(await svc('status')).to.match(/^GPU slots +\d of \d used, \d free, 1 take no job$/m);
      const shown = await svc('nodes');
      expect(shown).to.contain('is used by').and.contain('evil (pid 7)').and.not.contain('\u001b');
      await agent.close();
    });
  });

  it('svc token revoke takes the end of an id, and names what it does not find', async () => {
    const { id } = await json<{ id: string }>('token', 'create', '--name', 'once', '--scope', 'READ');
    expect(await svc('token', 'revoke', id.slice(-8).toLowerCase())).to.equal(`${id} (once) revoked\n`);
    const { status, stderr } = await runHere(['token', 'revoke', 'ZZZZZZ'], env);
    expect(status).to.equal(1);
    expect(stderr).to.equal('svc: no token has an id that is "ZZZZZZ" or begins or ends so\n');
  });

  it('svc console prints a link that signs in once', async () => {
    const link = (await svc('console')).trim();
    const [page, code] = link.split('/#signin=');
    expect(page).to.equal(rig.kernel.url);
    const redeem = () => rig.kernel.request('POST', '/auth/sign-in-links:redeem', { body: { code } });
    const { token } = (await redeem()).body as { token: string };
    expect((await rig.get('/auth/whoami', token)).body).to.include({ scope: 'write' });
    expect((await redeem()).status).not.to.equal(200);
    const reader = await runHere(['console'], { ...env, SVC_TOKEN: rig.tokens.read });
    expect(reader).to.include({ status: 1, stdout: '' });
  });

  describe('svc run', () => {
    let run: Run;
    beforeEach(async () => (run = await rig.createRun({ name: 'mlp', tags: ['a'] })));
    const read = async () => (await rig.get(`/runs/${run.id}`)).body as Run;

    it('is listed by exactly its name', async () => {
      await rig.createRun({ name: 'mlp, exact' });
      expect((await json<{ items: Run[] }>('runs', '--name', 'mlp, exact')).items).to.have.length(1);
      expect((await json<{ items: Run[] }>('runs', '--name', 'exact')).items).to.deep.equal([]);
    });

    it('shows a run, and changes it with a word before its id', async () => {
      expect(await svc('run', run.id)).to.contain('mlp');
      expect(await svc('run', 'rename', run.id.slice(-8), 'mlp, wide')).to.equal(
        `${run.id} is now named mlp, wide\n`,
      );
      expect(await svc('run', 'tag', 'mlp, wide', 'best', 'a')).to.equal(`${run.id} has the tags a, best\n`);
      expect(await svc('run', 'tag', run.id, '--remove', 'a')).to.equal(`${run.id} has the tags best\n`);
      expect(await svc('run', 'note', run.id, 'diverged')).to.equal(`the notes of ${run.id} are saved\n`);
      expect(await read()).to.include({ name: 'mlp, wide', notes: 'diverged', status: 'RUNNING' });
      expect(await svc('run', 'finish', run.id, '--status', 'failed')).to.equal(`${run.id} FAILED\n`);
      expect(await json<Run>('run', 'note', run.id, '')).to.include({ notes: '', status: 'FAILED' });
    });

    it('svc logs of the name of a run says which job it is of', async () => {
      const { id } = await rig.submit({ name: 'train.py' });
      const agent = await rig.agent();
      await agent.startJob(id);
      await until(async () => (await rig.get(`/jobs/${id}/runs`)).body.items.length > 0);
      const [run] = (await rig.get(`/jobs/${id}/runs`)).body.items as Run[];
      await svc('run', 'rename', run?.id ?? '', 'lr sweep');
      const { stderr } = await runHere(['logs', 'lr sweep'], env);
      expect(stderr).to.equal(
        `svc: no job has the name "lr sweep"; a run has this name, and its job is ${id}\n`,
      );
      await agent.close();
    });

    it('says what it cannot do', async () => {
      await svc('run', 'finish', run.id);
      expect(await svc('run', 'finish', run.id)).to.equal(
        `${run.id} was SUCCEEDED already: nothing changed\n`,
      );
      const short = await runHere(['run', 'note', run.id.slice(-3), 'x'], env);
      expect(short.stderr).to.contain('at least 4 characters');
      const again = await runHere(['run', 'finish', run.id, '--status', 'FAILED'], env);
      expect(again.status).to.equal(1);
      expect(again.stderr).to.match(/^svc: .*SUCCEEDED/);
      const unknown = await runHere(['run', 'tag', 'no such run', 'x'], env);
      expect(unknown).to.include({ status: 1, stderr: 'svc: no run has the name "no such run"\n' });
    });
  });

  describe('svc metrics and svc projects', () => {
    it('svc metrics set: everywhere or in a project; list shows what applies', async () => {
      expect(await svc('projects')).to.match(/^no projects; svc submit --project NAME creates one/);
      await rig.createRun({ project: 'vision' });
      await svc('metrics', 'set', 'eval/score', '--direction', 'minimize', '--unit', 'ms');
      const args = ['--direction', 'maximize', '--primary', '--project', 'vision'];
      expect(await svc('metrics', 'set', 'eval/score', ...args)).to.match(
        /eval\/score \(primary\) +maximize +\S+ +the project/,
      );
      const listed = async (...options: string[]) =>
        (await json<{ items: MetricDefinition[] }>('metrics', 'list', ...options)).items[0];
      expect(await listed()).to.include({ direction: 'minimize', unit: 'ms', is_primary: false });
      expect(await listed('--project', 'vision')).to.include({ direction: 'maximize', is_primary: true });
      await svc('metrics', 'set', 'eval/score', '--no-primary', '--project', 'vision');
      expect(await listed('--project', 'vision')).to.include({ direction: 'maximize', is_primary: false });
      const wrong = await runHere(['metrics', 'set', 'x', '--unit', 's', '--project', 'none'], env);
      expect(wrong).to.include({ status: 1, stderr: 'svc: no project has the name "none"\n' });
    });

    it('svc metrics set says so when no run reports the metric', async () => {
      const unreported = await runHere(['metrics', 'set', 'eval/scroe', '--unit', 'ms'], env);
      expect(unreported.stderr).to.equal(
        'no run reports eval/scroe yet; svc metrics list shows the names that are known\n',
      );
      const { id } = await rig.createRun();
      const points = [{ name: 'eval/loss', value: 1, step: 0, seq: 0, ts: Date.now() }];
      expect((await rig.post(`/runs/${id}/metrics:batch`, { points })).status).to.equal(200);
      const reported = await runHere(['metrics', 'set', 'eval/loss', '--unit', 'ms'], env);
      expect(reported.stderr).to.equal('');
    });

    it('svc projects: newest first, with their runs; an empty list says how to begin', async () => {
      await rig.createRun({ project: 'audio' });
      const { items } = await json<{ items: { name: string; run_count: number }[] }>(
        'projects',
        '--limit',
        '1',
      );
      expect(items).to.have.length(1);
      expect(items[0]).to.include({ name: 'audio', run_count: 1 });
      expect(await svc('projects')).to.match(/^NAME +RUNS.*\naudio +1 /);
    });
  });

  describe('svc events', () => {
    let run: Run;
    before(async () => (run = await rig.createRun({ name: 'talker' })));
    const report = (title: string, severity = 'info') =>
      rig.post(`/runs/${run.id}/events`, { title, severity }, rig.tokens.sdk);

    it('lists newest first, filtered', async () => {
      await report('one');
      await report('two', 'critical');
      await report('three');
      const titles = async (...options: string[]) =>
        (await json<{ items: EventRecord[] }>('events', ...options)).items.map(({ title }) => title);
      expect(await titles('--run', 'talker', '--type', 'custom')).to.deep.equal(['three', 'two', 'one']);
      expect(await titles('--run', run.id, '--severity', 'CRITICAL')).to.deep.equal(['two']);
      expect(await titles('--limit', '1')).to.deep.equal(['three']);
      expect(await svc('events', '--run', run.id, '--severity', 'critical')).to.match(
        /^WHEN.*\n.*critical +CUSTOM .*two$/m,
      );
    });

    it('names the types that there are where no event is of the one asked for', async () => {
      for (const command of [['events'], ['events', '--json']]) {
        const { status, stderr } = await runHere([...command, '--type', 'nope'], env);
        expect(status).to.equal(0);
        expect(stderr).to.match(/^there is no event of type NOPE; .*JOB_QUEUED, .*GPU_UNHEALTHY\n$/);
      }
      expect((await runHere(['events', '--type', 'loss_nan'], env)).stderr).to.equal('');
    });

    it('watch prints each event that happens, as JSON lines too', async () => {
      const { program, written, ended } = startSvc(
        ['events', 'watch', '--json', '--severity', 'warning'],
        env,
      );
      const toTitles = () =>
        written.stdout
          .split('\n')
          .slice(0, -1)
          .map((line) => (JSON.parse(line) as EventRecord).title);
      let count = 0;
      await until(async () => {
        await report(`heard ${(count += 1)}`, 'warning');
        return written.stdout !== '';
      });
      await report('not this one');
      await report('last', 'warning');
      await until(() => toTitles().includes('last'));
      expect(toTitles()).not.to.include('not this one');
      program.kill('SIGTERM');
      await ended;
    });

    it('watch --exec runs a program for each, with the event on its standard input, and no shell', async () => {
      const log = path.join(dir, 'seen');
      const script = path.join(dir, 'hook.mjs');
      writeFileSync(
        script,
        `import { appendFileSync, readFileSync } from 'node:fs';
         const { title } = JSON.parse(readFileSync(0, 'utf8'));
         appendFileSync(${JSON.stringify(log)}, JSON.stringify([title, ...process.argv.slice(2)]) + '\\n');
         process.exit(title === 'last' ? 0 : 3);`,
      );
      const args = [
        'events',
        'watch',
        '--run',
        run.id,
        '--exec',
        process.execPath,
        script,
        '--to',
        '$HOME; a b',
      ];
      const { program, written, ended } = startSvc(args, env);
      const seen = () => readFileSync(log, { encoding: 'utf8', flag: 'a+' });
      await until(async () => {
        await report('again');
        return seen() !== '';
      });
      await report('last');
      await until(() => seen().includes('last'));
      const lines = seen()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string[]);
      expect(lines.at(-1)).to.deep.equal(['last', '--to', '$HOME; a b']);
      expect(written.stderr).to.match(/^\S+node ended with exit code 3 for evt_\w+$/m);
      program.kill('SIGTERM');
      await ended;
    });

    it('watch --exec of a program that is not there ends before the first event, with the remedy', async () => {
      const missing = await runHere(['events', 'watch', '--exec', '/no/such/program'], env);
      expect(missing).to.include({
        status: 1,
        stderr: 'svc: --exec: /no/such/program is no file that can be executed\n',
      });
      const script = path.join(dir, 'notify.sh');
      writeFileSync(script, 'true\n', { mode: 0o600 });
      const closed = await runHere(['events', 'watch', '--exec', script], env);
      expect(closed.stderr).to.contain(`write sh ${script}, or ${script} after chmod +x`);
    });
  });
});

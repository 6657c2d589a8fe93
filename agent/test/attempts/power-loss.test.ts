import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../../testing/index.js';
import { readBootId } from '../../src/core/boot-id.js';
import { Bench } from '../support/bench.js';

const CHECKPOINT = 'weights';

/** What a loss of power may make of a file. */
const DAMAGES: Readonly<Record<string, (text: string) => string | null>> = {
  intact: (text) => text,
  empty: () => '',
  truncated: (text) => text.slice(0, text.length / 2),
  zeros: (text) => '\0'.repeat(text.length),
  missing: () => null,
};
const KINDS = Object.keys(DAMAGES);

describe('agent: after a loss of power', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.create();
  });
  afterEach(() => bench.close());

  const dirOf = (job: string) => path.join(bench.stateDir, 'jobs', job, 'attempt-1');
  const checkpointOf = (job: string) => path.join(dirOf(job), 'work', 'checkpoint.pt');
  const contents = (job: string) => ({
    'plan.json': JSON.stringify({
      job_id: job,
      attempt: 1,
      run_id: null,
      name: job,
      runner: 'process',
      plan: {},
      env_names: [],
      working_dir: path.join(dirOf(job), 'work'),
      gpu_indices: [],
      kill_grace_ms: 1000,
      result: null,
      accepted_at: 1,
    }),
    'state.json': JSON.stringify({ runner: 'process', state_version: 3, boot_id: 'before', state: {} }),
    'exit.json': JSON.stringify({ kind: 'exited', code: 3, finished_at: 5 }),
  });

  async function leave(job: string, damages: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(dirOf(job), { recursive: true });
    for (const [name, text] of Object.entries(contents(job))) {
      const left = DAMAGES[damages[name] as string]?.(text) ?? null;
      if (left !== null) await writeFile(path.join(dirOf(job), name), left);
    }
  }
  async function saveCheckpoint(job: string): Promise<void> {
    await mkdir(path.join(dirOf(job), 'work'), { recursive: true });
    await writeFile(checkpointOf(job), CHECKPOINT);
  }
  const told = () => bench.server.all('hello').at(-1)?.attempts ?? [];
  const isReleased = (job: string) => existsSync(path.join(dirOf(job), 'forgotten.json'));

  it('has every checkpoint, whatever became of the files beside it, and tells each attempt as lost whose end is not known', async () => {
    const jobs = new Map<string, string>();
    for (const plan of KINDS)
      for (const state of KINDS)
        for (const exit of KINDS) {
          const job = `job_${plan}_${state}_${exit}`;
          await leave(job, { 'plan.json': plan, 'state.json': state, 'exit.json': exit });
          await saveCheckpoint(job);
          jobs.set(job, exit);
        }
    await bench.connect({ keepAttemptsDays: 0 });
    expect(told().map(({ job_id }) => job_id)).to.have.members([...jobs.keys()]);
    await until(() => [...jobs.keys()].every(isReleased), 'the server has all of them');
    // On a slow disk some ends are told after the hello.
    const ends = [...told(), ...bench.server.all('attempt')].filter(({ state }) => state === 'ended');
    expect(new Set(ends.map(({ job_id }) => job_id))).to.have.property('size', jobs.size);
    for (const { job_id, exit } of ends) {
      if (jobs.get(job_id) === 'intact') expect(exit, job_id).to.deep.equal({ kind: 'exited', code: 3 });
      else expect(exit?.kind, job_id).to.equal('lost');
    }
    await bench.closeAgents();
    await bench.connect({ keepAttemptsDays: 0 });
    await bench.closeAgents();
    expect(told()).to.deep.equal([]);
    for (const job of jobs.keys())
      expect(await readFile(checkpointOf(job), 'utf8'), job).to.equal(CHECKPOINT);
  });

  it('says why, when what was noted of an attempt is unreadable', async () => {
    await leave('job_1', { 'plan.json': 'intact', 'state.json': 'empty' });
    await bench.connect();
    const { exit } = await bench.server.ended({ job_id: 'job_1', attempt: 1 });
    const reason = 'what was noted of it cannot be read, as after a loss of power';
    expect(exit).to.deep.equal({ kind: 'lost', reason });
  });

  it('delivers what its processes had left in the spool, and the log', async () => {
    await leave('job_1', { 'plan.json': 'truncated', 'state.json': 'zeros' });
    await mkdir(path.join(dirOf('job_1'), 'spool'));
    await writeFile(path.join(dirOf('job_1'), 'spool', '1.jsonl'), '{"a":1}\n');
    await writeFile(path.join(dirOf('job_1'), 'stdout'), 'line\n');
    await bench.connect();
    await bench.server.ended({ job_id: 'job_1', attempt: 1 });
    expect(bench.server.logs.lines({ job_id: 'job_1', attempt: 1 })).to.deep.equal(['line']);
    await until(() => bench.server.all('spool').length === 1, 'the spooled record');
  });

  it('goes on with a run of this boot whose plan alone is damaged', async () => {
    const key = { job_id: 'job_1', attempt: 1 };
    await bench.connect();
    bench.server.dispatch({ ...key, plan: {} });
    await bench.server.running(key);
    await bench.closeAgents();
    await writeFile(path.join(dirOf('job_1'), 'plan.json'), '');
    await bench.connect();
    expect(told()[0]).to.deep.include({ ...key, state: 'running' });
    expect([...(bench.runner.reaped.at(-1) ?? [])]).to.deep.equal(['job_1/1']);
  });

  it('clears away what was prepared in this boot and never started, with the empty files of its user', async () => {
    for (const [job, written] of [
      ['job_empty', ''],
      ['job_written', 'a line'],
    ] as const) {
      await leave(job, { 'plan.json': 'intact' });
      const plan = JSON.parse(contents(job)['plan.json']) as object;
      await writeFile(path.join(dirOf(job), 'plan.json'), JSON.stringify({ ...plan, boot_id: readBootId() }));
      await writeFile(path.join(dirOf(job), 'stdout'), written);
      await writeFile(path.join(dirOf(job), 'stderr'), '');
      await writeFile(path.join(dirOf(job), 'eval_result.json'), '');
    }
    const outside = path.join(bench.stateDir, 'outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'kept'), '');
    await symlink(outside, path.join(dirOf('job_empty'), 'link'));
    await bench.connect();
    expect(existsSync(path.join(outside, 'kept'))).to.equal(true);
    expect(told().map(({ job_id }) => job_id)).to.deep.equal(['job_written']);
    expect(existsSync(dirOf('job_empty'))).to.equal(false);
    expect(existsSync(dirOf('job_written'))).to.equal(true);
  });

  it('clears away what never started, so that the server sends it again', async () => {
    await mkdir(dirOf('job_empty'), { recursive: true });
    for (const damage of KINDS) {
      await leave(`job_${damage}`, { 'plan.json': damage });
      for (const name of ['work', 'spool']) await mkdir(path.join(dirOf(`job_${damage}`), name));
      await writeFile(path.join(dirOf(`job_${damage}`), 'state.json.4711.tmp'), '');
    }
    await bench.connect();
    expect(told()).to.deep.equal([]);
    for (const job of ['job_empty', ...KINDS.map((damage) => `job_${damage}`)])
      expect(existsSync(path.dirname(dirOf(job))), job).to.equal(false);
  });
});

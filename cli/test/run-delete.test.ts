import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Run } from '@svc/contract';
import { checkpoints } from '@svc/plugin-checkpoints';
import { logs } from '@svc/plugin-logs';
import { metrics } from '@svc/plugin-metrics';
import { retention } from '@svc/plugin-retention';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { runHere } from './support/svc.js';
import { answerOnTerminal } from './support/terminal.js';

describe('svc run delete', () => {
  let rig: Rig;
  let home: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    home = mkdtempSync(path.join(os.tmpdir(), 'svc-run-delete-'));
    rig = await Rig.start({ dataDir: home, plugins: [metrics(), checkpoints(), logs(), retention()] });
    env = { HOME: home, SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.write };
  });
  after(async () => {
    await rig.close();
    rmSync(home, { recursive: true });
  });

  const svc = (...args: string[]) => runHere(['run', 'delete', ...args], env);
  const exists = async ({ id }: Pick<Run, 'id'>) => (await rig.get(`/runs/${id}`)).status === 200;
  async function ended(name: string): Promise<Run> {
    const run = await rig.createRun({ name });
    await rig.post(`/runs/${run.id}/finish`, { status: 'FAILED' });
    return run;
  }

  it('deletes several by ends of ids and by name, each once, and says so', async () => {
    const [first, second] = [await ended('first'), await ended('second')];
    const words = 'deleted, with its points, events and checkpoint records';
    expect(await svc('--yes', first.id.slice(-8).toLowerCase(), 'second', second.id)).to.deep.equal({
      status: 0,
      stdout: `${first.id} (first) ${words}\n${second.id} (second) ${words}\n`,
      stderr: '',
    });
    expect([await exists(first), await exists(second)]).to.deep.equal([false, false]);
  });

  it('says that the job of a run stays', async () => {
    const agent = await rig.agent();
    const { id } = await rig.submit({ name: 'of a job' });
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    agent.end(id);
    const { run_id } = await rig.reach(id, 'SUCCEEDED');
    expect((await svc('-y', run_id ?? '')).stdout).to.match(new RegExp(`records; its job ${id} stays\n$`));
    expect((await runHere(['job', id], env)).stdout).to.not.match(/^run /m);
  });

  it('answers JSON: the run as it was, or a list', async () => {
    const [first, ...more] = [await ended('a'), await ended('b'), await ended('c')];
    const json = async (...runs: Run[]) =>
      JSON.parse((await svc('--yes', '--json', ...runs.map(({ id }) => id))).stdout) as unknown;
    expect(await json(first as Run)).to.include({ id: first?.id, name: 'a', status: 'FAILED' });
    expect(await json(...more)).to.have.length(2);
  });

  it('without a terminal needs --yes, and deletes nothing when one is not found', async () => {
    const run = await ended('stays');
    const unsure = await svc(run.id);
    expect(unsure.status).to.equal(2);
    expect(unsure.stderr).to.contain('use --yes');
    expect((await svc(run.id, '--json')).status).to.equal(2);
    const unknown = await svc('--yes', run.id, 'no such run');
    expect(unknown).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'svc: no run has the name "no such run"\n',
    });
    expect(await exists(run)).to.equal(true);
  });

  it('deletes the others when one has to stay, and says why', async () => {
    const open = await rig.createRun({ name: 'open' });
    const over = await ended('over');
    const { status, stdout, stderr } = await svc('--yes', open.id, over.id);
    expect(status).to.equal(1);
    expect(stdout).to.match(new RegExp(`^${over.id} .over. deleted`));
    expect(stderr).to.contain(`is RUNNING`).and.contain(`svc run finish ${open.id}`);
    expect([await exists(open), await exists(over)]).to.deep.equal([true, false]);
  });

  describe('on a terminal', () => {
    const typed = (text: string, run: Run) =>
      answerOnTerminal(['run', 'delete', run.id], { question: 'Type yes: ', text }, env);

    it('shows the run and asks: yes deletes it', async () => {
      const run = await ended('gone soon');
      const { status, shown } = await typed('yes\r', run);
      expect(status, shown).to.equal(0);
      expect(shown)
        .to.match(new RegExp(`${run.id} +gone soon +.*FAILED`))
        .and.contain('Delete this run with its points, config, events and checkpoint records?')
        .and.contain('checkpoint files stay')
        .and.contain('(gone soon) deleted');
      expect(await exists(run)).to.equal(false);
    });

    for (const [what, answer] of [
      ['no', 'no\r'],
      ['the end of the input', '\u0004'],
    ] as const)
      it(`${what} deletes nothing`, async () => {
        const run = await ended('kept');
        const { status, shown } = await typed(answer, run);
        expect(status, shown).to.equal(0);
        expect(shown).to.contain('nothing was deleted');
        expect(await exists(run)).to.equal(true);
      });
  });
});

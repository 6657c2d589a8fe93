import { stripVTControlCharacters } from 'node:util';
import { newId } from '@svc/contract';
import { logs } from '@svc/plugin-logs';
import { service } from '@svc/plugin-service';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { widthOf } from '../src/output/text-width.js';
import { startOnTerminal } from './support/terminal.js';
import { runHere } from './support/svc.js';

const COLUMNS = 60;
const LONG = 'a-name-that-is-much-too-long-for-one-column-of-a-narrow-terminal';
const WIDE = '\u8a13\u7df4'.repeat(30);

describe('a list on a terminal of 60 columns', () => {
  let rig: Rig;
  let env: NodeJS.ProcessEnv;
  let failed: string;
  let waiting: string;
  before(async () => {
    rig = await Rig.start({ plugins: [service(), logs()] });
    env = { SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.write };
    const agent = await rig.agent();
    const job = await rig.submit({
      name: LONG,
      project: LONG,
      priority: 7,
      node_selector: { node: agent.nodeId },
    });
    failed = job.id;
    for (const attempt of [1, 2]) {
      await agent.startJob(failed, attempt);
      await rig.reach(failed, 'RUNNING');
      agent.end(
        failed,
        { kind: 'oom', code: 1, evidence: `torch.OutOfMemoryError: ${LONG} ${LONG}` },
        attempt,
      );
      await rig.reach(failed, 'FAILED');
      if (attempt === 1) await rig.post(`/jobs/${failed}/retry`);
    }
    ({ id: waiting } = await rig.submit({ name: WIDE, project: LONG, node_selector: { [LONG]: LONG } }));
    await rig.submit({ name: 'short' });
    for (const name of [LONG, WIDE]) await rig.post('/tokens', { name, scope: 'read' });
  });
  after(() => rig.close());

  async function show(...args: string[]): Promise<string[]> {
    const svc = startOnTerminal(COLUMNS, args, env);
    const status = await svc.ended;
    expect(status, svc.stdout()).to.equal(0);
    const lines = stripVTControlCharacters(svc.stdout()).trimEnd().split('\r\n');
    for (const line of lines) expect(widthOf(line), line).to.be.at.most(COLUMNS);
    return lines;
  }
  /** What stands in the first column, below the title. */
  const firstOf = (lines: readonly string[]) =>
    lines.slice(1).map((line) => line.trim().split(/\s+/)[0] ?? '');

  it('of jobs fits, and its ids name the jobs', async () => {
    const ids = firstOf(await show('jobs'));
    expect(ids).to.have.length(3);
    for (const id of ids) {
      const { status, stdout } = await runHere(['job', id, '--json'], env);
      expect(status).to.equal(0);
      expect((JSON.parse(stdout) as { id: string }).id.endsWith(id)).to.equal(true);
    }
    expect(ids).to.include.members([failed.slice(-6), waiting.slice(-6)]);
  });

  it('of attempts fits, and its runs can be named', async () => {
    const lines = await show('attempts', failed.slice(-6));
    expect(firstOf(lines)).to.deep.equal(['2', '1']);
  });

  it('of tokens fits, and its ids name the tokens', async () => {
    for (const id of firstOf(await show('token', 'list')).slice(0, 2)) {
      const { status, stdout } = await runHere(['token', 'revoke', id, '--json'], env);
      expect(status).to.equal(0);
      expect((JSON.parse(stdout) as { id: string }).id.endsWith(id)).to.equal(true);
    }
    await show('token', 'list');
  });

  it('of what the server does fits, names the job that waits, and leaves no state out', async () => {
    const row = await rig.kernel.db('jobs').where({ id: failed }).first();
    for (const [at, status] of ['SUCCEEDED', 'CANCELLED', 'LOST'].entries())
      await rig.kernel.db('jobs').insert({ ...row, id: newId('job'), created_at: 1000 + at, status });
    const shown = (await show('status')).join('\n');
    expect(shown).to.contain(waiting.slice(-6));
    expect(shown).to.match(/^jobs +1 QUEUED, .*,\n +.*1 LOST$/m);
    for (const status of ['SUCCEEDED', 'FAILED', 'CANCELLED']) expect(shown).to.contain(`1 ${status},`);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { Rig } from '../../plugins/runs/test/support/rig.js';
import { runHere } from './support/svc.js';

interface Named {
  readonly id: string;
}

describe('lists of a server', () => {
  let rig: Rig;
  let dir: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-lists-'));
    rig = await Rig.start();
    env = { HOME: dir, SVC_URL: rig.kernel.url, SVC_TOKEN: rig.tokens.write };
  });
  after(async () => {
    await rig.close();
    rmSync(dir, { recursive: true });
  });

  /** What a command that must succeed writes to stdout. */
  async function svc(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await runHere(args, env);
    expect(status, stderr).to.equal(0);
    return stdout;
  }
  const json = async <T>(...args: string[]) => JSON.parse(await svc(...args, '--json')) as T;

  it('a part of an id names a project, an experiment and the page of a list', async () => {
    const older = await rig.createRun({ project: 'sound', experiment: 'first', name: 'older' });
    await rig.createRun({ project: 'speech', experiment: 'second' });
    const end = (id: string) => id.slice(-6).toLowerCase();
    const named = async (...args: string[]) =>
      (await json<{ items: Named[] }>(...args)).items.map(({ id }) => id);
    const { project_id, experiment_id } = older;
    expect(await named('runs', '--project', end(project_id))).to.deep.equal([older.id]);
    expect(await named('runs', '--experiment', end(experiment_id))).to.deep.equal([older.id]);
    expect(await named('jobs', '--project', end(project_id), '--experiment', end(experiment_id))).to.be.empty;
    await svc('metrics', 'set', 'pesq', '--direction', 'maximize', '--project', end(project_id));
    expect(await svc('metrics', 'list', '--project', end(project_id))).to.match(/^pesq +maximize/m);
    for (const list of ['projects', 'events']) {
      const [, second = '', ...others] = await named(list);
      expect(await named(list, '--before', end(second)), list).to.deep.equal(others);
    }
    const unknown = await runHere(['events', '--before', 'ZZZZZZ'], env);
    expect(unknown.stderr).to.equal('svc: no event has an id that is "ZZZZZZ" or begins or ends so\n');
  });

  it('svc metrics list says on stderr that it is full', async () => {
    for (const name of ['one', 'two']) await svc('metrics', 'set', name, '--unit', 's');
    const note = (await runHere(['metrics', 'list', '--limit', '2'], env)).stderr;
    expect(note).to.match(/^at most 2 are listed; for more: svc .*--limit 1000\n$/);
    expect((await runHere(['metrics', 'list', '--limit', '2', '--json'], env)).stderr).to.equal('');
    expect((await runHere(['metrics', 'list'], env)).stderr).to.equal('');
  });
});

import { expect } from 'chai';
import type { Rig } from '../../plugins/runs/test/support/rig.js';
import { ServerUser } from './support/server-user.js';
import { runHere } from './support/svc.js';

interface Named {
  readonly id: string;
}

describe('lists of a server', () => {
  let user: ServerUser;
  let rig: Rig;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    user = await ServerUser.start();
    ({ rig, env } = user);
  });
  after(() => user.close());

  const svc = (...args: string[]) => user.svc(...args);
  const json = <T>(...args: string[]) => user.json<T>(...args);
  const named = async (...args: string[]) =>
    (await json<{ items: Named[] }>(...args)).items.map(({ id }) => id);

  it('a part of an id names a project, an experiment and the page of a list', async () => {
    const older = await rig.createRun({ project: 'sound', experiment: 'first', name: 'older' });
    await rig.createRun({ project: 'speech', experiment: 'second' });
    const end = (id: string) => id.slice(-6).toLowerCase();
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

  it('say on stderr how they go on, with every option that was given', async () => {
    for (const name of ['a', 'b', 'c']) await rig.createRun({ name, project: `of ${name}` });
    const { argv } = process;
    for (const args of [
      ['runs', '--status', 'RUNNING', '--search', 'a', '--limit', '1'],
      ['events', '--severity', 'info', '--limit', '1'],
      ['projects', '--limit', '1'],
    ]) {
      process.argv = [...argv.slice(0, 2), ...args];
      const { stdout, stderr } = await runHere(args, env).finally(() => (process.argv = argv));
      const [last] = await named(...args);
      expect(stderr, args[0]).to.equal(`older ones: svc ${args.join(' ')} --before ${last}\n`);
      expect(stdout).not.to.contain('older');
    }
  });

  it('of runs are filtered by name, project and a state in any case', async () => {
    const { id } = await rig.createRun({ name: 'one, of many', project: 'filtered' });
    await rig.createRun({ name: 'another', project: 'filtered' });
    const filter = ['--project', 'filtered', '--name', 'one, of many'];
    for (const status of ['running', 'Running', 'RUNNING'])
      expect(await named('runs', ...filter, '--status', status)).to.deep.equal([id]);
    expect(await named('runs', ...filter, '--status', 'failed')).to.be.empty;
  });

  it('of jobs are searched by words of the name and parts of the id', async () => {
    const { id } = await rig.submit({ name: 'ResNet lr=0.1', node_selector: { node: 'nowhere' } });
    await rig.submit({ name: 'resnet lr=0.2', node_selector: { node: 'nowhere' } });
    expect(await named('jobs', '--search', '0.1 resnet')).to.deep.equal([id]);
    expect(await named('jobs', '--search', id.slice(-6))).to.deep.equal([id]);
    expect(await named('jobs', '--search', 'resnet nothing')).to.be.empty;
  });

  it('of nodes show that one is drained, until it is undrained', async () => {
    const { nodeId } = await rig.agent();
    for (const [verb, status] of [
      ['drain', 'DRAINING'],
      ['undrain', 'ONLINE'],
    ] as const) {
      expect(await svc(verb, nodeId.slice(-6))).to.equal(`${nodeId} (${nodeId}) ${status}\n`);
      expect(await svc('nodes')).to.match(new RegExp(`${nodeId} +${status}`));
    }
  });

  it('of attempts count beyond the automatic ones, and svc job says no "2 of 1"', async () => {
    const agent = await rig.agent();
    const { id } = await rig.submit({ node_selector: { node: agent.nodeId } });
    await agent.startJob(id);
    await rig.reach(id, 'RUNNING');
    agent.end(id, { kind: 'exited', code: 1 });
    await rig.reach(id, 'FAILED');
    await svc('retry', id);
    expect(await svc('job', id)).to.match(/^attempt +2$/m);
    for (const command of ['job', 'jobs', 'attempts'])
      expect(await svc(command, ...(command === 'jobs' ? [] : [id]))).not.to.contain('2 of 1');
  });
});

import { routes, type Job } from '@svc/contract';
import { expect } from 'chai';
import { createWorkplace, submit, type Server, type Workplace } from '../support/workplace.js';

describe('what a command means by a word', function () {
  this.timeout(60_000);
  let workplace: Workplace;
  let server: Server;
  const jobs: Job[] = [];
  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    for (const name of ['alpha', 'beta', 'alpha', 'gamma']) {
      const body = { name, command: ['true'], node_selector: { node: 'none' }, project: `of-${name}` };
      jobs.push(await submit(server.client, body));
    }
    await server.client.call(routes.createRun, { body: { name: 'a run with words' } });
  });
  after(() => workplace.close());

  const svc = (...args: string[]) => workplace.svc(args);
  const shown = async (...args: string[]) => {
    const { status, stdout, stderr } = await svc(...args, '--json');
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as { id: string };
  };

  it('is the newest when there is none', async () => {
    expect((await shown('job')).id).to.equal(jobs[3]?.id);
  });

  it('is the newest of a name', async () => {
    expect((await shown('job', 'alpha')).id).to.equal(jobs[2]?.id);
    expect((await shown('run', 'a run with words')).id).to.match(/^run_/);
  });

  it('is an id, with its prefix or without, or the end of one, in any case', async () => {
    const { id } = jobs[1]!;
    for (const word of [id, id.slice(4), id.slice(-6), id.slice(-8).toLowerCase(), `job_${id.slice(-7)}`])
      expect((await shown('job', word)).id, word).to.equal(id);
  });

  it('is refused when it is the beginning of several, which are named', async () => {
    const { status, stderr } = await svc('job', jobs[0]!.id.slice(4, 9));
    expect(status).to.equal(1);
    expect(stderr).to.contain('is not unique').and.contain(`${jobs[0]!.id} (alpha)`).and.contain('(gamma)');
  });

  it('is refused when nothing has that name or id', async () => {
    expect((await svc('job', 'delta')).stderr).to.contain('no job has the name "delta"');
    expect((await svc('logs', 'zzzz')).stderr).to.contain('no job has the name "zzzz"');
  });

  it('may be several for cancel: what is wrong with one does not keep the others', async () => {
    const { status, stdout, stderr } = await svc('cancel', 'beta', 'delta', jobs[3]!.id.slice(-6));
    expect(status).to.equal(1);
    expect(stdout).to.equal(`${jobs[1]!.id} CANCELLED\n${jobs[3]!.id} CANCELLED\n`);
    expect(stderr).to.contain('"delta"');
  });

  it('is a state in any case, a name or a project for a list', async () => {
    const ids = async (...args: string[]) => {
      const { items } = JSON.parse((await svc('jobs', ...args, '--json')).stdout) as { items: Job[] };
      return items.map(({ id }) => id);
    };
    expect(await ids('--status', 'cancelled')).to.deep.equal([jobs[3]!.id, jobs[1]!.id]);
    expect(await ids('--name', 'alpha')).to.deep.equal([jobs[2]!.id, jobs[0]!.id]);
    expect(await ids('--project', 'of-beta')).to.deep.equal([jobs[1]!.id]);
    const { status, stderr } = await svc('jobs', '--status', 'finished');
    expect(status).to.equal(2);
    expect(stderr).to.contain('It must be one of QUEUED');
  });

  it('goes on with the same options where a list ends, said on stderr', async () => {
    const { stdout, stderr } = await svc('jobs', '--status', 'queued', '--limit', '1');
    expect(stdout).to.contain(jobs[2]!.id).and.not.contain('older');
    expect(stderr).to.equal(
      `older ones: svc jobs --status queued --limit 1 --before ${jobs[2]!.created_at}\n`,
    );
    const next = await svc(
      'jobs',
      '--status',
      'queued',
      '--limit',
      '1',
      '--before',
      String(jobs[2]!.created_at),
    );
    expect(next.stdout).to.contain(jobs[0]!.id);
  });

  it('tells why a log has no lines yet', async () => {
    expect((await svc('logs', 'alpha', '--tail', '5')).stderr).to.contain('no lines yet: the job is QUEUED');
  });
});

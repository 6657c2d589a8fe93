import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createWorkplace, untilJob, type Server, type Workplace } from '../support/workplace.js';

describe('svc submit --upload', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let source: string;
  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
    source = path.join(workplace.dir, 'source');
    mkdirSync(path.join(source, 'pkg'), { recursive: true });
    writeFileSync(path.join(source, 'train.sh'), 'pwd; ls; cat pkg/data.txt; echo changed > pkg/data.txt\n');
    writeFileSync(path.join(source, 'pkg', 'data.txt'), 'as submitted\n');
    writeFileSync(path.join(source, '.gitignore'), '*.secret\n');
    writeFileSync(path.join(source, 'key.secret'), 'hunter2\n');
  });
  after(() => workplace.close());

  const read = (id: string): Promise<Job> => server.client.call(routes.getJob, { params: { job_id: id } });
  const svc = async (...args: string[]) => {
    const { status, stdout, stderr } = await workplace.svc(args);
    expect(status, stderr).to.equal(0);
    return { stdout, stderr };
  };
  const cacheDir = () => path.join(workplace.dir, 'agent', 'snapshot-cache');

  it('runs the command in a copy of the source files, on a host that has only the copy', async () => {
    const { stdout, stderr } = await svc('submit', '--upload', source, '--follow', 'sh', 'train.sh');
    const [directory, ...lines] = stdout.trimEnd().split('\n');
    expect(directory).to.match(/\/agent\/jobs\/job_\w+\/attempt-1\/work$/);
    expect(lines).to.deep.equal(['pkg', 'train.sh', 'as submitted']);
    expect(stderr).to.contain('3 files').and.contain('left out: key.secret');
    expect(readFileSync(path.join(source, 'pkg', 'data.txt'), 'utf8')).to.equal('as submitted\n');
  });

  it('gives every attempt the files as they were submitted, also when they have changed and the cache is empty', async () => {
    const { stdout } = await svc('submit', '--upload', source, 'sh', 'train.sh');
    const id = stdout.trim();
    await untilJob(server.client, id, ({ status }) => status === 'SUCCEEDED');
    writeFileSync(path.join(source, 'pkg', 'data.txt'), 'later\n');
    rmSync(cacheDir(), { recursive: true });
    await svc('retry', id);
    await untilJob(server.client, id, ({ status, attempt }) => attempt === 2 && status === 'SUCCEEDED');
    expect((await svc('logs', id)).stdout).to.contain('as submitted');
    expect(readdirSync(cacheDir())).to.deep.equal([`${(await read(id)).snapshot}.tar.gz`]);
    writeFileSync(path.join(source, 'pkg', 'data.txt'), 'as submitted\n');
  });

  it('uploads the same files once', async () => {
    const ids = [];
    for (let at = 0; at < 2; at += 1)
      ids.push((await svc('submit', '--upload', source, 'true')).stdout.trim());
    const [first, second] = await Promise.all(ids.map(read));
    expect(first?.snapshot).to.be.a('string').and.equal(second?.snapshot);
    expect(readdirSync(path.join(workplace.dataDir, 'snapshots'))).to.include(`${first?.snapshot}.tar.gz`);
  });

  it('gives the source files back', async () => {
    const { stdout } = await svc('submit', '--upload', source, 'true');
    const output = path.join(workplace.dir, 'back');
    await svc('code', stdout.trim(), '-o', output);
    expect(readdirSync(output).sort()).to.deep.equal(['.gitignore', 'pkg', 'train.sh']);
    expect(readFileSync(path.join(output, 'pkg', 'data.txt'), 'utf8')).to.equal('as submitted\n');
    const again = await workplace.svc(['code', stdout.trim(), '-o', output]);
    expect(again.status).to.equal(1);
    expect(again.stderr).to.contain('is not empty');
  });

  it('fetches a damaged file of the cache once more', async () => {
    const { snapshot } = await read((await svc('submit', '--upload', source, 'true')).stdout.trim());
    await untilCached(snapshot as string);
    writeFileSync(path.join(cacheDir(), `${snapshot}.tar.gz`), 'damaged');
    const { stdout } = await svc('submit', '--upload', source, '--follow', 'cat', 'pkg/data.txt');
    expect(stdout).to.equal('as submitted\n');
  });

  it('fails a job whose snapshot is gone, and says so', async () => {
    writeFileSync(path.join(source, 'pkg', 'data.txt'), 'gone soon\n');
    const id = (
      await svc('submit', '--upload', source, '--node-selector', 'rack=none', 'true')
    ).stdout.trim();
    const { snapshot } = await read(id);
    rmSync(path.join(workplace.dataDir, 'snapshots', `${snapshot}.tar.gz`));
    const body = { command: ['true'], snapshot: snapshot as string, resources: { cpu_only: true } };
    const job = await server.client.call(routes.submitJob, { body });
    const failed = await untilJob(server.client, job.id, ({ status }) => status === 'FAILED');
    expect(failed.failure_reason).to.equal('DISPATCH_FAILED');
    expect(failed.failure_message).to.contain('is gone');
  });

  async function untilCached(sha256: string): Promise<void> {
    const file = path.join(cacheDir(), `${sha256}.tar.gz`);
    await until(() => existsSync(file));
  }
});

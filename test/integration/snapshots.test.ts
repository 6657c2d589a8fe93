import { routes, type Job } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import path from 'node:path';
import {
  createWorkplace,
  untilJob,
  untilPrinted,
  type Server,
  type Workplace,
} from '../support/workplace.js';

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

  it('gives links back that lead out of the tree', async () => {
    symlinkSync('/mnt/datasets', path.join(source, 'data'));
    const { stdout } = await svc('submit', '--upload', source, 'true');
    rmSync(path.join(source, 'data'));
    const output = path.join(workplace.dir, 'with-link');
    await svc('code', stdout.trim(), '-o', output);
    expect(readlinkSync(path.join(output, 'data'))).to.equal('/mnt/datasets');
    expect(readdirSync(output).filter((name) => name.endsWith('.gz'))).to.deep.equal([]);
  });

  it('says that the files come back damaged, and of what to do', async () => {
    const { id, file } = await submitWaiting('comes back damaged\n');
    writeFileSync(file, Buffer.alloc(statSync(file).size));
    const { status, stderr } = await workplace.svc(['code', id, '-o', path.join(workplace.dir, 'damaged')]);
    expect(status).to.equal(1);
    expect(stderr)
      .to.contain('came damaged')
      .and.contain('svc submit --upload of the same files replaces it');
    await svc('cancel', id);
    await drain(false);
  });

  for (const [what, damage] of [
    ['is gone', (file: string) => rmSync(file)],
    ['is damaged', (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
  ] as const)
    it(`fails a job when the file of its snapshot ${what}, says so, and takes the files again`, async () => {
      const { id, file } = await submitWaiting(`${what} soon\n`);
      damage(file);
      await drain(false);
      const failed = await untilJob(server.client, id, ({ status }) => status === 'FAILED');
      expect(failed.failure_reason).to.equal('DISPATCH_FAILED');
      expect(failed.failure_message).to.contain('gone or damaged on the server').and.contain('--upload');
      const { stdout } = await svc('submit', '--upload', source, '--follow', 'cat', 'pkg/data.txt');
      expect(stdout).to.equal(`${what} soon\n`);
    });

  it('waits for a server that takes too many uploads now, and says so', async () => {
    writeFileSync(path.join(source, 'pkg', 'data.txt'), 'while others send\n');
    const others = Array.from({ length: 8 }, beginUpload);
    const folder = path.join(workplace.dataDir, 'snapshots');
    await until(() => readdirSync(folder).filter((name) => name.endsWith('.partial')).length === 8);
    const program = workplace.start(['submit', '--upload', source, 'true']);
    await untilPrinted(program, /(cannot take the snapshot now: this token sends 8 .* up to 2m)/, 'stderr');
    const interrupted = workplace.start(['submit', '--upload', source, 'true']);
    await untilPrinted(interrupted, /(cannot take the snapshot now)/, 'stderr');
    const archives = () => readdirSync(workplace.dir).filter((name) => name.startsWith('svc-snapshot-'));
    expect(archives(), 'what a kill -9 would leave').to.deep.equal([]);
    process.kill(interrupted.pid, 'SIGKILL');
    await interrupted.ended;
    for (const other of others) other.destroy();
    expect((await program.ended).status).to.equal(0);
  });

  /** One that does not go on. */
  function beginUpload(): ClientRequest {
    const { url, token } = server.client.connection;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' };
    const upload = request(`${url}/api/v1/snapshots`, { method: 'POST', headers });
    upload.on('error', () => undefined).write('some');
    return upload;
  }

  /** A job that waits for the node, and the file of its snapshot. */
  async function submitWaiting(content: string): Promise<{ id: string; file: string }> {
    await drain(true);
    writeFileSync(path.join(source, 'pkg', 'data.txt'), content);
    const id = (await svc('submit', '--upload', source, 'true')).stdout.trim();
    const { snapshot } = await read(id);
    return { id, file: path.join(workplace.dataDir, 'snapshots', `${snapshot}.tar.gz`) };
  }

  async function drain(isDrained: boolean): Promise<void> {
    const [node] = (await server.client.call(routes.listNodes)).items;
    const params = { node_id: node?.id as string };
    await server.client.call(isDrained ? routes.drainNode : routes.undrainNode, { params });
  }

  async function untilCached(sha256: string): Promise<void> {
    const file = path.join(cacheDir(), `${sha256}.tar.gz`);
    await until(() => existsSync(file));
  }
});

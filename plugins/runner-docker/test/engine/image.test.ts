import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import type Docker from 'dockerode';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Images, PullProgress, type ImageRequest } from '../../src/agent/image.js';
import { DockerEngine } from '../support/docker-engine.js';
import { createHost, toPlan } from '../support/host.js';
import { refusal } from '../support/refusal.js';
import { LOGIN, Registry, SlowRegistry } from '../support/registry.js';

const SIZE_BYTES = 4_000_000;

describe('the images of an engine', function () {
  this.timeout(60_000);
  let engine: DockerEngine;
  let open: Registry;
  let closed: Registry;

  before(async function () {
    if (!process.env['SVC_TEST_DOCKERD'] || !process.env['SVC_TEST_DOCKER_REGISTRY']) return this.skip();
    [engine, open, closed] = await Promise.all([
      DockerEngine.create(),
      Registry.start(),
      Registry.start({ isPrivate: true }),
    ]);
    await publish(engine.client, `${open.host}/team/train:1`);
    await publish(engine.client, `${closed.host}/team/private:1`);
  });
  after(async () => {
    for (const each of [open, closed, engine]) await each?.close();
  });
  afterEach(async () => {
    for (const { RepoTags } of await engine.client.listImages())
      for (const tag of RepoTags ?? [])
        if (tag.startsWith('127.0.0.1')) await engine.client.getImage(tag).remove({ force: true });
  });

  const create = (find = () => Promise.resolve<typeof LOGIN | null>(null)) =>
    new Images(
      () => Promise.resolve(engine.client),
      async ({ credentialsKey: serveraddress }) => {
        const found = await find();
        return found && { ...found, serveraddress };
      },
      20,
    );
  const request = (image: string, given: Partial<ImageRequest> = {}): ImageRequest => ({
    image,
    policy: 'missing',
    nodeName: 'gpu-1',
    signal: new AbortController().signal,
    tell: () => {},
    ...given,
  });

  it('are pulled when they are missing, which the log tells, and then not again', async () => {
    const image = `${open.host}/team/train:1`;
    const lines: string[] = [];
    const tell = (line: string) => void lines.push(line);
    const { id, env } = await create().ensure(request(image, { tell }));
    expect(id).to.match(/^sha256:/);
    expect(env).to.include('TRAIN=yes');
    expect(lines[0]).to.equal(`[svc] pulling ${image}`);
    expect(lines.at(-1)).to.match(new RegExp(`^\\[svc\\] pulled ${image} in \\d+ s$`));
    lines.length = 0;
    expect(await create().ensure(request(image, { tell }))).to.deep.equal({ id, env });
    expect(lines).to.deep.equal([]);
  });

  it('are asked for at each start with the policy always', async () => {
    const image = `${open.host}/team/train:1`;
    const first = await create().ensure(request(image));
    await publish(engine.client, image);
    expect((await create().ensure(request(image))).id).to.not.equal(first.id);
  });

  it('are refused with the policy never when they are missing', async () => {
    const image = `${open.host}/team/train:1`;
    expect(await refusal(create().ensure(request(image, { policy: 'never' })))).to.equal(
      `the image ${image} is not on gpu-1, and is not pulled (pull: never): run docker pull ${image} there, or submit the job with pull: missing`,
    );
  });

  it('that no registry has are refused with what to check', async () => {
    const image = `${open.host}/team/train:none`;
    const message = await refusal(create().ensure(request(image)));
    expect(message).to.match(/cannot be pulled on gpu-1: manifest .*unknown.*\. Check its name and its tag$/);
  });

  it('of a registry that does not answer are refused with what to check', async () => {
    const message = await refusal(create().ensure(request('127.0.0.1:1/team/train')));
    expect(message).to.contain('connection refused');
    expect(message).to.match(
      /Check that the host reaches 127\.0\.0\.1:1, or load the image there with docker load$/,
    );
  });

  it('of a private registry need the credentials of the agent', async () => {
    const image = `${closed.host}/team/private:1`;
    for (const wrong of [null, { ...LOGIN, password: 'wrong' }]) {
      const message = await refusal(create(() => Promise.resolve(wrong)).ensure(request(image)));
      expect(message).to.contain(`for a private image run docker login ${closed.host} there as `);
      expect(message).to.not.contain('wrong');
    }
    expect((await create(() => Promise.resolve(LOGIN)).ensure(request(image))).env).to.include('TRAIN=yes');
  });

  it('that several attempts want are pulled once, until the last does not want them any more', async () => {
    const slow = new SlowRegistry(open.host);
    try {
      const image = `${await slow.start()}/team/train:1`;
      const images = create();
      const stops = [new AbortController(), new AbortController(), new AbortController()];
      const lines: string[] = [];
      const pulls = stops.map(({ signal }) =>
        images.ensure(request(image, { signal, tell: (line) => void lines.push(line) })),
      );
      for (const pull of pulls) pull.catch(() => {});
      await until(() => slow.asked > 0, 'the pull');
      stops[0]?.abort(new Error('stopped'));
      expect(await pulls[0]?.catch((error: Error) => error.message)).to.equal('stopped');
      const asked = slow.asked;
      slow.release();
      expect((await pulls[1])?.id).to.equal((await pulls[2])?.id);
      expect(slow.asked - asked).to.be.at.most(1);
      expect(lines.filter((line) => line.startsWith('[svc] pulled '))).to.have.length(2);
    } finally {
      await slow.close();
    }
  });

  it('are not pulled on for nobody', async () => {
    const slow = new SlowRegistry(open.host);
    try {
      const image = `${await slow.start()}/team/train:1`;
      const stop = new AbortController();
      const answers: Readable[] = [];
      const watched = Object.create(engine.client) as Docker;
      watched.createImage = (async (auth: object, options: object) => {
        const answer = await engine.client.createImage(auth, options);
        answers.push(answer as Readable);
        return answer;
      }) as Docker['createImage'];
      const images = new Images(
        () => Promise.resolve(watched),
        () => Promise.resolve(null),
      );
      const pull = images.ensure(request(image, { signal: stop.signal }));
      pull.catch(() => {});
      await until(() => slow.asked > 0, 'the pull');
      stop.abort(new Error('stopped'));
      expect(await pull.catch((error: Error) => error.message)).to.equal('stopped');
      // The engine gives a pull up when its client has gone.
      await until(
        () => answers.length > 0 && answers.every(({ destroyed }) => destroyed),
        'the end of the pull',
      );
    } finally {
      await slow.close();
    }
  });

  it('whose pull ends with the agent make the attempt lost, with what it had told, and the next one pulls again', async () => {
    const [slow, host] = [new SlowRegistry(open.host), await createHost()];
    try {
      const plan = toPlan(['no-such-program'], {
        image: `${await slow.start()}/team/train:1`,
        pull: 'missing',
      });
      const agent = await host.spawnAgent();
      const first = { job_id: `job_${'1'.repeat(26)}`, attempt: 1 };
      host.server.dispatch({ ...first, runner: 'docker', plan });
      await until(() => host.server.logs.lines(first, 'stderr').length > 0 && slow.asked > 0, 'the pull');
      await agent.end('SIGKILL');
      await host.startAgent();
      const { exit } = await host.server.ended(first);
      expect(exit).to.deep.equal({
        kind: 'lost',
        reason: 'its agent ended while it was being started, as during the pull of an image',
      });
      expect(host.server.logs.lines(first, 'stderr')[0]).to.match(/^\[svc\] pulling /);
      slow.release();
      const second = { ...first, attempt: 2 };
      host.server.dispatch({ ...second, runner: 'docker', plan });
      const next = await host.server.ended(second);
      expect(next.exit).to.have.property('message').that.contains('no-such-program');
      expect(await engine.containers()).to.deep.equal([]);
    } finally {
      await host.close();
      await slow.close();
    }
  });
});

describe('how far a pull is', () => {
  it('is the sum over the layers that are known, told when it changes', () => {
    const progress = new PullProgress();
    const at = (id: string, current: number, total: number) =>
      progress.take({ id, status: 'Downloading', progressDetail: { current, total } });
    expect(progress.next()).to.equal(null);
    progress.take({ status: 'Pulling from team/train' });
    progress.take({ id: 'a', status: 'Pulling fs layer', progressDetail: {} });
    at('a', 500_000_000, 2e9);
    at('b', 500_000_000, 2e9);
    expect(progress.next()).to.equal('25 % of 4.0 GB');
    expect(progress.next()).to.equal(null);
    progress.take({ id: 'b', status: 'Download complete', progressDetail: {} });
    progress.take({ id: 'b', status: 'Extracting', progressDetail: { current: 1, total: 2e9 } });
    expect(progress.next()).to.equal('62 % of 4.0 GB');
  });
});

/** Makes an image of random bytes and pushes it; the engine does not keep it. */
async function publish(client: Docker, image: string): Promise<void> {
  const root = mkdtempSync(path.join(os.tmpdir(), 'svc-image-'));
  writeFileSync(path.join(root, 'data'), randomBytes(SIZE_BYTES));
  const archive = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const at = image.lastIndexOf(':');
  const name = { repo: image.slice(0, at), tag: image.slice(at + 1), changes: 'ENV TRAIN=yes' };
  await text((await client.importImage(archive.stdout, name)) as Readable);
  rmSync(root, { recursive: true });
  const authconfig = { ...LOGIN, serveraddress: image.slice(0, image.indexOf('/')) };
  const pushed = await client.getImage(image).push({ authconfig });
  expect(await text(pushed as Readable)).to.not.contain('error');
  await client.getImage(image).remove({ force: true });
}

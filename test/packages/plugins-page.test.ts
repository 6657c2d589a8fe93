import { routes, type EventRecord } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { cpSync, readFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { installPacked, startTool } from '../support/packages.js';
import { readFiles, writeFiles } from '../support/page.js';
import { ROOT } from '../support/program.js';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const FILES = readFiles('docs/plugins.md');

describe('the plugins of docs/plugins.md, in a folder outside the repository with the packed packages', function () {
  this.timeout(300_000);
  let workplace: Workplace;
  let server: Server;
  let receiver: HttpServer;
  const received: unknown[] = [];

  const write = (file: string, text: string) => writeFiles(workplace.dir, new Map([[file, text]]));

  before(async () => {
    workplace = createWorkplace({ isInstalled: true });
    await installPacked(workplace.dir);
    writeFiles(workplace.dir, FILES);
    cpSync(path.join(ROOT, 'test', 'fixtures', 'probe'), path.join(workplace.dir, 'svc-plugin-probe'), {
      recursive: true,
    });
    receiver = createServer((request, response) => {
      void request.toArray().then((chunks) => {
        received.push(JSON.parse(Buffer.concat(chunks as Buffer[]).toString()));
        response.end();
      });
    }).listen(0, '127.0.0.1');
    await until(() => receiver.listening);
  });
  after(async () => {
    receiver.close();
    await workplace.close();
  });

  it('are one of each kind', () => {
    expect(
      [...FILES.keys()].filter((file) => /^svc-plugin-[\w-]+\/(index|agent)\.ts$/.test(file)),
    ).to.have.members([
      'svc-plugin-hello/index.ts',
      'svc-plugin-job-ends/index.ts',
      'svc-plugin-runner-taskset/index.ts',
      'svc-plugin-runner-taskset/agent.ts',
      'svc-plugin-load/agent.ts',
      'svc-plugin-plateau/index.ts',
      'svc-plugin-webhook/index.ts',
      'svc-plugin-disk-quota/index.ts',
      'svc-plugin-projects-page/index.ts',
    ]);
  });

  it('compile against the exported types alone; what reaches for more does not', async () => {
    const source = FILES.get('svc-plugin-hello/index.ts') ?? '';
    const wrong = source
      .replace(`from '@svc/contract';`, `from '@svc/contract/src/index.js';`)
      .replace('ctx.hooks.routes.tap', 'void ctx.hooks.routes.collect;\n    ctx.hooks.routes.tap');
    write('svc-plugin-wrong/index.ts', wrong);
    const { stdout } = await startTool(workplace.dir, 'tsc');
    expect(stdout).to.match(/Cannot find module '@svc\/contract\/src/);
    expect(stdout).to.match(/Property 'collect' does not exist/);
    const others = stdout
      .split('\n')
      .filter((line) => /^\S+\.ts\(/.test(line) && !line.startsWith('svc-plugin-wrong/'));
    expect(others).to.deep.equal([]);
  });

  it('pass the tests that the page shows', async () => {
    const { status, stdout, stderr } = await startTool(
      workplace.dir,
      'mocha',
      ...['--import=tsx', '--timeout', '60000', 'svc-plugin-*/test/*.test.ts'],
    );
    expect(status, `${stdout}\n${stderr}`).to.equal(0);
    expect(stdout)
      .to.match(/greets by name/)
      .and.to.match(/runner taskset: conformance/);
  });

  describe('in a server and an agent', () => {
    before(async () => {
      const { port } = receiver.address() as AddressInfo;
      const config = FILES.get('svc.config.ts') ?? '';
      write(
        'svc.config.ts',
        config
          .replace('https://hooks.example.org/svc', `http://127.0.0.1:${port}`)
          .replace('projectsPage(),', 'projectsPage(),\n    probe(),')
          .replace(/^/, `import { probe } from './svc-plugin-probe/index.ts';\n`),
      );
      server = await workplace.startServer();
      await workplace.startAgent(server);
    });

    const ask = async (method: string, pathname: string, body?: unknown) => {
      const response = await fetch(`${server.url}/api/v1${pathname}`, {
        method,
        headers: {
          authorization: `Bearer ${server.client.connection.token}`,
          'content-type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const run = async (command: readonly string[], extras: object = {}) => {
      const resources = { cpu_only: true };
      const { id } = await submit(server.client, { command: [...command], resources, ...extras });
      return untilJob(server.client, id, ({ finished_at }) => finished_at !== null);
    };
    const linesOf = async (id: string) =>
      (await server.client.call(routes.tailLogs, { params: { job_id: id }, query: {} })).lines;

    it('the route answers, validated, authorised and described', async () => {
      expect(await ask('GET', '/hello?name=Ada')).to.deep.equal({
        status: 200,
        body: { greeting: 'good morning, Ada' },
      });
      expect((await ask('GET', '/hello?loud=1')).status).to.equal(422);
      expect((await fetch(`${server.url}/api/v1/hello`)).status).to.equal(401);
      expect((await ask('GET', '/openapi.json')).body['paths']).to.have.property('/hello');
    });

    it('the observer sees the end of a job', async () => {
      const job = await run(['true']);
      expect(job.status).to.equal('SUCCEEDED');
      const told = () => server.stderr.split('\n').filter((line) => line.includes('a job has ended'));
      await until(() => told().some((line) => line.includes(job.id) && line.includes('SUCCEEDED')));
      expect(told()).to.have.length(1);
    });

    it('the runner runs a job, and refuses at submit what cannot be run', async () => {
      const own = readFileSync('/proc/self/status', 'utf8');
      const core = /^Cpus_allowed_list:\s*(\d+)/m.exec(own)?.[1] ?? '';
      const options = (cores: string) => ({ runner: 'taskset', runner_options: { cores } });
      const job = await run(['grep', 'Cpus_allowed_list', '/proc/self/status'], options(core));
      expect(job.status).to.equal('SUCCEEDED');
      expect((await linesOf(job.id)).map(({ text }) => text)).to.deep.equal([`Cpus_allowed_list:\t${core}`]);

      const refused = await ask('POST', '/jobs', { command: ['true'], ...options('3-1') });
      expect(refused.status).to.equal(422);
      expect(JSON.stringify(refused.body)).to.include('runner_options.cores');
    });

    it('the value of the collector is a metric of the node', async () => {
      const [node] = (await server.client.call(routes.listNodes, { query: {} })).items;
      const series = await until(async () => {
        const { body } = await ask('GET', `/nodes/${node!.id}/metrics?names=load.1m`);
        return (body['series'] as Record<string, { values: number[] }>)['load.1m'];
      });
      expect(series!.values[0]).to.be.a('number').and.at.least(0);
    });

    it('the detector finds a plateau in the points of a run', async () => {
      const { id } = await server.client.call(routes.createRun, { body: { name: 'flat' } });
      const points = [3, 2, 1, 1.5, 1.4, 1.3].map((value, step) => ({
        seq: step,
        name: 'loss',
        step,
        value,
      }));
      await server.client.call(routes.writePoints, { params: { run_id: id }, body: { points } });
      const event = await until(async () => {
        const { body } = await ask('GET', `/events?run_id=${id}&type=PLATEAU`);
        return (body['items'] as EventRecord[])[0];
      });
      expect(event).to.include({
        severity: 'warning',
        title: 'loss has not improved for 3 steps',
        run_id: id,
      });
      expect(event.data).to.include({ best: 1, best_step: 2, step: 5, detector: 'plateau' });
    });

    it('the notifier sends an event', async () => {
      const { id } = await server.client.call(routes.createRun, { body: { name: 'told' } });
      const body = { title: 'half of it is done' };
      const event = await server.client.call(routes.createEvent, { params: { run_id: id }, body });
      const sent = () => received.find((one) => (one as { id: string }).id === event.id);
      await until(() => sent() !== undefined);
      expect(sent()).to.deep.equal(event);
    });

    it('the rule explains a failure from the evidence, and says nothing of another', async () => {
      const explain = async (command: string) => {
        const job = await run(['sh', '-c', command]);
        const [attempt] = (
          await server.client.call(routes.listJobAttempts, { params: { job_id: job.id }, query: {} })
        ).items;
        const events = (await server.client.call(routes.listEvents, { query: { job_id: job.id } })).items;
        const evidence = { job, attempt, lines: await linesOf(job.id), events };
        return { job, ...(await ask('POST', '/probe/explain', { rule: 'disk-quota', evidence })) };
      };
      const full = await explain('echo epoch 1; echo "OSError: [Errno 122] Disk quota exceeded" >&2; exit 1');
      expect(full.body['findings']).to.have.nested.property(
        '[0].evidence[0].text',
        'OSError: [Errno 122] Disk quota exceeded',
      );
      expect(full.body['next_actions']).to.deep.include.members([
        {
          tool: 'retry_job',
          args: { job_id: full.job.id },
          reason: 'It can go on once there is room again.',
        },
      ]);
      expect((await explain('exit 3')).body).to.deep.equal({ findings: [], next_actions: [] });
    });
  });
});

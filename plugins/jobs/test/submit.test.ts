import { newId, type Job } from '@svc/contract';
import { systemClock } from '@svc/kernel';
import { createTestKernel, eachDatabase } from '@svc/kernel/testing';
import { expect } from 'chai';
import { jobAdmit, jobDraft, jobTransition } from '../src/hooks.js';
import { Lab, tapping } from './support/lab.js';

describe('submitting a job', () => {
  eachDatabase((database) => {
    let lab: Lab;
    let aheadMs = 0;
    const clock = { ...systemClock, now: () => Date.now() + aheadMs };
    const hooks: { draft?: (name: string) => string; admit?: string; transition?: string } = {};
    const taps = tapping('taps', (ctx) => {
      ctx.tap(jobDraft, (draft) => (hooks.draft ? { ...draft, name: hooks.draft(draft.name) } : draft));
      ctx.tap(jobAdmit, (_draft, _caller, issues) => void (hooks.admit && issues.add('env', hooks.admit)));
      ctx.tap(jobTransition, () => {
        if (hooks.transition) throw new Error(hooks.transition);
      });
    });
    const post = (body: unknown, headers: Record<string, string> = {}) =>
      lab.request('POST', '/jobs', body, headers);
    const refused = async (body: unknown) => {
      const answer = await post(body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(422);
      return answer.body.error.details.errors as { path: string; message: string }[];
    };
    const countJobs = async () => ((await lab.request('GET', '/jobs')).body.items as Job[]).length;

    before(async () => {
      lab = await Lab.open({ database, clock, plugins: [taps] });
    });
    beforeEach(() => {
      for (const name of Object.keys(hooks)) delete hooks[name as keyof typeof hooks];
    });
    after(() => lab.close());

    it('can name the runners that are listed, with the schema of their options', async () => {
      const { items } = (await lab.request('GET', '/runners')).body;
      expect(items.map(({ name }: { name: string }) => name)).to.include('process');
      for (const { placement, options_schema } of items) {
        expect(placement).to.equal('slots');
        expect(options_schema.type).to.equal('object');
      }
    });

    it('needs only a command', async () => {
      const answer = await post({ command: ['/usr/bin/python3', 'train.py'] });
      expect(answer.status).to.equal(201);
      expect(answer.body).to.deep.include({
        name: 'python3',
        type: 'TRAIN',
        command: ['/usr/bin/python3', 'train.py'],
        working_dir: null,
        runner: 'process',
        image: null,
        runner_options: {},
        resources: { gpu: 1, cpu_only: false },
        priority: 0,
        project: null,
        project_id: null,
        env: {},
        node_selector: {},
        max_attempts: 1,
        attempt: 1,
        status: 'QUEUED',
        run_id: null,
        gpu_indices: [],
      });
      expect(answer.body.pending_reason).to.be.a('string').and.not.empty;
    });

    it('JOB_QUEUED fires for it', async () => {
      const job = await lab.submit({ name: 'resnet-50' });
      const [event] = await lab.events(job);
      expect(event).to.include({ type: 'JOB_QUEUED', severity: 'info', title: 'Job resnet-50 queued' });
    });

    it('JOB_QUEUED does not fire for a job that is refused, nor again for the same request', async () => {
      const newest = async () => (await lab.request('GET', '/events?type=JOB_QUEUED&limit=1')).body.items[0];
      const once = { 'Idempotency-Key': 'told once' };
      await post({ command: ['x'] }, once);
      const before = await newest();
      expect((await post({ command: ['x'] }, once)).status).to.equal(200);
      await refused({ command: [] });
      hooks.admit = 'not here';
      await refused({ command: ['x'] });
      expect(await newest()).to.deep.equal(before);
    });

    const resources: [object, object][] = [
      [{}, { gpu: 1, cpu_only: false }],
      [{ gpu: 4 }, { gpu: 4, cpu_only: false }],
      [{ gpu: 0 }, { gpu: 0, cpu_only: true }],
      [{ cpu_only: true }, { gpu: 0, cpu_only: true }],
      [
        { cpu_only: true, gpu: 0 },
        { gpu: 0, cpu_only: true },
      ],
      [{ cpu_only: false }, { gpu: 1, cpu_only: false }],
    ];
    for (const [given, taken] of resources) {
      it(`takes resources ${JSON.stringify(given)} as ${JSON.stringify(taken)}`, async () => {
        expect((await lab.submit({ resources: given })).resources).to.deep.equal(taken);
      });
    }

    it('refuses cpu_only together with GPUs', async () => {
      const [issue] = await refused({ command: ['x'], resources: { cpu_only: true, gpu: 2 } });
      expect(issue).to.deep.equal({
        path: 'resources',
        message: 'cpu_only and gpu: 2 exclude each other; leave one of them out',
      });
    });

    it('refuses an unknown runner and names those there are', async () => {
      const [issue] = await refused({ command: ['x'], runner: 'docker' });
      expect(issue).to.deep.equal({
        path: 'runner',
        message: 'there is no runner "docker"; there is only "process"',
      });
    });

    it('lets the runner refuse its options, and an image where it takes none', async () => {
      const [option] = await refused({ command: ['x'], runner_options: { shm_size_mb: 3 } });
      expect(option?.path).to.equal('runner_options.shm_size_mb');
      const [image] = await refused({ command: ['x'], image: 'pytorch' });
      expect(image).to.deep.equal({ path: 'image', message: 'the runner "process" takes no image' });
    });

    it('refuses a command without a program', async () => {
      expect((await refused({ command: [''] }))[0]?.path).to.equal('command[0]');
    });

    it('names every refused field, and stores nothing', async () => {
      const before = await countJobs();
      const issues = await refused({ command: [], working_dir: 'relative', priority: 5000, comand: ['x'] });
      expect(issues.map(({ path }) => path)).to.have.members([
        'command',
        'working_dir',
        'priority',
        'comand',
      ]);
      expect(await countJobs()).to.equal(before);
    });

    it('needs write scope', async () => {
      for (const [token, status] of [
        ['read', 403],
        ['sdk', 403],
        ['agent', 403],
        ['bad', 401],
      ] as const) {
        const answer = await lab.kernel.request('POST', '/jobs', { token, body: { command: ['x'] } });
        expect(answer.status, token).to.equal(status);
      }
    });

    it('hides env values from callers without write scope', async () => {
      const { id } = await lab.submit({ env: { SECRET: 'hunter2' } });
      const seen = async (path: string) =>
        JSON.stringify((await lab.kernel.request('GET', path, { token: 'read' })).body);
      expect((await lab.job(id)).env).to.deep.equal({ SECRET: 'hunter2' });
      expect((await lab.kernel.request('GET', `/jobs/${id}`, { token: 'read' })).body.env).to.deep.equal({
        SECRET: '***',
      });
      expect(await seen('/jobs')).not.to.contain('hunter2');
    });

    it('creates the project and experiment that it names, and refuses an unknown id', async () => {
      const job = await lab.submit({ project: 'vision', experiment: 'resnet' });
      expect(job).to.include({ project: 'vision', experiment: 'resnet' });
      expect(job.project_id).to.match(/^prj_/);
      const again = await lab.submit({ project: job.project_id!, experiment: 'resnet' });
      expect(again).to.include({
        project_id: job.project_id,
        experiment_id: job.experiment_id,
        project: job.project_id,
      });
      const inDefault = await lab.submit({ experiment: 'loose' });
      expect(inDefault).to.include({ project: 'default', experiment: 'loose' });
      expect((await post({ command: ['x'], project: newId('project') })).status).to.equal(404);
    });

    it('refuses more variables or labels than a job may have', async () => {
      const many = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, '1']));
      const [env] = await refused({ command: ['x'], env: many(1001) });
      expect(env).to.deep.equal({ path: 'env', message: 'must have at most 1000 entries' });
      const [labels] = await refused({ command: ['x'], node_selector: many(65) });
      expect(labels).to.deep.equal({ path: 'node_selector', message: 'must have at most 64 entries' });
    });

    it('refuses names that an environment or a label cannot have', async () => {
      const [bad] = await refused({ command: ['x'], env: { 'a b': '1' } });
      expect(bad).to.deep.equal({
        path: 'env.a b',
        message:
          'is no allowed name: The name of a variable has letters without accents, digits and underscores, and does not begin with a digit, such as LEARNING_RATE.',
      });
      expect(
        (await refused({ command: ['x'], node_selector: { '': 'gpu' } })).map(({ path }) => path),
      ).to.deep.equal(['node_selector.']);
    });

    it('lets plugins change and refuse it', async () => {
      hooks.draft = (name) => `${name}!`;
      expect((await lab.submit()).name).to.equal('train!');
      hooks.admit = 'TOKEN must not be set here';
      expect(await refused({ command: ['x'] })).to.deep.equal([
        { path: 'env', message: 'TOKEN must not be set here' },
      ]);
    });

    it('stores nothing of it when a plugin fails inside its transaction', async () => {
      const before = await countJobs();
      hooks.transition = 'no';
      expect((await post({ command: ['x'], project: 'never-made' })).status).to.equal(500);
      delete hooks.transition;
      expect(await countJobs()).to.equal(before);
      const names = ((await lab.request('GET', '/projects')).body.items as { name: string }[]).map(
        ({ name }) => name,
      );
      expect(names).not.to.include('never-made');
    });

    it('gives each job a created_at of its own, and pages by it without a gap or a repeat', async () => {
      const submitted = await Promise.all(
        Array.from({ length: 25 }, (_, index) => lab.submit({ name: `burst-${index}`, project: 'burst' })),
      );
      const project_id = submitted[0]!.project_id;
      const seen: Job[] = [];
      let before: number | null = null;
      do {
        const cursor: string = before === null ? '' : `&before=${before}`;
        const { body } = await lab.request('GET', `/jobs?project_id=${project_id}&limit=7${cursor}`);
        seen.push(...(body.items as Job[]));
        before = body.next_before as number | null;
      } while (before !== null);
      expect(seen.map(({ id }) => id)).to.have.members(submitted.map(({ id }) => id));
      expect(seen).to.have.length(25);
      const times = seen.map(({ created_at }) => created_at);
      expect(times).to.deep.equal([...new Set(times)].sort((a, b) => b - a));
    });

    it('cuts a list at what an answer may hold, and goes on behind the last job shown', async () => {
      const command = ['true', ...Array.from({ length: 7 }, () => 'x'.repeat(131_000))];
      const submitted: Job[] = [];
      for (let index = 0; index < 12; index += 1)
        submitted.unshift(await lab.submit({ command, project: 'large' }));
      const path = `/jobs?project_id=${submitted[0]!.project_id}&limit=1000`;
      const first = (await lab.request('GET', path)).body;
      expect([first.truncated, first.items.length]).to.deep.equal([true, 9]);
      expect(first.next_before).to.equal(first.items.at(-1).created_at);
      const second = (await lab.request('GET', `${path}&before=${first.next_before}`)).body;
      expect([second.truncated, second.next_before]).to.deep.equal([undefined, null]);
      const shown = [...first.items, ...second.items] as Job[];
      expect(shown.map(({ id }) => id)).to.deep.equal(submitted.map(({ id }) => id));
    });

    it('filters the list', async () => {
      const ids = async (query: string) =>
        ((await lab.request('GET', `/jobs?${query}`)).body.items as Job[]).map(({ id }) => id);
      const job = await lab.submit({ project: 'filtered' });
      expect(await ids(`project_id=${job.project_id!}`)).to.deep.equal([job.id]);
      expect(await ids('status=RUNNING')).to.deep.equal([]);
      expect(await ids('status=QUEUED')).to.include(job.id);
      for (const query of ['limit=0', 'limit=1001', 'status=WAITING', 'before=x', 'unknown=1']) {
        expect((await lab.request('GET', `/jobs?${query}`)).status, query).to.equal(422);
      }
      for (const query of ['project_id=nonsense', `node_id=${newId('node')}`])
        expect((await lab.request('GET', `/jobs?${query}`)).status, query).to.equal(404);
    });

    it('answers 404 for unknown and malformed ids, and takes an id without its prefix', async () => {
      for (const id of [newId('job'), 'nonsense', newId('run')]) {
        expect((await lab.request('GET', `/jobs/${id}`)).status).to.equal(404);
        expect((await lab.request('POST', `/jobs/${id}/cancel`)).status).to.equal(404);
        expect((await lab.request('POST', `/jobs/${id}/retry`)).status).to.equal(404);
      }
      const { id } = await lab.submit();
      expect((await lab.job(id.replace('job_', ''))).id).to.equal(id);
    });

    describe('with an Idempotency-Key', () => {
      const send = (key: string, body: object) => post(body, { 'Idempotency-Key': key });

      it('answers a repeat with the job made first, however its fields are ordered', async () => {
        const first = await send('a', { command: ['x'], env: { A: '1', B: '2' } });
        const second = await send('a', { env: { B: '2', A: '1' }, command: ['x'] });
        expect([first.status, second.status]).to.deep.equal([201, 200]);
        expect(second.body.id).to.equal(first.body.id);
        expect(await lab.events(first.body)).to.have.length(1);
      });

      it('refuses another body under the same key', async () => {
        await send('b', { command: ['x'] });
        const answer = await send('b', { command: ['y'] });
        expect(answer.status).to.equal(409);
        expect(answer.body.error.message).to.contain('another body');
      });

      it('makes one job of many at once', async () => {
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => send('c', { command: ['x'], project: 'once' })),
        );
        expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1);
        expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      });

      it('forgets it after 24 h', async () => {
        const first = await send('d', { command: ['x'] });
        aheadMs = 24 * 3_600_000 - 60_000;
        expect((await send('d', { command: ['x'] })).body.id).to.equal(first.body.id);
        aheadMs += 60_000;
        const later = await send('d', { command: ['y'] });
        expect(later.status).to.equal(201);
        expect(later.body.id).not.to.equal(first.body.id);
      });

      it('refuses an empty or endless key', async () => {
        for (const key of [' ', 'k'.repeat(256)])
          expect((await send(key, { command: ['x'] })).status).to.equal(422);
      });
    });
  });

  it('says so when there is no runner at all', async () => {
    const { events } = await import('@svc/plugin-events');
    const { projects } = await import('@svc/plugin-projects');
    const { nodes } = await import('@svc/plugin-nodes');
    const { jobs } = await import('../src/index.js');
    const kernel = await createTestKernel({ plugins: [events(), projects(), nodes(), jobs()] });
    const { status, body } = await kernel.request('POST', '/jobs', {
      token: 'write',
      body: { command: ['x'] },
    });
    expect(status).to.equal(422);
    expect(body.error.message).to.contain('there are none: add a runner plugin to svc.config.ts');
    await kernel.close();
  });
});

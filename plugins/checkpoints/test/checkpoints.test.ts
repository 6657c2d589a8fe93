import {
  newId,
  type Checkpoint,
  type ListedCheckpoint,
  type EventRecord,
  type Run,
  type Scope,
} from '@svc/contract';
import { createTestKernel, eachDatabase, fakeClock, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { checkpoints, checkpointsRef } from '@svc/plugin-checkpoints';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runs, runsRef } from '@svc/plugin-runs';
import { expect } from 'chai';

eachDatabase((database) => {
  describe('checkpoints', () => {
    const clock = fakeClock();
    let kernel: TestKernel;
    let run: Run & { ingest_token: string };
    const tokens = {} as Record<Scope, string>;

    before(async () => {
      const plugins = [auth(), projects(), events(), nodes(), jobs(), runs(), checkpoints()];
      kernel = await createTestKernel({ plugins, database, clock });
      for (const scope of ['read', 'write', 'sdk', 'agent'] as const) {
        const draft = { name: scope, scope, expires_at: null };
        tokens[scope] = (await createToken(kernel.db, draft, clock.now())).token;
      }
    });
    after(() => kernel.close());
    beforeEach(async () => {
      await clock.advance(1);
      run = await createRun();
    });

    const createRun = async () =>
      (await kernel.request('POST', '/runs', { token: tokens.sdk, body: { name: 'digits' } })).body;
    const register = (body: unknown, token = run.ingest_token, id = run.id) =>
      kernel.request('POST', `/runs/${id}/checkpoints`, { token, body });
    const get = (path: string, token = tokens.read) => kernel.request('GET', path, { token });
    /** Nothing here ranks them, so that none is marked. */
    const listed = async (query = ''): Promise<Checkpoint[]> => {
      const { items } = (await get(`/runs/${run.id}/checkpoints${query}`)).body as {
        items: ListedCheckpoint[];
      };
      return items.map(({ is_best, ...record }) => {
        expect(is_best).to.equal(false);
        return record;
      });
    };
    const told = async (): Promise<EventRecord[]> =>
      (await get(`/events?run_id=${run.id}&type=CHECKPOINT_CREATED`)).body.items;

    describe('are registered', () => {
      it('and told of without the secrets in their metadata, whoever sends them', async () => {
        const metadata = { hub: { hf_token: 'hunter2', retries: 3 }, note: 'run with --api-key hunter2' };
        const { body } = await register({ path: '/out/secret', metadata });
        expect(body.metadata).to.deep.equal({
          hub: { hf_token: '***', retries: 3 },
          note: 'run with --api-key ***',
          evaluations: [],
        });
        expect(JSON.stringify([await listed(), await told()])).to.not.contain('hunter2');
        const stored = await kernel.db('checkpoints').select();
        expect(JSON.stringify(stored)).to.not.contain('hunter2');
      });

      it('with all that is said of them', async () => {
        const body = {
          path: '/out/räumlich/checkpoint-120 😀',
          step: 120,
          epoch: 2.5,
          size: Number.MAX_SAFE_INTEGER,
          metadata: { note: 'before decay', nested: { nul: 'a\0b', half: '\ud800', list: [1, null] } },
        };
        const { status, body: record } = await register(body);
        expect(status).to.equal(201);
        const { id, ...rest } = record;
        expect(id).to.match(/^ckpt_[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(rest).to.deep.equal({
          ...body,
          metadata: { ...body.metadata, evaluations: [] },
          run_id: run.id,
          source: 'sdk',
          created_at: clock.now(),
          deleted_at: null,
        });
        expect(await listed()).to.deep.equal([record]);
        expect((await get(`/checkpoints/${id}`)).body).to.deep.equal(record);
        expect((await get(`/checkpoints/${id.slice(5).toLowerCase()}`)).body).to.deep.equal(record);
      });

      it('with a path alone', async () => {
        const { status, body } = await register({ path: '/out/last' });
        expect(status).to.equal(201);
        expect(body).to.deep.include({ step: null, epoch: null, size: null, metadata: { evaluations: [] } });
      });

      it('by the api, when the token is not that of the run', async () => {
        for (const token of [tokens.sdk, tokens.write]) {
          const { status, body } = await register({ path: `/${token}` }, token, run.id.slice(4));
          expect([status, body.source, body.run_id]).to.deep.equal([201, 'api', run.id]);
        }
      });

      it('by other plugins, with the source that they name, and the newest facts of what was written on', async () => {
        const service = kernel.use(checkpointsRef);
        const owner = await kernel.use(runsRef).require(kernel.db, run.id);
        const { checkpoint, isNew } = await service.register(owner, { path: '/seen', step: 1 }, 'watcher');
        expect([isNew, checkpoint.source]).to.deep.equal([true, 'watcher']);
        const again = await service.register(owner, { path: '/seen', step: 2 }, 'watcher');
        expect(again).to.deep.equal({ checkpoint: { ...checkpoint, step: 2 }, isNew: false });
      });

      it('once, by a watcher and by the training: the step and metadata of the training count', async () => {
        const service = kernel.use(checkpointsRef);
        const owner = await kernel.use(runsRef).require(kernel.db, run.id);
        const seen = { path: '/both', size: 5, metadata: { fingerprint: 'f' } };
        const { checkpoint } = await service.register(owner, seen, 'watcher');
        const said = await register({ path: '/both', step: 3, metadata: { note: 'n' } });
        expect([said.status, said.body]).to.deep.equal([
          200,
          {
            ...checkpoint,
            step: 3,
            source: 'sdk',
            metadata: { fingerprint: 'f', note: 'n', evaluations: [] },
          },
        ]);
        expect((await service.register(owner, seen, 'watcher')).isNew).to.equal(false);
        expect((await register({ path: '/both', step: 3 })).status).to.equal(200);
        expect((await register({ path: '/both', step: 4 })).status).to.equal(201);
      });

      it('that are gone, and come again', async () => {
        const service = kernel.use(checkpointsRef);
        const owner = await kernel.use(runsRef).require(kernel.db, run.id);
        const { body } = await register({ path: '/rotated', step: 1 });
        await service.markGone(run.id, '/rotated', 1234);
        await service.markGone(run.id, '/rotated', 5678);
        expect((await service.show(body.id)).deleted_at).to.equal(1234);
        await service.register(owner, { path: '/rotated' }, 'watcher');
        expect((await service.show(body.id)).deleted_at).to.equal(null);
      });

      it('are found by other plugins without their metadata, as many of them may tie', async () => {
        const { body } = await register({ path: '/out/tied', step: 9, metadata: { notes: 'long' } });
        const { id, run_id, created_at } = body as Checkpoint;
        const found = await kernel.use(checkpointsRef).find(kernel.db, [id]);
        expect(found).to.deep.equal([
          { id, run_id, step: 9, created_at, deleted_at: null, path: '/out/tied' },
        ]);
      });

      it('after the run has ended too: what was spooled still gets in', async () => {
        await kernel.request('POST', `/runs/${run.id}/finish`, {
          token: run.ingest_token,
          body: { status: 'SUCCEEDED' },
        });
        expect((await register({ path: '/out/last', step: 9 })).status).to.equal(201);
      });
    });

    describe('of the same path and step', () => {
      for (const [what, step] of [
        ['a step', { step: 7 }],
        ['no step', {}],
      ] as const) {
        it(`are one, with ${what}: the record that stands is answered, and told of once`, async () => {
          const { body: first } = await register({
            path: '/out',
            ...step,
            size: 1,
            metadata: { by: 'first' },
          });
          await clock.advance(1);
          const again = await register({ path: '/out', ...step, size: 2, metadata: { by: 'second' } });
          expect(again.status).to.equal(200);
          expect(again.body).to.deep.equal(first);
          expect(await listed()).to.deep.equal([first]);
          expect(await told()).to.have.length(1);
        });

        it(`are one, with ${what}, when many are registered at once`, async () => {
          const body = { path: `/${'x'.repeat(4095)}`, ...step };
          const answers = await Promise.all(Array.from({ length: 12 }, () => register(body)));
          expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
          expect(answers.filter(({ status }) => status === 200)).to.have.length(11);
          expect(new Set(answers.map((answer) => answer.body.id)).size).to.equal(1);
          expect(await listed()).to.have.length(1);
          expect(await told()).to.have.length(1);
        });
      }

      it('differ by step, by path and by run', async () => {
        const other = await createRun();
        const answers = [
          await register({ path: '/out' }),
          await register({ path: '/out', step: 0 }),
          await register({ path: '/out', step: 1 }),
          await register({ path: '/Out', step: 1 }),
          await register({ path: '/out', step: 1 }, other.ingest_token, other.id),
        ];
        expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201, 201]);
        expect(await listed()).to.have.length(4);
      });
    });

    describe('are told of', () => {
      it('by an event of the run, in list and stream: CHECKPOINT_CREATED fires', async () => {
        const stream = await kernel.sse(`/events/stream?type=CHECKPOINT_CREATED&run_id=${run.id}`, {
          token: tokens.read,
        });
        const { body: checkpoint } = await register({ path: '/out/checkpoint-5', step: 5, size: 10 });
        const event = (await stream.take()).data as EventRecord;
        await stream.close();
        expect(event).to.deep.include({
          severity: 'info',
          title: 'Run digits saved a checkpoint at step 5',
          message: '/out/checkpoint-5',
          run_id: run.id,
          job_id: null,
          data: {
            checkpoint_id: checkpoint.id,
            step: 5,
            epoch: null,
            size: 10,
            path: '/out/checkpoint-5',
          },
        });
        expect(await told()).to.deep.equal([event]);
      });

      it('once: CHECKPOINT_CREATED does not fire for one that is refused, nor for one that is there', async () => {
        await register({ path: '/out', step: 1 });
        const before = await told();
        expect(before).to.have.length(1);
        expect((await register({ step: 2 })).status).to.equal(422);
        expect((await register({ path: '/out', step: 2 }, tokens.read)).status).to.equal(403);
        expect((await register({ path: '/out', step: 1 })).status).to.equal(200);
        expect(await told()).to.deep.equal(before);
      });
    });

    describe('are listed', () => {
      it('newest first, as many as asked for', async () => {
        const registered: Checkpoint[] = [];
        for (const step of [3, 1, 2]) registered.unshift((await register({ path: '/out', step })).body);
        expect(await listed()).to.deep.equal(registered);
        await clock.advance(1);
        registered.unshift((await register({ path: '/out', step: 0 })).body);
        expect(await listed('?limit=2')).to.deep.equal(registered.slice(0, 2));
      });

      it('behind the one that `before` names', async () => {
        const registered: string[] = [];
        for (const step of [1, 2, 3, 4, 5])
          registered.unshift((await register({ path: '/out', step })).body.id);
        const page = await listed(`?limit=2&before=${registered[1]}`);
        expect(page.map(({ id }) => id)).to.deep.equal(registered.slice(2, 4));
        expect((await get(`/runs/${run.id}/checkpoints?before=${newId('checkpoint')}`)).status).to.equal(404);
      });

      it('of all runs together, page by page', async () => {
        const first = (await register({ path: '/of/one' })).body as Checkpoint;
        await clock.advance(1);
        const other = await createRun();
        const second = (await register({ path: '/of/another' }, other.ingest_token, other.id)).body;
        const newest = (await get('/checkpoints?limit=1')).body as { items: Checkpoint[] };
        expect(newest.items).to.deep.equal([second]);
        const next = (await get(`/checkpoints?limit=1&before=${second.id}`)).body;
        expect(next.items).to.deep.equal([first]);
        expect((await get(`/checkpoints?before=${run.id}`)).status).to.equal(404);
      });

      it('as an empty list when there are none', async () => {
        expect(await listed()).to.deep.equal([]);
      });
    });

    it('do not exist from the moment at which their run is deleted, while their rows are still there', async () => {
      const { body: checkpoint } = await register({ path: '/out/deleted' });
      await kernel.use(runsRef).markDeleted(kernel.db, [run.id]);
      expect(await kernel.db('checkpoints').where({ id: checkpoint.id })).to.have.length(1);
      expect((await get(`/checkpoints/${checkpoint.id}`)).status).to.equal(404);
      expect(await kernel.use(checkpointsRef).find(kernel.db, [checkpoint.id])).to.deep.equal([]);
    });

    describe('bad input', () => {
      const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
      const bodies: [string, unknown, string][] = [
        ['no path', { step: 1 }, 'path'],
        ['an empty path', { path: '' }, 'path'],
        ['a relative path', { path: 'out/checkpoint-1' }, 'path'],
        ['a path with NUL', { path: '/a\0' }, 'path'],
        ['a path with half a surrogate pair', { path: '/a\udc80' }, 'path'],
        ['a path that is too long', { path: `/${'x'.repeat(4096)}` }, 'path'],
        ['a path of the wrong type', { path: ['/a'] }, 'path'],
        ['a step that is no integer', { path: '/a', step: 1.5 }, 'step'],
        ['a step that is null', { path: '/a', step: null }, 'step'],
        ['a step past what a number can count', { path: '/a', step: 2 ** 53 }, 'step'],
        ['an epoch of the wrong type', { path: '/a', epoch: '1' }, 'epoch'],
        ['an epoch past what a number can hold', '{"path": "/a", "epoch": 1e999}', 'epoch'],
        ['a negative size', { path: '/a', size: -1 }, 'size'],
        ['metadata that is no object', { path: '/a', metadata: [] }, 'metadata'],
        ['evaluations among metadata', { path: '/a', metadata: { evaluations: [] } }, 'metadata.evaluations'],
        ['metadata over 64 KiB', { path: '/a', metadata: { x: 'ä'.repeat(32 * 1024) } }, 'metadata'],
        ['metadata nested too deep', { path: '/a', metadata: nested(65) }, 'metadata'],
        [
          'metadata nested past any stack',
          `{"path": "/a", "metadata": {"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
          'metadata',
        ],
        ['a source', { path: '/a', source: 'watcher' }, 'source'],
        ['malformed JSON', '{"path": "/a"', ''],
      ];
      for (const [what, body, path] of bodies) {
        it(`refuses ${what}, naming the field, and stores nothing`, async () => {
          const answer = await register(body);
          expect([answer.status, answer.body.error.code]).to.deep.equal([422, 'validation_error']);
          const paths = answer.body.error.details.errors.map((issue: { path: string }) => issue.path);
          expect(paths).to.include(path);
          expect(await listed()).to.deep.equal([]);
          expect(await told()).to.deep.equal([]);
        });
      }

      it('takes metadata up to the bounds', async () => {
        const big = { x: 'x'.repeat(64 * 1024 - '{"x":""}'.length) };
        expect((await register({ path: '/big', metadata: big })).status).to.equal(201);
        expect((await register({ path: '/deep', metadata: nested(64) })).status).to.equal(201);
      });

      for (const id of [newId('run'), newId('checkpoint'), 'nonsense', '%00']) {
        it(`answers 404 to the checkpoints of the run ${id}`, async () => {
          for (const answer of [
            await register({ path: '/a' }, tokens.write, id),
            await get(`/runs/${id}/checkpoints`),
          ]) {
            expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'not_found']);
          }
        });
      }

      for (const id of [newId('checkpoint'), newId('run'), 'nonsense', '%00']) {
        it(`answers 404 to the checkpoint ${id}`, async () => {
          const { status, body } = await get(`/checkpoints/${id}`);
          expect([status, body.error.code]).to.deep.equal([404, 'not_found']);
        });
      }

      it('refuses callers that may not write to the run, and stores nothing', async () => {
        const other = await createRun();
        const anonymous = await kernel.request('POST', `/runs/${run.id}/checkpoints`, {
          body: { path: '/a' },
        });
        expect([anonymous.status, anonymous.body.error.code]).to.deep.equal([401, 'unauthorized']);
        for (const token of [tokens.read, tokens.agent, other.ingest_token]) {
          const { status, body } = await register({ path: '/a' }, token);
          expect([status, body.error.code]).to.deep.equal([403, 'forbidden']);
        }
        expect(await listed()).to.deep.equal([]);
      });

      it('shows nothing to callers that may not read', async () => {
        const { body: checkpoint } = await register({ path: '/a' });
        for (const path of [`/runs/${run.id}/checkpoints`, `/checkpoints/${checkpoint.id}`]) {
          expect((await kernel.request('GET', path)).status).to.equal(401);
          for (const token of [run.ingest_token, tokens.sdk, tokens.agent]) {
            expect((await get(path, token)).status).to.equal(403);
          }
        }
      });
    });
  });
});

import { newId, type Run, type Scope } from '@svc/contract';
import { createTestKernel, eachDatabase, type TestKernel } from '@svc/kernel/testing';
import { auth, createToken } from '@svc/plugin-auth';
import { events } from '@svc/plugin-events';
import { jobs } from '@svc/plugin-jobs';
import { nodes } from '@svc/plugin-nodes';
import { projects } from '@svc/plugin-projects';
import { runs } from '@svc/plugin-runs';
import { expect } from 'chai';

eachDatabase((database) => {
  describe('events that a run reports', () => {
    let kernel: TestKernel;
    let run: Run & { ingest_token: string };
    const tokens = {} as Record<Scope, string>;

    before(async () => {
      const plugins = [auth(), projects(), events(), nodes(), jobs(), runs()];
      kernel = await createTestKernel({ plugins, database });
      for (const scope of ['read', 'write', 'sdk', 'agent'] as const) {
        const draft = { name: scope, scope, expires_at: null };
        tokens[scope] = (await createToken(kernel.db, draft, Date.now())).token;
      }
      run = await createRun();
    });
    after(() => kernel.close());

    const createRun = async () =>
      (await kernel.request('POST', '/runs', { token: tokens.sdk, body: {} })).body;
    const report = (body: unknown, token = run.ingest_token, id = run.id) =>
      kernel.request('POST', `/runs/${id}/events`, { token, body });
    const listed = async (query = `run_id=${run.id}`) =>
      (await kernel.request('GET', `/events?${query}`, { token: tokens.read })).body.items;

    it('are CUSTOM events of the run: CUSTOM fires with what is reported', async () => {
      const body = { title: 'lr dropped', message: 'to 1e-4', severity: 'warning', data: { lr: 1e-4 } };
      const { status, body: record } = await report(body);
      expect(status).to.equal(201);
      expect(record).to.deep.include({
        ...body,
        type: 'CUSTOM',
        run_id: run.id,
        job_id: null,
        node_id: null,
      });
      expect((await listed()).slice(0, 1)).to.deep.equal([record]);
    });

    it('are not there when they are refused: CUSTOM does not fire', async () => {
      const before = await listed();
      const other = await createRun();
      const refused = [
        await report({ message: 'without a title' }),
        await report({ title: 't', severity: 'fatal' }),
        await report({ title: 't' }, tokens.read),
        await report({ title: 't' }, other.ingest_token),
      ];
      expect(refused.map(({ status }) => status)).to.deep.equal([422, 422, 403, 403]);
      expect(await listed()).to.deep.equal(before);
    });

    it('need a title alone', async () => {
      const { body } = await report({ title: 't' });
      expect(body).to.deep.include({ severity: 'info', message: '', data: {} });
    });

    it('are kept without the secrets in them', async () => {
      const told = {
        title: 'started with --password hunter2',
        message: 'TOKEN=hunter2',
        data: { user: 'ada', nested: { api_key: 'hunter2' } },
      };
      const headers = { 'idempotency-key': 'secret' };
      const send = () =>
        kernel.request('POST', `/runs/${run.id}/events`, { token: run.ingest_token, body: told, headers });
      const { body } = await send();
      expect(body).to.deep.include({
        title: 'started with --password ***',
        message: 'TOKEN=***',
        data: { user: 'ada', nested: { api_key: '***' } },
      });
      expect([(await send()).status, (await listed())[0]], 'told again').to.deep.equal([200, body]);
      expect(JSON.stringify(await kernel.db('events').select())).to.not.contain('hunter2');
    });

    it('are streamed', async () => {
      const stream = await kernel.sse('/events/stream?type=CUSTOM', { token: tokens.read });
      const { body: record } = await report({ title: 'streamed' });
      expect((await stream.take()).data).to.deep.equal(record);
      await stream.close();
    });

    describe('with an Idempotency-Key', () => {
      const tell = (key: string, body: unknown, id = run.id, token = run.ingest_token) =>
        kernel.request('POST', `/runs/${id}/events`, { token, body, headers: { 'idempotency-key': key } });

      it('are stored once, however often they are told', async () => {
        const stream = await kernel.sse(`/events/stream?run_id=${run.id}`, { token: tokens.read });
        const body = { title: 'once', data: { b: 1, a: [2] } };
        const first = await tell('k1', body);
        expect(first.status).to.equal(201);
        const again = await Promise.all([tell('k1', body), tell('k1', body)]);
        for (const answer of again) expect([answer.status, answer.body]).to.deep.equal([200, first.body]);
        const other = await tell('k2', body);
        expect([(await stream.take()).data, (await stream.take()).data]).to.deep.equal([
          first.body,
          other.body,
        ]);
        await stream.close();
      });

      it('are one when they are told at the same time', async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, () => tell('rush', { title: 'rush' })));
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(7).fill(200), 201]);
        expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1);
      });

      it('are refused when the key comes with another body', async () => {
        await tell('k3', { title: 'one', severity: 'info' });
        expect((await tell('k3', { title: 'one' })).status).to.equal(200);
        for (const body of [
          { title: 'two' },
          { title: 'one', message: 'm' },
          { title: 'one', severity: 'critical' },
        ]) {
          const answer = await tell('k3', body);
          expect([answer.status, answer.body.error.code]).to.deep.equal([409, 'conflict']);
        }
      });

      it('are others in another run', async () => {
        const other = await createRun();
        await tell('k4', { title: 'here' });
        expect((await tell('k4', { title: 'there' }, other.id, other.ingest_token)).status).to.equal(201);
      });

      it('need a key of 1 to 255 characters', async () => {
        for (const key of [' ', 'x'.repeat(256)]) {
          const { status, body } = await tell(key, { title: 't' });
          expect([status, body.error.details.errors[0].path]).to.deep.equal([422, 'Idempotency-Key']);
        }
      });
    });

    it('are taken with a token of sdk or write scope too, and with the bare id of the run', async () => {
      expect((await report({ title: 't' }, tokens.sdk)).status).to.equal(201);
      expect((await report({ title: 't' }, tokens.write, run.id.slice(4))).body.run_id).to.equal(run.id);
    });

    describe('bad input', () => {
      const bodies: [string, unknown, string][] = [
        ['no title', {}, 'title'],
        ['an empty title', { title: '' }, 'title'],
        ['a title of the wrong type', { title: 1 }, 'title'],
        ['a title that is too long', { title: 'x'.repeat(501) }, 'title'],
        ['a title with NUL', { title: 'a\0' }, 'title'],
        ['a message that is too long', { title: 't', message: 'x'.repeat(20_001) }, 'message'],
        ['a message of the wrong type', { title: 't', message: null }, 'message'],
        ['an unknown severity', { title: 't', severity: 'fatal' }, 'severity'],
        ['data that is no object', { title: 't', data: [1] }, 'data'],
        ['data over 64 KiB', { title: 't', data: { x: 'ä'.repeat(32 * 1024) } }, 'data'],
        ['a type of its own', { title: 't', type: 'OOM' }, 'type'],
        ['an unknown field', { title: 't', body: 'b' }, 'body'],
        ['malformed JSON', '{"title": "t"', ''],
        ['text for a body', '"t"', ''],
      ];
      for (const [what, body, path] of bodies) {
        it(`refuses ${what}, naming the field, and stores nothing`, async () => {
          const before = await listed();
          const answer = await report(body);
          expect([answer.status, answer.body.error.code]).to.deep.equal([422, 'validation_error']);
          expect(answer.body.error.details.errors.map((issue: { path: string }) => issue.path)).to.include(
            path,
          );
          expect(await listed()).to.deep.equal(before);
        });
      }

      it('takes data up to the bound', async () => {
        const data = { x: 'x'.repeat(64 * 1024 - '{"x":""}'.length) };
        expect((await report({ title: 't', data })).body.data).to.deep.equal(data);
      });

      it('refuses a body over 1 MiB', async () => {
        const answer = await report({ title: 't', data: { x: 'x'.repeat(1024 * 1024) } });
        expect([answer.status, answer.body.error.code]).to.deep.equal([413, 'payload_too_large']);
      });

      for (const path of ['/events', '/events/stream'])
        for (const kind of ['run', 'job', 'node'] as const)
          it(`GET ${path} answers 404 that names it to the well-formed id of an unknown ${kind}`, async () => {
            const id = newId(kind);
            const { status, body } = await kernel.request('GET', `${path}?${kind}_id=${id}`, {
              token: tokens.read,
            });
            expect([status, body.error.code]).to.deep.equal([404, 'not_found']);
            expect(body.error.message).to.contain(id);
          });

      for (const id of [newId('run'), newId('job'), 'nonsense', '%00']) {
        it(`answers 404 to an event of the run ${id}`, async () => {
          const answer = await report({ title: 't' }, tokens.write, id);
          expect([answer.status, answer.body.error.code]).to.deep.equal([404, 'not_found']);
        });
      }

      it('refuses callers that may not write to the run, and stores nothing', async () => {
        const before = await listed();
        const other = await createRun();
        const anonymous = await kernel.request('POST', `/runs/${run.id}/events`, { body: { title: 't' } });
        expect([anonymous.status, anonymous.body.error.code]).to.deep.equal([401, 'unauthorized']);
        for (const token of [tokens.read, tokens.agent, other.ingest_token]) {
          const { status, body } = await report({ title: 't' }, token);
          expect([status, body.error.code]).to.deep.equal([403, 'forbidden']);
        }
        expect(await listed()).to.deep.equal(before);
      });
    });
  });
});

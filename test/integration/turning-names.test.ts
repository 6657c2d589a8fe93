import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { createWorkplace, submit, untilJob, type Server, type Workplace } from '../support/workplace.js';

const RIGHT_TO_LEFT = '\u202e';
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const NAME = `evil${RIGHT_TO_LEFT}name`;
const METRIC = `${NAME}/loss`;
/** The fields of answers in which the service speaks. */
const SPOKEN =
  /^(title|message|summary|reason|reasons|fixes|suggested_fixes|likely_cause|pending_reason|failure_message)$/;

/** Every text that stands in such a field, however deep. */
function sentencesOf(value: unknown, isSpoken = false): string[] {
  if (typeof value === 'string') return isSpoken ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => sentencesOf(each, isSpoken));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => sentencesOf(inner, SPOKEN.test(key)));
}

describe('names that turn the direction of what follows them', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  let server: Server;
  let job_id: string;
  let run_id: string;

  before(async () => {
    workplace = createWorkplace();
    server = await workplace.startServer();
    await workplace.startAgent(server);
    const { client } = server;
    const command = ['sh', '-c', `echo 'ValueError: ${NAME}' >&2; exit 1`];
    const job = await submit(server.client, { name: NAME, command, resources: { cpu_only: true } });
    job_id = job.id;
    await untilJob(server.client, job_id, ({ status }) => status === 'FAILED');
    run_id = (await client.call(routes.createRun, { body: { name: NAME, project: NAME } })).id;
    const points = ['NaN', 1].map((value, seq) => ({ seq, name: METRIC, step: seq, value, ts: Date.now() }));
    await client.call(routes.writePoints, { params: { run_id }, body: { points: points as never } });
    await until(async () => (await eventsOf(run_id)).some(({ type }) => type === 'LOSS_NAN'));
    await client.call(routes.finishRun, { params: { run_id }, body: { status: 'FAILED' } });
  });
  after(() => workplace?.close());

  const eventsOf = async (run: string) =>
    (await server.client.call(routes.listEvents, { query: { run_id: run } })).items;

  it('mirror no word of the service in its answers, and stay as they are by themselves', async () => {
    const { client } = server;
    const params = { run_id };
    const answers = {
      job: await client.call(routes.getJob, { params: { job_id } }),
      events: await client.call(routes.listEvents, { query: {} }),
      summary: await client.call(routes.getRunSummary, { params }),
      diagnosis: await client.call(routes.diagnoseRun, { params }),
      failure: await client.call(routes.explainRunFailure, { params }),
      ofJob: await client.call(routes.explainJobFailure, { params: { job_id } }),
    };
    for (const [what, answer] of Object.entries(answers)) {
      const sentences = sentencesOf(answer);
      expect(sentences, what).not.to.deep.equal([]);
      expect(
        sentences.filter((text) => TURNING.test(text)),
        what,
      ).to.deep.equal([]);
    }
    expect(sentencesOf(answers.events).join('\n')).to.include('Job evilname');
    expect(answers.job.name).to.equal(NAME);
    expect(Object.keys(answers.summary.metrics)).to.deep.equal([METRIC]);
    expect(JSON.stringify(answers.diagnosis.anomalies.flatMap(({ evidence }) => evidence))).to.include(
      METRIC,
    );
  });

  it('mirror no word of a refusal', async () => {
    const twice = await server.client
      .call(routes.createProject, { body: { name: NAME } })
      .catch((error: Error) => error.message);
    expect(twice).to.include('there is a project named "evilname" already');
  });

  it('do not reach a terminal', async () => {
    const env = { SVC_URL: server.url, SVC_TOKEN: server.client.connection.token ?? '' };
    for (const args of [
      ['jobs'],
      ['events'],
      ['runs'],
      ['run', run_id],
      ['diagnose', run_id],
      ['explain', job_id],
    ]) {
      const { status, stdout } = await workplace.svc(args, env);
      expect(status, args[0]).to.equal(0);
      expect(stdout, args[0])
        .to.match(/evil|loss/)
        .and.not.match(TURNING);
    }
  });
});

import { Type } from 'typebox';
import { Timestamp, listOf, nullable, page, route, strict, PLAIN } from '../route.js';
import { Name } from '../records/project.js';
import { NOTES_BYTES } from '../protocol/limits.js';
import { RUN_FIELDS } from '../protocol/run-columns.js';
import { JsonObject, Run, RunStatusName, Tags } from '../records/run.js';

const MaxSteps = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Notes = Type.String({
  maxLength: NOTES_BYTES,
  pattern: PLAIN,
  description: 'Text of at most 16 KiB of UTF-8, without NUL.',
});
/** As `text`, and with a meaning to tell. */
const search = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: PLAIN, description });

const ImportKey = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'What a training that is brought in later is known by: no two runs have the same one. 1 to 100 visible ASCII characters.',
});

export const RunWithToken = strict({ ...Run.properties, ingest_token: Type.String() }, { $id: 'NewRun' });

export const createRun = route({
  id: 'runs.create',
  method: 'POST',
  path: '/runs',
  scope: 'ingest',
  summary:
    "Create a run. With a job's ingest token the run belongs to that job's attempt. An import_key sent again answers 200 with the run made first.",
  body: strict({
    name: Type.Optional(Name),
    project: Type.Optional(Name),
    experiment: Type.Optional(Name),
    job_id: Type.Optional(Type.String()),
    source: Type.Optional(Type.Enum(['sdk', 'import'])),
    config: Type.Optional(JsonObject),
    environment: Type.Optional(JsonObject),
    max_steps: Type.Optional(MaxSteps),
    tags: Type.Optional(Tags),
    started_at: Type.Optional(Timestamp),
    import_key: Type.Optional(ImportKey),
  }),
  answers: { 200: RunWithToken, 201: RunWithToken },
});

export const finishRun = route({
  id: 'runs.finish',
  method: 'POST',
  path: '/runs/{run_id}/finish',
  scope: 'ingest',
  summary:
    'End a run; the same status again is 200, another 409. An imported run that ends again may have ended later.',
  body: strict({
    status: Type.Enum(['SUCCEEDED', 'FAILED', 'CANCELLED', 'IMPORTED']),
    finished_at: Type.Optional(Timestamp),
  }),
  answers: { 200: Run },
});

export const keepRunAlive = route({
  id: 'runs.alive',
  method: 'POST',
  path: '/runs/{run_id}/alive',
  scope: 'ingest',
  summary:
    'Give a sign of life; every write is one too. A run without a job that gives none for `run_lost_after_s` is LOST, and RUNNING again after the next one.',
  answers: { 200: strict({ status: RunStatusName }) },
});

/** What a training asks for. It gets what nobody has decided; of a config, the names that the run's does not have. */
const RunWishes = strict({
  name: Type.Optional(Name),
  project: Type.Optional(Name),
  experiment: Type.Optional(Name),
  tags: Type.Optional(Tags),
  config: Type.Optional(JsonObject),
});

export const UpdatedRun = strict(
  {
    ...Run.properties,
    kept: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'The fields of `fill` that were not changed, because somebody has decided them, with their present values.',
      }),
    ),
  },
  { $id: 'UpdatedRun' },
);

export const updateRun = route({
  id: 'runs.update',
  method: 'PATCH',
  path: '/runs/{run_id}',
  scope: 'ingest',
  summary:
    'Change a run: name, tags and notes need write scope; config, environment, max_steps and fill the ingest token.',
  body: strict({
    name: Type.Optional(Name),
    tags: Type.Optional(Tags),
    notes: Type.Optional(Notes),
    config: Type.Optional(JsonObject),
    environment: Type.Optional(JsonObject),
    max_steps: Type.Optional(nullable(MaxSteps)),
    fill: Type.Optional(RunWishes),
  }),
  answers: { 200: UpdatedRun },
});

const Sort = Type.String({
  minLength: 1,
  maxLength: 500,
  pattern: PLAIN,
  description: `What all runs that match are sorted by, lowest first, or with "-" before it highest first: ${RUN_FIELDS.join(', ')}, config:KEY, last:METRIC or best:METRIC. Numbers come before texts; runs without a value come last; equal ones are newest first. \`before\` goes on behind a run by its present value.`,
});

const RunList = Type.Object(
  {
    ...listOf(Run).properties,
    total: Type.Optional(Type.Integer({ minimum: 0, description: 'How many runs match, on all pages.' })),
  },
  { additionalProperties: false },
);

export const listRuns = route({
  id: 'runs.list',
  method: 'GET',
  path: '/runs',
  scope: 'read',
  summary:
    'Runs, newest first or sorted; every filter given is applied. Of a large config and environment a list shows a part.',
  query: strict({
    experiment_id: Type.Optional(Type.String()),
    project_id: Type.Optional(Type.String()),
    job_id: Type.Optional(Type.String()),
    status: Type.Optional(RunStatusName),
    name: Type.Optional(
      Type.String({ maxLength: 200, pattern: PLAIN, description: 'Only runs of exactly this name.' }),
    ),
    q: Type.Optional(
      search(
        200,
        'Words: each occurs in the name, whatever its case, or is the beginning or the end of the id, at least 6 characters of it.',
      ),
    ),
    tags: Type.Optional(search(2_000, 'Tags, separated by commas: the run has every one of them.')),
    import_key: Type.Optional(ImportKey),
    sort: Type.Optional(Sort),
    total: Type.Optional(
      Type.Boolean({
        description: 'Whether the answer tells how many runs match. With `sort` it always does.',
      }),
    ),
    ...page(),
  }),
  answers: { 200: RunList },
});

export const getRun = route({
  id: 'runs.get',
  method: 'GET',
  path: '/runs/{run_id}',
  scope: 'read',
  summary: 'One run, with its whole config and environment.',
  answers: { 200: Run },
});

export const deleteRun = route({
  id: 'runs.delete',
  method: 'DELETE',
  path: '/runs/{run_id}',
  scope: 'write',
  summary:
    'Delete a run with its points, config, events and checkpoint records; the checkpoint files on the hosts stay, and so does its job. 409 while it is RUNNING, its job has not ended, or a checkpoint of it is being evaluated.',
  answers: { 200: Run },
});

export const listExperimentRuns = route({
  id: 'experiments.runs',
  method: 'GET',
  path: '/experiments/{experiment_id}/runs',
  scope: 'read',
  summary: 'Runs of the experiment, newest first.',
  query: strict(page()),
  answers: { 200: listOf(Run) },
});

import { NextActionRecord, TOOL_NAMES, strict } from '@svc/contract';
import { Type, type TSchema } from 'typebox';

/** What an argument means; one word means the same for every tool. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  node_id: 'Id of a node (node_...).',
  job_id: 'Id of a job (job_...).',
  run_id: 'Id of a run (run_...).',
  checkpoint_id: 'Id of a checkpoint (ckpt_...).',
  project_id: 'Id of a project (prj_...).',
  experiment_id: 'Id of an experiment (exp_...).',
  ids: 'The ids of those to compare.',
  status: 'Only those of this status.',
  limit: 'At most so many; what fits into the answer may be fewer.',
  before: 'Goes on behind this one; take it from next_actions of the answer before.',
  offset: 'Leaves out so many at the beginning; take it from next_actions of the answer before.',
  names: 'Names of metrics; left out: all of them.',
  step_from: 'The first step.',
  step_to: 'The last step.',
  stream: 'Only this stream.',
  tail: 'So many of the last lines.',
  attempt: 'Of this attempt; left out: the last one.',
  search: 'Only lines that hold this text.',
  type: 'Only events of this type.',
  severity: 'Only events of this severity.',
  command: 'Program and arguments, one string each; no shell reads them.',
  working_dir: 'Absolute path on the agent host; left out: a directory of its own.',
  gpus: 'GPUs that the job holds alone; 0 is as cpu_only.',
  cpu_only: 'The job needs no GPU.',
  project: 'Name or id; an unknown name is created.',
  experiment: 'Name or id within the project; an unknown name is created.',
  runner: 'What starts the job: process, docker or another that the server has; left out: process.',
  image: 'Container image, for a runner that uses one.',
  runner_options: 'Options of the runner, such as {"mounts": ["/data:/data:ro"], "memory_mb": 2048}.',
  idempotency_key: 'The same key with the same arguments within 24 hours does it once.',
  confirm: 'Must be true.',
  metric: 'By this metric; left out: the primary one.',
  suite: 'Label of the evaluation.',
  dataset: 'Label of the evaluation.',
  dataset_version: 'Label of the evaluation.',
};

type Json = Record<string, unknown>;

const { $id: NEXT_ACTION_ID } = NextActionRecord as { $id?: string };

/** The input schema as clients get it: with the meaning of each argument. */
export function publishInput(schema: TSchema): Json {
  const published = publish(schema) as { properties: Record<string, Json> };
  for (const [name, argument] of Object.entries(published.properties))
    argument['description'] = ARGUMENTS[name] ?? argument['description'];
  return published;
}

/**
 * A schema without what some validators of clients do not take: ids that occur twice, and patterns of surrogates, which only JavaScript
 * reads. The REST API checks them.
 */
export function publish(schema: TSchema): Json {
  return withoutForeign(JSON.parse(JSON.stringify(schema))) as Json;
}

/** Clients show a model the whole list of tools: the input schemas of all tools in the output schema of each would fill its context. */
const BriefAction = strict({
  tool: Type.Enum([...TOOL_NAMES]),
  args: Type.Record(Type.String(), Type.Unknown()),
  reason: Type.String(),
});

function withoutForeign(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutForeign);
  if (value === null || typeof value !== 'object') return value;
  if ('$id' in value && value.$id === NEXT_ACTION_ID) return withoutForeign(BriefAction);
  const kept = Object.entries(value).filter(
    ([name, item]) =>
      !(name === '$id' && typeof item === 'string') &&
      !(name === 'pattern' && String(item).includes('\\ud800')),
  );
  const record = Object.fromEntries(kept.map(([name, item]) => [name, withoutForeign(item)]));
  if ('patternProperties' in record) widenNames(record);
  return record;
}

/** Names of an object whose pattern has surrogates may be any. */
function widenNames(record: Json): void {
  const [entry] = Object.entries(record['patternProperties'] as Json);
  if (!entry) return;
  delete record['patternProperties'];
  record['additionalProperties'] = entry[1];
}

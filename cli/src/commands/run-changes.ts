import { routes, type AnswerOf } from '@svc/contract';
import type { Command } from 'commander';
import { UsageError } from '../failure.js';
import { print } from '../output/print.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findRun } from './find-record.js';
import { parseOneOf, parseRepeated } from './parse.js';

const ENDS = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
const RUN = 'id of a run, the beginning or end of one, or a name (the newest of it)';

/** The commands that change a run. A first word after `svc run` that is one of them is that, and no run of that name. */
export function addRunChangeCommands(run: Command): void {
  withJson(run.command('rename'))
    .description('give a run another name')
    .argument('<run>', RUN)
    .argument('<name>', 'the new name')
    .addHelpText('after', '\nExample:\n  svc run rename X8R2QF "resnet, lr 3e-4"')
    .action(async (reference: string, name: string, options: JsonOptions) => {
      const changed = await change(reference, options, () => ({ name }));
      print(changed, options.json, ({ id }) => [`${id} is now named ${name}`]);
    });

  withJson(run.command('tag'))
    .description('add tags to a run, or remove some')
    .argument('<run>', RUN)
    .argument('[tags...]', 'tags to add')
    .option('--remove <tag>', 'tag to remove; may be repeated', parseRepeated)
    .addHelpText('after', '\nExamples:\n  svc run tag X8R2QF best keep\n  svc run tag X8R2QF --remove best')
    .action(tagRun);

  withJson(run.command('note'))
    .description('write the notes of a run, in place of those it has')
    .argument('<run>', RUN)
    .argument('<text>', 'the notes; empty to remove them')
    .addHelpText('after', '\nExample:\n  svc run note X8R2QF "diverged after step 900: lr too high"')
    .action(async (reference: string, notes: string, options: JsonOptions) => {
      const changed = await change(reference, options, () => ({ notes }));
      print(changed, options.json, ({ id }) => [
        `the notes of ${id} are ${notes === '' ? 'removed' : 'saved'}`,
      ]);
    });

  withJson(run.command('finish'))
    .description('end a run that is RUNNING and that no process ends any more')
    .argument('<run>', RUN)
    .option('--status <status>', `how it ended: ${ENDS.join(', ')} (default: SUCCEEDED)`, parseOneOf(ENDS))
    .addHelpText('after', '\nExample:\n  svc run finish X8R2QF --status failed')
    .action(finishRun);
}

type Run = AnswerOf<typeof routes.getRun>['body'];
type Changes = Partial<Pick<Run, 'name' | 'notes' | 'tags'>>;

async function change(
  reference: string,
  options: JsonOptions,
  toChanges: (run: Run) => Changes,
): Promise<Run> {
  const client = connect(options);
  const params = { run_id: await findRun(client, reference) };
  const run = await client.call(routes.getRun, { params });
  return client.call(routes.updateRun, { params, body: toChanges(run) });
}

interface TagOptions extends JsonOptions {
  readonly remove?: readonly string[];
}

async function tagRun(reference: string, added: readonly string[], options: TagOptions): Promise<void> {
  const { remove = [] } = options;
  if (added.length + remove.length === 0) throw new UsageError('name the tags to add, or those to --remove');
  const changed = await change(reference, options, ({ tags }) => ({
    tags: [...new Set([...tags, ...added])].filter((tag) => !remove.includes(tag)),
  }));
  print(changed, options.json, ({ id, tags }) => [
    `${id} has ${tags.length > 0 ? `the tags ${tags.join(', ')}` : 'no tags'}`,
  ]);
}

interface FinishOptions extends JsonOptions {
  readonly status?: (typeof ENDS)[number];
}

async function finishRun(
  reference: string,
  { status = 'SUCCEEDED', ...options }: FinishOptions,
): Promise<void> {
  const client = connect(options);
  const params = { run_id: await findRun(client, reference) };
  const before = await client.call(routes.getRun, { params });
  const finished = await client.call(routes.finishRun, { params, body: { status } });
  const isOld = before.status === finished.status;
  print(finished, options.json, (run) => [
    isOld ? `${run.id} was ${run.status} already: nothing changed` : `${run.id} ${run.status}`,
  ]);
}

import { routes, type Project } from '@svc/contract';
import type { Command } from 'commander';
import { toAge, toShownId } from '../output/format.js';
import { noteOlder } from '../output/paging.js';
import { print } from '../output/print.js';
import { toTable, type Column } from '../output/table.js';
import { connect, withJson, type JsonOptions } from './connected.js';
import { findProject } from './find-record.js';
import { parseInteger } from './parse.js';

const PROJECTS_SHOWN = 100;

export function addProjectsCommand(program: Command): void {
  withJson(program.command('projects'))
    .description('list projects with their number of runs, newest first')
    .option('--limit <n>', 'number of projects to list, at most 1000', parseInteger)
    .option('--before <id>', 'only projects older than this one, as the previous page names it')
    .addHelpText('after', '\nExample:\n  svc projects')
    .action(listProjects);
}

interface ListOptions extends JsonOptions {
  readonly limit?: number;
  readonly before?: string;
}

async function listProjects({ limit = PROJECTS_SHOWN, before, ...options }: ListOptions): Promise<void> {
  const client = connect(options);
  const query = { limit, before: before && (await findProject(client, before)) };
  const page = await client.call(routes.listProjects, { query });
  print(page, options.json, ({ items }, paint) =>
    items.length > 0
      ? toTable(COLUMNS, items, paint)
      : ['no projects; svc submit --project NAME creates one with its first job'],
  );
  const last = page.items.at(-1);
  if (!options.json && last && (page.truncated || page.items.length === limit)) noteOlder(last.id);
}

const COLUMNS: readonly Column<Project>[] = [
  { title: 'NAME', cell: ({ name }) => name, shrinks: true },
  { title: 'RUNS', cell: ({ run_count }) => String(run_count), align: 'right' },
  { title: 'CREATED', cell: ({ created_at }) => toAge(created_at) },
  { title: 'ID', cell: ({ id }) => toShownId(id) },
  { title: 'DESCRIPTION', cell: ({ description }) => description, shrinks: true, optional: true },
];

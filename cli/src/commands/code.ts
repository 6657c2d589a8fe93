import { routes } from '@svc/contract';
import type { Client } from '@svc/client';
import type { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Failure } from '../failure.js';
import { note } from '../output/print.js';
import type { ConnectionOptions } from '../settings.js';
import { connect, withServer } from './connected.js';
import { findJob, NEEDED_JOB } from './find-record.js';

export function addCodeCommand(program: Command): void {
  withServer(program.command('code'))
    .description('get the source files back that a job was submitted with (svc submit --upload)')
    .usage('-o DIR [options] <job>')
    .argument('<job>', NEEDED_JOB)
    .requiredOption('-o, --output <dir>', 'directory for the files, which must be new or empty')
    .addHelpText('after', '\nExample:\n  svc code X8R2QF -o ./as-submitted')
    .action(getCode);
}

async function getCode(
  reference: string,
  { output, ...options }: ConnectionOptions & { output: string },
): Promise<void> {
  const client = connect(options);
  const params = { job_id: await findJob(client, reference) };
  const { snapshot, name } = await client.call(routes.getJob, { params });
  if (snapshot === null)
    throw new Failure(`${name} was submitted without --upload: svc has no copy of its source files`);
  const directory = path.resolve(output);
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0)
    throw new Failure(`${directory} is not empty: name a directory that is new or empty`);
  await unpack(client, snapshot, directory);
  note(`${directory}: the source files of ${name}`);
}

async function unpack(client: Client, sha256: string, directory: string): Promise<void> {
  const { hashOf, unpackTree } = await import('@svc/plugin-snapshots/agent');
  const archive = path.join(directory, `.${sha256}.tar.gz`);
  try {
    await fetchArchive(client, sha256, archive);
    if ((await hashOf(archive)) !== sha256)
      throw new Failure(
        `the source files came damaged, with another SHA-256 than ${sha256}: try again; if it stays so, the file on the server is damaged, and svc submit --upload of the same files replaces it`,
      );
    await unpackTree(archive, directory, { owner: null });
  } finally {
    await rm(archive, { force: true });
  }
}

async function fetchArchive(client: Client, sha256: string, file: string): Promise<void> {
  const answer = await client.open(routes.getSnapshot, { params: { sha256 } });
  const body = Readable.fromWeb(answer.body as ReadableStream);
  await pipeline(body, createWriteStream(file, { mode: 0o600 }));
}

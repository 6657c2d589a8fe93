import type { Client } from '@svc/client';
import { toDataDir } from '@svc/client/local-server';
import { routes, type JobSubmit, type NodeRecord } from '@svc/contract';
import path from 'node:path';
import { note } from '../output/print.js';
import { uploadSnapshot } from '../snapshot/upload.js';
import { findDoubt } from './doubtful-command.js';
import { bindToThisHost } from './on-this-host.js';
import { findPythonEnvironment } from './python-environment.js';
import { isOnThisHost } from './this-host.js';

export interface FromHereOptions {
  readonly command?: readonly string[];
  /** true: this directory. */
  readonly upload?: string | true | undefined;
  readonly maxUploadMb: number;
  /** false: none is wanted. */
  readonly workingDir?: string | false;
  readonly runner?: string;
  readonly venv: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly gpu?: number;
  readonly cpuOnly?: boolean;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
}

/** What the options leave open, and this shell or the nodes tell. */
export async function completeFromHere(
  client: Client,
  options: FromHereOptions,
): Promise<Partial<JobSubmit>> {
  const isHere = await isOnThisHost(client.connection.url, toDataDir(options.dataDir));
  if (isHere) noteDoubt(options);
  const isOpen = options.upload === undefined && options.workingDir === undefined;
  // In a container neither this directory nor this Python is there.
  const isProcess = (options.runner ?? 'process') === 'process';
  const isTaken = isOpen && isHere && isProcess;
  if (isOpen && !isProcess)
    note(
      'a container does not get this directory: the job runs in an empty one; add --upload, or --working-dir with a directory that the agent may mount',
    );
  else if (isOpen && !isHere)
    note('the server is on another host: the job runs in an empty directory; --upload sends this one');
  const wanted = options.cpuOnly ? 0 : (options.gpu ?? 1);
  const [snapshot, nodes] = await Promise.all([
    upload(client, options),
    wanted > 0 || isTaken ? listNodes(client) : [],
  ]);
  // While there is no node at all, one may still come with GPUs.
  const isTooMany = nodes.length > 0 && nodes.every(({ slots }) => slots.length < wanted);
  if (!isTooMany && wanted > 0) noteRunner(nodes, wanted, options.runner ?? 'process');
  const isCpuOnly = isTooMany && options.gpu === undefined;
  if (isCpuOnly) note('no node has a GPU: the job asks for none, as with --cpu-only');
  else if (isTooMany)
    note(
      `no node has ${wanted === 1 ? 'a GPU' : `${wanted} GPUs`}: the job waits until such a node connects`,
    );
  const gpu = isCpuOnly ? 0 : wanted;
  return {
    ...snapshot,
    ...(options.workingDir && { working_dir: path.resolve(options.workingDir) }),
    ...(isTaken && takeThisDirectory(nodes, gpu, options)),
    ...(isProcess && takeEnvironment(options, isHere)),
    ...(isCpuOnly && { resources: { cpu_only: true } }),
  };
}

/** Of a runner that no agent has the server says that there is none. */
function noteRunner(nodes: readonly NodeRecord[], wanted: number, runner: string): void {
  const probes = nodes
    .filter(({ slots }) => slots.length >= wanted)
    .flatMap(({ name, runners }) => runners.map((probe) => ({ ...probe, node: name })))
    .filter(({ name }) => name === runner);
  const [first] = probes;
  if (first === undefined || probes.some(({ available }) => available)) return;
  const gpus = wanted === 1 ? 'a GPU' : `${wanted} GPUs`;
  note(
    `no node with ${gpus} can use the runner ${runner} now, and the job waits until one can: ${first.node}: ${first.reason}`,
  );
}

/** In an empty directory, and in a container, it is unknown what is there. */
function noteDoubt({ command, upload, workingDir, runner = 'process', env }: FromHereOptions): void {
  const program = command?.[0];
  if (program === undefined || runner !== 'process' || workingDir === false) return;
  const directory = workingDir ?? (typeof upload === 'string' ? upload : process.cwd());
  const doubt = findDoubt(program, path.resolve(directory), env?.['PATH']);
  if (doubt !== null) note(doubt);
}

async function upload(
  client: Client,
  { upload, maxUploadMb }: FromHereOptions,
): Promise<Pick<JobSubmit, 'snapshot'>> {
  if (upload === undefined) return {};
  const directory = upload === true ? process.cwd() : upload;
  return { snapshot: await uploadSnapshot(client, { directory, maxMb: maxUploadMb, tell: note }) };
}

function takeThisDirectory(
  nodes: readonly NodeRecord[],
  gpu: number,
  options: FromHereOptions,
): Pick<JobSubmit, 'working_dir' | 'node_selector'> {
  const { nodeSelector, sentence } = bindToThisHost({ nodes, nodeSelector: options.nodeSelector, gpu });
  if (sentence !== null) note(sentence);
  return { working_dir: process.cwd(), ...(nodeSelector && { node_selector: { ...nodeSelector } }) };
}

/** Not with uploaded files: these may run on another host, where the paths of this shell lead nowhere. */
export function takeEnvironment(
  { venv, upload, env }: Pick<FromHereOptions, 'venv' | 'upload' | 'env'>,
  isHere: boolean,
): Pick<JobSubmit, 'env'> {
  const python = venv ? findPythonEnvironment() : null;
  if (python === null) return {};
  if (upload !== undefined) {
    note(`without the Python environment ${python.directory}: with --upload, python3 is that of the node`);
    return {};
  }
  if (!isHere) return {};
  note(`with the Python environment ${python.directory} (--no-venv leaves it out)`);
  return { env: { ...python.env, ...env } };
}

async function listNodes(client: Client): Promise<readonly NodeRecord[]> {
  return (await client.call(routes.listNodes)).items;
}

import type { Container, ContainerInspectInfo } from 'dockerode';
import path from 'node:path';
import { isNotFound } from './engine.js';

/** As the engine sets it where the image has none. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Of the modes that the engine tells: those of Go. */
const DIRECTORY = 2 ** 31;
const SYMLINK = 2 ** 27;
const EXECUTABLE = 0o111;

/**
 * Why the program of a container that was created cannot be started; null: no reason is known. The init of a container would tell it in the log
 * alone, as a job that ended with 127.
 */
export async function findProgramTrouble(container: Container): Promise<string | null> {
  const info = await container.inspect();
  const { Path: program, Config } = info;
  const files = toCandidates(info);
  const found = await Promise.all(files.map((file) => statFile(container, file)));
  if (found.some((mode) => mode === 'unknown' || canExecute(mode))) return null;
  const image = Config.Image;
  if (found.some((mode) => mode !== null))
    return `permission denied: ${program} cannot be executed in image ${image}`;
  return program.includes('/')
    ? `program ${program} does not exist in image ${image}`
    : `program ${program} was not found in the PATH of image ${image}`;
}

function toCandidates({ Path: program, Config }: ContainerInspectInfo): string[] {
  if (program.includes('/')) return [path.posix.resolve('/', Config.WorkingDir, program)];
  const entry = Config.Env.find((variable) => variable.startsWith('PATH='));
  const folders = (entry?.slice('PATH='.length) ?? DEFAULT_PATH).split(':');
  return folders.map((folder) => path.posix.resolve('/', Config.WorkingDir, folder, program));
}

function canExecute(mode: number | null): boolean {
  if (mode === null) return false;
  const has = (bit: number) => Math.floor(mode / bit) % 2 === 1;
  // Where a link leads is not looked into: the start tells.
  return has(SYMLINK) || (!has(DIRECTORY) && (mode & EXECUTABLE) !== 0);
}

/** The mode of a file of the container; null: there is none; unknown: the engine cannot tell. */
async function statFile(container: Container, file: string): Promise<number | null | 'unknown'> {
  try {
    const answer = (await container.infoArchive({ path: file })) as NodeJS.ReadableStream & {
      headers: Readonly<Record<string, string>>;
    };
    answer.resume();
    const told = Buffer.from(answer.headers['x-docker-container-path-stat'] ?? '', 'base64');
    return (JSON.parse(told.toString()) as { mode: number }).mode;
  } catch (error) {
    return isNotFound(error) ? null : 'unknown';
  }
}

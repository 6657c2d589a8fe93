import { isBelow } from '@svc/agent/job-files';
import path from 'node:path';

/** A folder that TensorBoard shows as a run of its own, and where its names go in the run of the job. */
export interface NamedFolder {
  readonly base: string;
  readonly prefix: string;
}

/** Folders of parts of one training: their names are a prefix wherever they lie. */
const PARTS = new Set([
  'train',
  'training',
  'val',
  'valid',
  'validation',
  'dev',
  'test',
  'eval',
  'evaluation',
]);
/** `add_hparams` of PyTorch makes a folder with the time as its name. */
const TIME = /^\d{10}\.\d+$/;

/**
 * Gives the metrics of a folder their prefix, the same one each time it is asked for the folders in the same order. The names of the first folder stay as they
 * are (`loss`); folders below it add the way to them (`eval/loss`), a folder elsewhere its name, and `train`, `validation` and the like always theirs.
 */
export class Prefixes {
  constructor(readonly bases: NamedFolder[]) {}

  of(folder: string): string {
    const known = this.bases.find(({ base }) => base === folder || isBelow(folder, base));
    return known ? join(known.prefix, path.relative(known.base, folder)) : this.#add(folder);
  }

  #add(folder: string): string {
    const name = path.basename(folder);
    const base = PARTS.has(name) ? path.dirname(folder) : folder;
    const prefix = this.bases.length === 0 ? '' : path.basename(base);
    this.bases.push({ base, prefix });
    return join(prefix, path.relative(base, folder));
  }
}

function join(prefix: string, way: string): string {
  const words = [prefix, ...way.split(path.sep)].filter((word) => word !== '' && !TIME.test(word));
  return words.map((word) => `${word}/`).join('');
}

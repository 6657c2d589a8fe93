/**
 * What `svc submit --upload` takes as a whole process: a source tree that the server does not have, and the same tree unchanged. Beside it,
 * in turns, `tar -cz` of the same tree into a file, which neither sends nor checks anything.
 * Usage: npm run bench -- snapshots [--files 5000] [--mb 100] [--rounds 5]
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createWorkplace } from '../test/support/workplace.js';
import { measure, printTable, summarise } from './support/report.js';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '5000' },
    mb: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
  },
});
const files = Number(values.files);
const rounds = Number(values.rounds);
const fileBytes = Math.round((Number(values.mb) * 1024 * 1024) / files);
const FILES_OF_DIRECTORY = 100;
/** A tree that changed just now is packed again, as a file could change within the resolution of its time. */
const SETTLED_MS = 300;

const workplace = createWorkplace();
const tree = path.join(workplace.dir, 'project');
try {
  const { url } = await workplace.startServer();
  const archive = path.join(workplace.dir, 'peer.tar.gz');
  const submit = async (): Promise<void> => {
    const { status, stderr } = await workplace.svc([
      'submit',
      '--url',
      url,
      '--cpu-only',
      '--upload',
      tree,
      'true',
    ]);
    if (status !== 0) throw new Error(stderr);
  };
  const tar = async (): Promise<void> => void execFileSync('tar', ['-czf', archive, '-C', tree, '.']);
  const [first, packed, unchanged, start]: number[][] = [[], [], [], []];
  for (let round = 0; round < rounds; round++) {
    writeTree(round);
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    first!.push(...(await measure(1, submit)));
    packed!.push(...(await measure(1, tar)));
    unchanged!.push(...(await measure(3, submit)));
    start!.push(...(await measure(3, () => workplace.svc(['--version']))));
  }
  printTable([
    [`${files} files, ${values.mb} MB`, 'median', 'p99', 'unit'],
    ['submit --upload, the first time', ...summarise(first!), 'ms'],
    ['tar -cz of the same tree', ...summarise(packed!), 'ms'],
    ['submit --upload, unchanged', ...summarise(unchanged!), 'ms'],
    ['svc --version, the start of the program', ...summarise(start!), 'ms'],
  ]);
} finally {
  await workplace.close();
}

/** Text of which no two files have a line in common, so that it compresses as source does: to about a third. */
function writeTree(round: number): void {
  rmSync(tree, { recursive: true, force: true });
  for (let index = 0; index < files; index++) {
    const directory = path.join(tree, `package_${Math.floor(index / FILES_OF_DIRECTORY)}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, `module_${index}.py`), toSource(`${round} ${index}`));
  }
}

function toSource(seed: string): string {
  let text = '';
  for (let line = 0; text.length < fileBytes; line++) {
    const name = createHash('md5').update(`${seed} ${line}`).digest('hex').slice(0, 10);
    text += `    layer_${name} = torch.nn.Linear(in_features=hidden, out_features=${line}, bias=True)\n`;
  }
  return text.slice(0, fileBytes);
}

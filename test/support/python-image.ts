import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';

/** The Python of this host with its libraries as an image, without a shell. */
export async function importPython(client: Docker, python: string, repo: string): Promise<void> {
  // It says itself where it is: what is on the path may be a script that starts it, as that of pyenv.
  const places =
    'import os, sys; print(os.path.realpath(sys.executable), os.path.dirname(os.__file__), sep=chr(10))';
  const [program = '', library = ''] = execFileSync(python, ['-c', places], { encoding: 'utf8' }).split('\n');
  const loaded = `${program} ${library}/lib-dynload/*.so`;
  const libraries = execFileSync(
    'sh',
    ['-c', `ldd ${loaded} 2>/dev/null | grep -o '/[^ ]*' | grep -v : | sort -u`],
    {
      encoding: 'utf8',
    },
  );
  const linked = libraries.trim().split('\n');
  // Threads load it when they end.
  const ofThreads = linked
    .map((file) => path.join(path.dirname(file), 'libgcc_s.so.1'))
    .filter((file, index, all) => existsSync(file) && all.indexOf(file) === index);
  const files = [program, library, ...linked, ...ofThreads].map((file) => file.slice(1));
  const archive = spawn(
    'tar',
    [
      '-C',
      '/',
      '-h',
      '-c',
      '--exclude=test',
      '--exclude=__pycache__',
      `--transform=s,^${program.slice(1)}$,usr/bin/python3,`,
      ...files,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [answer] = await Promise.all([client.importImage(archive.stdout, { repo }), once(archive, 'close')]);
  await text(answer as Readable);
}

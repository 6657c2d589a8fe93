import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogFolders } from '../src/log-folders.js';

describe('log folders', () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'svc-log-folders-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  it('are removed also while something is written to them', async () => {
    const folder = join(directory, 'job_1');
    mkdirSync(folder);
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let file = 0; file < 400 && !isOver; file += 1)
        await writeFile(join(folder, `${writer}-${file}`), '').catch(() => (isOver = true));
    };
    const writers = Array.from({ length: 4 }, (_, at) => write(at));
    await new LogFolders(directory).remove('job_1');
    isOver = true;
    await Promise.all(writers);
    expect(existsSync(folder)).to.equal(false);
  });
});

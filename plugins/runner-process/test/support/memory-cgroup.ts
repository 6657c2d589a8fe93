import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Where the memory controller is mounted, and the name of its limit. */
const HIERARCHIES = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const;
const MIB = 1024 * 1024;

/** Needs 200 MiB and then ends; never more, should it run without the limit. */
const EAT = 'dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null';

/** A cgroup whose processes are killed by the kernel when they use more memory than that. */
export class MemoryCgroup {
  private constructor(readonly dir: string) {}

  /** null: this machine does not allow it. */
  static create(limitMb: number): MemoryCgroup | null {
    for (const { root, limit } of HIERARCHIES) {
      try {
        const dir = mkdtempSync(path.join(root, 'svc-test-'));
        if (existsSync(path.join(dir, limit))) {
          writeFileSync(path.join(dir, limit), String(limitMb * MIB));
          return new MemoryCgroup(dir);
        }
        rmdirSync(dir);
      } catch {
        // Not mounted, or not ours to change.
      }
    }
    return null;
  }

  /** A shell script that joins the cgroup and then does that. */
  script(then: string): string {
    return `echo $$ > ${this.dir}/cgroup.procs && ${then}`;
  }

  /** A shell script that is killed for what it needs. */
  eat(): string {
    return this.script(`exec ${EAT}`);
  }

  /** A shell script that joins the cgroup, and whose child waits for the file and is then killed for what it needs. */
  eatInChild(file: string): string {
    const wait = `while [ ! -e ${file} ]; do sleep 0.02; done`;
    return this.script(`{ sh -c '${wait}; exec ${EAT}'; exit $?; }`);
  }

  /** A member that waits for a line on its stdin and is then killed for what it needs. */
  start(): ChildProcess {
    return spawn('sh', ['-c', this.script(`read line && exec ${EAT}`)], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  }

  /** A member that ends with what its child ended with; the child is one as `start` makes. */
  startParent(): ChildProcess {
    const script = this.script(`{ sh -c 'read line && exec ${EAT}'; exit $?; }`);
    return spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] });
  }

  members(): ReadonlySet<number> {
    const text = readFileSync(path.join(this.dir, 'cgroup.procs'), 'utf8').trim();
    return new Set(text === '' ? [] : text.split('\n').map(Number));
  }

  /** Must hold: nothing of it runs any more. */
  remove(): void {
    rmdirSync(this.dir);
  }
}

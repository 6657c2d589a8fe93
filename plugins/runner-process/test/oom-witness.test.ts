import { until } from '@svc/agent/testing';
import { expect } from 'chai';
import { once } from 'node:events';
import {
  CgroupWatch,
  KernelMessages,
  KernelWatch,
  toKilledPid,
  type OomWatch,
} from '../src/agent/oom-witness.js';
import { MemoryCgroup } from './support/memory-cgroup.js';

/** null: this machine does not let us know it so. */
const watches: readonly [by: string, watchOf: (pid: number) => OomWatch | null][] = [
  ['its cgroup', watchByCgroup],
  ["the kernel's messages", watchByMessages],
];

function watchByCgroup(pid: number): OomWatch {
  return new CgroupWatch(pid);
}

function watchByMessages(pid: number): OomWatch | null {
  const messages = KernelMessages.open();
  if (messages === null) return null;
  messages.readKilled();
  return new KernelWatch(pid, messages);
}

describe('agent: who was killed for want of memory', () => {
  const records: readonly [record: string, pid: number | null][] = [
    [
      '3,423,13299919296,-;Memory cgroup out of memory: Killed process 31556 (python3) total-vm:118968kB',
      31556,
    ],
    ['3,9,1,-;Out of memory: Killed process 77 (a b) total-vm:1kB', 77],
    ['3,9,1,-;Out of memory (oom_kill_allocating_task): Killed process 78 (a) total-vm:1kB', 78],
    ['6,422,1,-;oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/x,task=python3,pid=31556,uid=0', 31556],
    ['6,422,1,-;oom-kill:constraint=CONSTRAINT_NONE,task=a,pid=1,uid=2,pid=31556,uid=0', 31556],
    ['12,1,1,-;Out of memory: Killed process 77 (written by a program)', null],
    ['3,1,1,-;a program was named Out of memory: Killed process 77', null],
    ['6,1,1,-;oom_reaper: reaped process 31556 (python3), now anon-rss:0kB', null],
    ['6,1,1,-;[  31556]     0 31556    29742     6718', null],
    ['', null],
  ];
  for (const [record, pid] of records)
    it(`reads ${record === '' ? 'nothing' : record}`, () => expect(toKilledPid(record)).to.equal(pid));

  describe('by a memory cgroup of this machine', () => {
    let cgroup: MemoryCgroup;
    beforeEach(function () {
      const made = MemoryCgroup.create(32);
      if (made === null) this.skip();
      cgroup = made;
    });
    afterEach(() => cgroup?.remove());

    it("is told by the kernel's messages", async function () {
      const messages = KernelMessages.open();
      if (messages === null) this.skip();
      messages.readKilled();
      const greedy = cgroup.start();
      greedy.stdin?.write('\n');
      const [, signal] = await once(greedy, 'exit');
      expect(signal).to.equal('SIGKILL');
      expect([...messages.readKilled()]).to.deep.equal([greedy.pid]);
      expect([...messages.readKilled()], 'said once').to.deep.equal([]);
      messages.close();
    });

    it('is told by the count of the cgroup, when nobody else is gone', async () => {
      const bystander = cgroup.start();
      const greedy = cgroup.start();
      await until(() => cgroup.members().size === 2, 'both in the cgroup');
      const watch = new CgroupWatch(greedy.pid!);
      greedy.stdin?.write('\n');
      const [, signal] = await once(greedy, 'exit');
      expect(signal).to.equal('SIGKILL');
      expect(watch.wasKilled()).to.equal(true);
      watch.close();
      bystander.kill('SIGKILL');
      await once(bystander, 'exit');
    });

    for (const [by, watchOf] of watches) {
      it(`is told of a child by ${by}, and not of its parent`, async function () {
        const parent = cgroup.startParent();
        await until(() => cgroup.members().size === 2, 'both in the cgroup');
        const watch = watchOf(parent.pid!);
        if (watch === null) return this.skip();
        parent.stdin?.write('\n');
        const [code] = await once(parent, 'exit');
        expect(code).to.equal(137);
        expect([watch.wasDescendantKilled(), watch.wasKilled()]).to.deep.equal([true, false]);
        watch.close();
      });

      it(`is not told by ${by} of a child that was killed by hand`, async function () {
        const parent = cgroup.startParent();
        await until(() => cgroup.members().size === 2, 'both in the cgroup');
        const watch = watchOf(parent.pid!);
        if (watch === null) return this.skip();
        process.kill(
          [...cgroup.members()].find((pid) => pid !== parent.pid)!,
          'SIGKILL',
        );
        const [code] = await once(parent, 'exit');
        expect(code).to.equal(137);
        expect([watch.wasDescendantKilled(), watch.wasKilled()]).to.deep.equal([false, false]);
        watch.close();
      });
    }

    it('is not told of one that was killed by hand while the kernel killed another', async () => {
      const victim = cgroup.start();
      const greedy = cgroup.start();
      await until(() => cgroup.members().size === 2, 'both in the cgroup');
      const watch = new CgroupWatch(victim.pid!);
      greedy.stdin?.write('\n');
      await once(greedy, 'exit');
      victim.kill('SIGKILL');
      await once(victim, 'exit');
      expect(watch.wasKilled()).to.equal(false);
      watch.close();
    });
  });
});

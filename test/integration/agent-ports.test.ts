import { expect } from 'chai';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { familyOf } from '../../plugins/runner-process/src/agent/process-family.js';
import { createWorkplace, submit, untilJob, type Workplace } from '../support/workplace.js';

/** The states in which a socket takes what anyone sends: TCP listens, UDP has no peer. */
const OPEN_TO_ALL = { tcp: '0A', tcp6: '0A', udp: '07', udp6: '07' };

/** Where a process listens, in the kernel's spelling. */
function listPorts(pid: number): string[] {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => inodeOf(pid, fd)));
  return Object.entries(OPEN_TO_ALL).flatMap(([protocol, open]) =>
    readFileSync(`/proc/${pid}/net/${protocol}`, 'latin1')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === open && inodes.has(inode))
      .map(([, address]) => `${protocol} ${address}`),
  );
}

/** Of a socket; undefined for other files, and for one that has been closed meanwhile. */
function inodeOf(pid: number, fd: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
  } catch {
    return undefined;
  }
}

describe('the network ports of an agent', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  before(() => (workplace = createWorkplace()));
  after(() => workplace.close());

  it('are none, while a job runs either', async () => {
    const server = await workplace.startServer();
    const agent = await workplace.startAgent(server);
    const { id } = await submit(server.client, {
      command: ['sleep', '600'],
      resources: { cpu_only: true },
    });
    await untilJob(server.client, id, ({ status }) => status === 'RUNNING');
    const shimAndJob = [...familyOf(agent.pid)];
    expect(shimAndJob).to.have.length.above(1);
    expect([agent.pid, ...shimAndJob].flatMap(listPorts)).to.deep.equal([]);
    expect(listPorts(server.pid), 'those of the server').to.have.length(1);
  });
});

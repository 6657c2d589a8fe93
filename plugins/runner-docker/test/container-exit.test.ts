import { expect } from 'chai';
import type { ContainerInspectInfo } from 'dockerode';
import { toContainerExit, type EndFacts } from '../src/agent/container-exit.js';

const exitOf = (state: Partial<ContainerInspectInfo['State']>, facts: Partial<EndFacts> = {}) =>
  toContainerExit(
    { State: { Status: 'exited', ExitCode: 0, OOMKilled: false, ...state } } as ContainerInspectInfo,
    { wasStopped: false, disturbance: null, ...facts },
  );

describe('how a container ended', () => {
  it('is a signal for 128 and its number, else the exit code', () => {
    expect(exitOf({ ExitCode: 143 })).to.deep.equal({ kind: 'signaled', signal: 'SIGTERM', code: -15 });
    for (const code of [0, 1, 127, 128, 255])
      expect(exitOf({ ExitCode: code })).to.deep.equal({ kind: 'exited', code });
  });

  it('is a lack of memory where that killed a process and the command failed, and not when we told it to end', () => {
    expect(exitOf({ ExitCode: 137, OOMKilled: true })).to.deep.equal({ kind: 'oom', code: -9 });
    expect(exitOf({ ExitCode: 1, OOMKilled: true })).to.deep.equal({ kind: 'oom', code: 1 });
    expect(exitOf({ ExitCode: 0, OOMKilled: true })).to.deep.equal({ kind: 'exited', code: 0 });
    const killed = exitOf({ ExitCode: 137, OOMKilled: true }, { wasStopped: true });
    expect(killed).to.include({ kind: 'signaled', signal: 'SIGKILL' });
  });

  it('is unknown after a restart of the engine, unless it was a success or a lack of memory', () => {
    const disturbance = 'host rebooted';
    expect(exitOf({ ExitCode: 1 }, { disturbance })).to.deep.equal({ kind: 'lost', reason: disturbance });
    expect(exitOf({ ExitCode: 0 }, { disturbance })).to.deep.equal({ kind: 'exited', code: 0 });
    expect(exitOf({ ExitCode: 137, OOMKilled: true }, { disturbance })).to.include({ kind: 'oom' });
  });

  it('is unknown where the container is gone or was never started', () => {
    const facts = { wasStopped: false, disturbance: null };
    expect(toContainerExit(null, facts)).to.deep.equal({ kind: 'lost', reason: 'its container was removed' });
    expect(exitOf({ Status: 'created' })).to.include({ kind: 'lost' });
  });
});

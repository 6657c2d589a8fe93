import type { AttemptKey, Exit } from '@svc/contract';
import { until, type TestHost } from '@svc/agent/testing';
import { expect } from 'chai';
import type { DockerPlan } from '../../src/spec.js';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost, toPlan } from '../support/host.js';

const SIGKILL: Exit = { kind: 'signaled', signal: 'SIGKILL', code: -9 };
const OOM: Exit = { kind: 'oom', code: -9 };
/** Needs 200 MiB. */
const EAT = 'dd if=/dev/zero of=/dev/null bs=200M count=1';

describeWithEngine('docker runner: how a job ends', (engine) => {
  let host: TestHost;
  beforeEach(async () => {
    host = await createHost();
    await host.startAgent();
  });
  afterEach(() => host.close());

  let dispatched = 0;
  /** With another plan than the tests have as a rule. */
  const dispatch = (command: readonly string[], changes: Partial<DockerPlan>): AttemptKey => {
    dispatched += 1;
    const key = { job_id: `job_${String(dispatched).padStart(26, '9')}`, attempt: 1 };
    host.server.dispatch({ ...key, runner: 'docker', plan: toPlan(command, changes) });
    return key;
  };
  const exitOf = async (key: AttemptKey) => (await host.server.ended(key)).exit;
  const refusalOf = async (key: AttemptKey) => {
    const exit = await exitOf(key);
    expect(exit?.kind).to.equal('dispatch_failed');
    return (exit as { message: string }).message;
  };

  it('tells a signal of the main process, and a shell that ended with its number, as the signal', async () => {
    const keys = ['kill -TERM $$', 'kill -SEGV $$', 'exit 137', 'exit 200'].map((script) => host.sh(script));
    expect(await Promise.all(keys.map(exitOf))).to.deep.equal([
      { kind: 'signaled', signal: 'SIGTERM', code: -15 },
      { kind: 'signaled', signal: 'SIGSEGV', code: -11 },
      SIGKILL,
      { kind: 'exited', code: 200 },
    ]);
  });

  it('tells a kill for lack of memory as OOM, of a child of the shell too, and no other kill', async () => {
    const memory_mb = 64;
    expect(await exitOf(dispatch(['sh', '-c', `exec ${EAT}`], { memory_mb }))).to.deep.equal(OOM);
    const ofChild = dispatch(['sh', '-c', `${EAT}; exit $?`], { memory_mb });
    expect(await exitOf(ofChild)).to.deep.equal(OOM);
    const ofWorker = dispatch(['sh', '-c', `${EAT}; exit 3`], { memory_mb });
    expect(await exitOf(ofWorker)).to.deep.equal({ kind: 'oom', code: 3 });
    const survivor = dispatch(['sh', '-c', `${EAT}; exit 0`], { memory_mb });
    expect(await exitOf(survivor)).to.deep.equal({ kind: 'exited', code: 0 });
    expect(await exitOf(host.sh('kill -KILL $$'))).to.deep.equal(SIGKILL);
  });

  it('says which image is missing, and leaves no container', async () => {
    const message = await refusalOf(dispatch(['true'], { image: 'no-such-image:7' }));
    expect(message).to.include('no-such-image:7').and.include('node-1');
    expect((await engine().containers()).length).to.equal(0);
  });

  it('says which program is missing, or cannot be executed, and leaves no container', async () => {
    expect(await refusalOf(host.run(['no-such-program']))).to.equal(
      'program no-such-program was not found in the PATH of image svc-test:1 on node-1',
    );
    expect(await refusalOf(host.run(['/no/such']))).to.equal(
      'program /no/such does not exist in image svc-test:1 on node-1',
    );
    expect(await refusalOf(host.run(['/bin']))).to.equal(
      'permission denied: /bin cannot be executed in image svc-test:1 on node-1',
    );
    expect((await engine().containers()).length).to.equal(0);
  });

  it('tells a container that somebody killed by the signal, and one that was removed while the agent was away as lost', async () => {
    const [killed, removed] = [host.sh('echo r; exec sleep 100'), host.sh('echo r; exec sleep 100')];
    await until(() => [killed, removed].every((key) => host.server.logs.lines(key).length === 1), 'both');
    const containerOf = async ({ job_id }: AttemptKey) => {
      const found = (await engine().containers()).find(({ Labels }) => Labels['svc.job_id'] === job_id);
      return engine().client.getContainer(found?.Id ?? '');
    };
    await (await containerOf(killed)).kill({ signal: 'SIGINT' });
    expect(await exitOf(killed)).to.deep.equal({ kind: 'signaled', signal: 'SIGINT', code: -2 });
    await host.closeAgent();
    await (await containerOf(removed)).remove({ force: true });
    await host.startAgent();
    expect(await exitOf(removed)).to.deep.equal({ kind: 'lost', reason: 'its container was removed' });
  });
});

import { until, type TestHost } from '@svc/agent/testing';
import type { AttemptKey } from '@svc/contract';
import { expect } from 'chai';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { describeWithEngine } from '../support/docker-engine.js';
import { createHost } from '../support/host.js';

describeWithEngine('docker runner: logs', (engine) => {
  let host: TestHost;
  beforeEach(async () => {
    host = await createHost();
  });
  afterEach(() => host.close());

  const bytesOf = async (key: AttemptKey, name: string) =>
    (await readFile(host.file(key, name))).toString('latin1');

  it('keeps stdout and stderr apart, each byte as it was written', async () => {
    await host.startAgent();
    const key = host.sh(
      'printf "a\\n\\n \\377\\376\\r50%%\\n"; head -c 50000 /dev/zero | tr "\\0" x; printf "\\nend"; printf "\\000err\\n" >&2',
    );
    await host.server.ended(key);
    expect(await bytesOf(key, 'stdout')).to.equal(`a\n\n \xff\xfe\r50%\n${'x'.repeat(50_000)}\nend`);
    expect(await bytesOf(key, 'stderr')).to.equal('\0err\n');
  });

  it('has every line once, whenever the agent is killed', async () => {
    const last = 40_000;
    const count = `i=0; while [ $i -lt ${last} ]; do i=$((i+1)); echo $i; [ $((i%7)) = 0 ] && echo e$i >&2; [ $((i%400)) = 0 ] && sleep 0.05; done`;
    let agent = await host.spawnAgent();
    const key = host.sh(`${count}; exit 3`);
    const sizeOf = () =>
      stat(host.file(key, 'stdout')).then(
        ({ size }) => size,
        () => 0,
      );
    for (let kill = 1; kill <= 4; kill += 1) {
      const before = await sizeOf();
      await until(async () => (await sizeOf()) > before + 10_000, 'more output');
      await agent.end('SIGKILL');
      agent = await host.spawnAgent();
    }
    const { exit } = await host.server.ended(key);
    expect(exit).to.deep.equal({ kind: 'exited', code: 3 });
    const numbers = Array.from({ length: last }, (_, index) => index + 1);
    const sevenths = numbers.filter((number) => number % 7 === 0);
    expect(await bytesOf(key, 'stdout')).to.equal(numbers.map((number) => `${number}\n`).join(''));
    expect(await bytesOf(key, 'stderr')).to.equal(sevenths.map((number) => `e${number}\n`).join(''));
  });

  it('has all that a container wrote while there was no agent, also of one that has ended', async () => {
    await host.startAgent();
    const key = host.sh('echo ready; until [ -e go ]; do sleep 0.02; done; seq 1 100000; echo aside >&2');
    await until(() => host.server.logs.lines(key).length === 1, 'the start');
    await host.closeAgent();
    const { Id } = (await engine().containers())[0]!;
    await writeFile(host.file(key, 'work/go'), '');
    await until(
      async () => (await engine().client.getContainer(Id).inspect()).State.Status === 'exited',
      'its end',
    );
    await host.startAgent();
    await host.server.ended(key);
    expect(host.server.logs.lines(key)).to.have.length(100_001);
    expect(host.server.logs.lines(key, 'stderr')).to.deep.equal(['aside']);
  });

  it('removes a container once its log and its end are in the files of the attempt', async () => {
    await host.startAgent();
    const key = host.sh('seq 1 1000; exit 9');
    await host.server.ended(key);
    expect((await engine().containers()).length).to.equal(0);
    expect(await host.json(key, 'exit.json')).to.include({ kind: 'exited', code: 9 });
  });
});

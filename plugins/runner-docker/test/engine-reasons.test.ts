import { expect } from 'chai';
import { withFix } from '../src/agent/engine-reasons.js';
import { Engine } from '../src/agent/engine.js';

describe('docker runner: what to do about what the engine says', () => {
  const cases: [string, string][] = [
    ['network bridge not found', '--runner-option network=host'],
    ['Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available', '--runner-option cpus=N'],
    ['unable to find user nobody: no matching entries in passwd file', '--runner-option user=1000:1000'],
    ['could not select device driver "nvidia" with capabilities: [[gpu]]', 'NVIDIA Container Toolkit'],
    ['write /var/lib/docker/tmp/x: no space left on device', 'docker system df'],
  ];
  for (const [reason, fix] of cases)
    it(reason, () => {
      expect(withFix(reason)).to.contain(`${reason}: `).and.contain(fix);
    });

  it('stays as it is where nothing is known', () => {
    expect(withFix('something else.')).to.equal('something else.');
  });
});

describe('docker runner: DOCKER_HOST', () => {
  it('is a Unix socket, or the path of one; the option of the agent comes first', () => {
    expect(new Engine(null, 'unix:///tmp/a.sock').socket).to.equal('/tmp/a.sock');
    expect(new Engine(null, '/tmp/a.sock').socket).to.equal('/tmp/a.sock');
    expect(new Engine('/tmp/b.sock', 'tcp://elsewhere:2375').socket).to.equal('/tmp/b.sock');
  });

  for (const wrong of ['tcp://127.0.0.1:2375', 'ssh://me@host', 'docker.sock'])
    it(`${wrong} is refused with the form that there is`, async () => {
      const end = new AbortController();
      for await (const probe of new Engine(null, wrong).probes(end.signal)) {
        expect(probe).to.deep.include({ available: false });
        expect(probe.reason).to.contain(`DOCKER_HOST=${wrong} is not a Unix socket: write unix:///path`);
        end.abort();
      }
    });
});

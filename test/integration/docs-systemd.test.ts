import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { createRepository } from '../support/newcomer.js';
import { readBlocks, type Block } from '../support/page.js';
import { ROOT } from '../support/program.js';

const FIXTURES = path.join(ROOT, 'test', 'fixtures');
const HEADINGS = ['systemd', 'The server', 'The agents'];
const PATIENCE_MS = 180_000;
/** What is written to /etc, /opt, /home and /var, and each port, is that of this test alone and ends with it. */
const OWN_MACHINE = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const PRELUDE = `
cp -a /etc "$RECORDS/etc"
mount --bind "$RECORDS/etc" /etc
mkdir "$RECORDS/opt"
mount --bind "$RECORDS/opt" /opt
for folder in /home /var; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /var/lib /var/tmp /var/mail /etc/systemd/system
ip link set lo up
# The repository belongs to another user here.
git config --system safe.directory '*'
cd
`;
/** The dependencies would come from the registry. */
const PROVIDE = `
mkdir -p /opt/svc/.cache/stamps
cp -a "$ROOT/node_modules" /opt/svc/
cp "$ROOT/.cache/stamps/install" /opt/svc/.cache/stamps/
`;
const CHECKS = `
cd
until svc nodes | grep -q ONLINE; do sleep 0.2; done
mkdir -p project
cd project
echo print > train.py
user=$(svc submit --upload --follow --cpu-only id -un)
echo "the job runs as $user"
stat -c '%n %U %a' /etc/svc/agent-token /var/lib/svc
`;

describe('the systemd part of docs/start.md, typed in its order by root', function () {
  this.timeout(PATIENCE_MS);
  let dir: string;
  before(function () {
    requireEngine(this, 'systemd');
    requireEngine(this, 'netns');
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-systemd-'));
  });
  after(() => dir && rmSync(dir, { recursive: true, force: true }));

  it('systemd understands the units, and server, agent, backup and upgrade work', () => {
    const blocks = readBlocks('docs/start.md');
    const installation = blocks.filter(({ heading }) => HEADINGS.includes(heading));
    expect(installation).to.have.length(8);
    const ofBackup = blocks.filter(({ heading }) => heading === 'Backup and upgrade');
    const [backup, upgrade] = ['sudo -u svc', 'umask 022'].map(
      (start) => ofBackup.find(({ text }) => text.startsWith(start))?.text,
    );
    // The copy to another host needs one.
    const [backUp = ''] = backup!.split('\n');
    const script = [PRELUDE, ...installation.map(toTyped), CHECKS, backUp, upgrade, CHECKS].join('\n');

    const { status, stdout, stderr } = typeOnOwnMachine(script.replace('REPOSITORY', createRepository(dir)));

    expect(status, `${stdout}\n${stderr}`).to.equal(0);
    expect(stdout.match(/^the job runs as trainer$/gm), stdout).to.have.length(2);
    expect(stdout).to.contain('/etc/svc/agent-token trainer 600\n/var/lib/svc svc 700\n');
    expect(stdout).to.match(/^\/var\/lib\/svc\/backups\/\S+/m);
  });

  function typeOnOwnMachine(
    script: string,
  ): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } {
    const home = path.join(dir, 'home');
    const bin = path.join(dir, 'bin');
    mkdirSync(home, { mode: 0o700 });
    mkdirSync(bin);
    for (const name of ['sudo', 'systemctl'])
      symlinkSync(path.join(FIXTURES, `${name}.sh`), path.join(bin, name));
    symlinkSync('/opt/svc/cli/bin/svc.mjs', path.join(bin, 'svc'));
    const file = path.join(dir, 'typed.sh');
    writeFileSync(file, script);
    const nodeDir = path.dirname(process.execPath);
    return spawnSync('unshare', [...OWN_MACHINE, 'bash', '-euo', 'pipefail', file], {
      encoding: 'utf8',
      timeout: PATIENCE_MS,
      env: {
        HOME: home,
        PATH: `${bin}:${nodeDir}:/usr/sbin:/usr/bin:/sbin:/bin`,
        LANG: 'C.UTF-8',
        RECORDS: dir,
        ROOT,
        NODE_DIR: nodeDir,
      },
    });
  }
});

function toTyped({ file, text }: Block): string {
  if (file !== null) return `cat > ${file} <<'FILE'\n${text}FILE`;
  return text.replace(/^cd \/opt\/svc$/m, (line) => `${PROVIDE}${line}`);
}

import { execFileSync, spawn, type SpawnOptions } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { requireEngine } from '../../../test/support/engines.js';
import { evidenceOf, explain } from './support/attempt-evidence.js';

interface Ended {
  readonly text: string;
  readonly exit_code: number;
}

/** Runs a real program, and returns what it wrote and how it ended. */
function run(program: string, args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout?.on('data', (piece: Buffer) => (text += piece.toString()));
    child.stderr?.on('data', (piece: Buffer) => (text += piece.toString()));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const number = signal === null ? 0 : os.constants.signals[signal];
      resolve({ text, exit_code: code ?? -number });
    });
  });
}

function explainEnd({ text, exit_code }: Ended) {
  const failure_reason = exit_code < 0 ? 'signal' : 'EXIT_CODE';
  return explain(evidenceOf(text, { exit_code, failure_reason }));
}

describe('failures: what real tools write', function () {
  this.timeout(60_000);
  let python: string;
  let dir: string;
  before(function () {
    python = requireEngine(this, 'python');
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-failures-'));
  });
  after(() => dir && rmSync(dir, { recursive: true, force: true }));

  const py = (code: string, ...args: string[]) => run(python, ['-c', code, ...args], { cwd: dir });
  const sh = (script: string) => run('sh', ['-c', script], { cwd: dir });

  const PYTHON: readonly (readonly [rule: string, code: string])[] = [
    ['missing-module', 'import no_such_module'],
    ['import-error', 'from os import no_such_name'],
    ['file-not-found', 'open("no-such-file.csv")'],
    ['python-syntax', 'def f(:\n  pass'],
    ['assertion', 'assert 1 == 2, "sizes differ"'],
    ['recursion', 'def f(): return f()\nf()'],
    [
      'wrong-arguments',
      'import argparse\np = argparse.ArgumentParser()\np.add_argument("--lr", required=True)\np.parse_args()',
    ],
    ['nan-loss', 'raise ValueError("loss is nan at step 3")'],
    ['network-unreachable', 'import socket\nsocket.create_connection(("127.0.0.1", 1))'],
    [
      'too-many-open-files',
      'import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))\nfiles = [open("/dev/null") for _ in range(32)]',
    ],
    [
      'host-out-of-memory',
      'import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\nbytearray(1 << 30)',
    ],
    ['disk-full', 'open("/dev/full", "w", 1).write("x" * 10000 + "\\n")'],
    ['checkpoint-unreadable', 'import pickle\npickle.loads(b"<html>")'],
    [
      'ssl-certificate',
      'import ssl\nraise ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1006)")',
    ],
    ['segmentation-fault', 'import ctypes\nctypes.string_at(0)'],
    ['aborted', 'import os\nos.abort()'],
    ['bus-error', 'import os, signal\nos.kill(os.getpid(), signal.SIGBUS)'],
    ['terminated', 'import os, signal\nos.kill(os.getpid(), signal.SIGTERM)'],
    ['killed', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)'],
    ['illegal-instruction', 'import os, signal\nos.kill(os.getpid(), signal.SIGILL)'],
    ['interrupted', 'import os, signal\nos.kill(os.getpid(), signal.SIGINT)'],
  ];
  for (const [rule, code] of PYTHON)
    it(`Python: ${rule}`, async () => {
      const ended = await py(code);
      expect(ended.exit_code).not.to.equal(0);
      expect(explainEnd(ended).rule, ended.text).to.equal(rule);
    });

  it('Python: address-in-use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const ended = await py(`import socket\nsocket.socket().bind(("127.0.0.1", ${port}))`);
    await new Promise((resolve) => server.close(resolve));
    expect(explainEnd(ended).rule, ended.text).to.equal('address-in-use');
  });

  it('Python: the last frame of a script of the user', async () => {
    writeFileSync(
      path.join(dir, 'train.py'),
      'import json\n\ndef load():\n    return json.loads("{")\n\nload()\n',
    );
    const explained = explainEnd(await run(python, ['train.py'], { cwd: dir }));
    expect(explained.rule).to.equal(null);
    expect(explained.summary).to.match(/^No rule matched/);
    expect(explained.traceback?.frame).to.include({
      line: 4,
      function: 'load',
      code: 'return json.loads("{")',
    });
    expect(explained.traceback?.frame?.file).to.match(/train\.py$/);
  });

  it('Python: the line of a syntax error', async () => {
    writeFileSync(path.join(dir, 'broken.py'), 'x = 1\nif x\n    pass\n');
    const explained = explainEnd(await run(python, ['broken.py'], { cwd: dir }));
    expect(explained.rule).to.equal('python-syntax');
    expect(explained.traceback?.frame).to.include({ line: 2 });
  });

  const SHELL: readonly (readonly [rule: string, script: string])[] = [
    ['program-not-found', 'no-such-program --train'],
    ['file-not-found', 'cat no-such-file.txt'],
    ['disk-full', 'dd if=/dev/zero of=/dev/full bs=1024 count=1'],
    ['time-limit', 'timeout 0.1 sleep 10'],
    ['segmentation-fault', 'sh -c "kill -SEGV \\$\\$"; exit $?'],
  ];
  for (const [rule, script] of SHELL)
    it(`shell: ${rule}`, async () => {
      const ended = await sh(script);
      expect(explainEnd(ended).rule, ended.text).to.equal(rule);
    });

  it('shell: permission-denied', async () => {
    writeFileSync(path.join(dir, 'train.sh'), 'echo hello\n', { mode: 0o644 });
    const ended = await sh('./train.sh');
    expect(explainEnd(ended).rule, ended.text).to.equal('permission-denied');
  });

  it('the loader: missing-shared-library', async () => {
    const ended = await py('import ctypes\nctypes.CDLL("libno_such.so.12")');
    expect(explainEnd(ended).rule, ended.text).to.equal('missing-shared-library');
    expect(explainEnd(ended).likely_cause).to.include('`libno_such.so.12`');
  });

  it('a disk of 64 KiB: disk-full', async function () {
    const small = path.join(dir, 'small');
    try {
      execFileSync('sh', ['-c', `mkdir -p ${small} && mount -t tmpfs -o size=64k none ${small}`], {
        stdio: 'ignore',
      });
    } catch {
      return this.skip();
    }
    const ended = await py(
      `open("${small}/model.pt", "wb", 0).write(b"x" * 100_000); open("${small}/b", "wb", 0).write(b"x" * 100_000)`,
    );
    execFileSync('umount', [small]);
    expect(explainEnd(ended).rule, ended.text).to.equal('disk-full');
  });
});

describe('failures: what PyTorch writes', function () {
  this.timeout(120_000);
  let python: string;
  let dir: string;
  before(function () {
    python = requireEngine(this, 'torch');
    dir = mkdtempSync(path.join(os.tmpdir(), 'svc-failures-'));
  });
  after(() => dir && rmSync(dir, { recursive: true, force: true }));

  const TORCH: readonly (readonly [rule: string, code: string])[] = [
    ['shape-mismatch', 'torch.nn.Linear(3, 2)(torch.ones(4, 5))'],
    ['shape-mismatch', 'torch.ones(3) + torch.ones(4)'],
    ['dtype-mismatch', 'torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.long)'],
    ['checkpoint-does-not-fit', 'torch.nn.Linear(3, 2).load_state_dict(torch.nn.Linear(4, 2).state_dict())'],
    [
      'checkpoint-unreadable',
      'open("broken.pt", "wb").write(b"PK\\x03\\x04broken"); torch.load("broken.pt")',
    ],
    ['autograd-error', 'torch.ones(2).sum().backward()'],
    ['torch-without-cuda', 'torch.ones(2).cuda()'],
    ['host-out-of-memory', 'torch.empty(1 << 50)'],
    [
      'dataloader-worker-killed',
      'import os, signal\nclass D(torch.utils.data.Dataset):\n  def __len__(self): return 4\n  def __getitem__(self, i): os.kill(os.getpid(), signal.SIGKILL)\nfor _ in torch.utils.data.DataLoader(D(), num_workers=1): pass',
    ],
    [
      'nan-loss',
      'with torch.autograd.detect_anomaly():\n  x = torch.zeros(1, requires_grad=True)\n  (torch.sqrt(x) * 0).sum().backward()',
    ],
  ];
  for (const [rule, code] of TORCH)
    it(`${rule}: ${code.split('\n').at(-1)?.slice(0, 60)}`, async () => {
      const ended = await run(python, ['-c', `import torch\n${code}`], { cwd: dir });
      expect(explainEnd(ended).rule, ended.text).to.equal(rule);
    });
});

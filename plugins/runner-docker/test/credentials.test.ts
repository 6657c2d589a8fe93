import { expect } from 'chai';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findCredentials } from '../src/agent/credentials.js';
import { parseImageName } from '../src/agent/image-name.js';

const HUB = 'https://index.docker.io/v1/';
const encode = (text: string) => Buffer.from(text).toString('base64');

describe('the credentials for a registry', () => {
  let home: string;
  let previousPath: string | undefined;
  beforeEach(() => {
    home = mkdtempSync(path.join(os.tmpdir(), 'svc-login-'));
    previousPath = process.env['PATH'];
    process.env['PATH'] = `${home}:${previousPath ?? ''}`;
  });
  afterEach(() => {
    process.env['PATH'] = previousPath;
    rmSync(home, { recursive: true });
  });

  const login = (folder: string, name: string, content: unknown) => {
    mkdirSync(path.join(home, folder), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(path.join(home, folder, name), text);
  };
  const find = (image: string, env: Record<string, string> = {}) =>
    findCredentials(parseImageName(image), { HOME: home, ...env });
  const helper = (name: string, script: string) => {
    writeFileSync(path.join(home, `docker-credential-${name}`), `#!/bin/sh\n${script}\n`);
    chmodSync(path.join(home, `docker-credential-${name}`), 0o755);
  };

  it('are none without a login', async () => {
    expect(await find('python')).to.equal(null);
    login('.docker', 'config.json', { auths: { 'other.example.org': { auth: encode('a:b') } } });
    expect(await find('registry.example.org/x')).to.equal(null);
  });

  it('are those of docker login', async () => {
    login('.docker', 'config.json', {
      auths: { [HUB]: { auth: encode('anna:pass:word') }, 'r.example.org:5000': { identitytoken: 'token' } },
    });
    expect(await find('team/private')).to.deep.equal({
      username: 'anna',
      password: 'pass:word',
      serveraddress: HUB,
    });
    expect(await find('r.example.org:5000/x')).to.deep.equal({
      identitytoken: 'token',
      serveraddress: 'r.example.org:5000',
    });
  });

  it('are those of podman login where docker has none', async () => {
    login('.config/containers', 'auth.json', { auths: { 'r.example.org': { auth: encode('p:q') } } });
    expect(await find('r.example.org/x')).to.include({ username: 'p', password: 'q' });
  });

  it('are asked of a helper, which reads the registry from its input', async () => {
    login('.docker', 'config.json', { credHelpers: { 'r.example.org': 'vault' }, credsStore: 'none' });
    helper('vault', `read key; [ "$1" = get ] && echo "{\\"Username\\":\\"$key\\",\\"Secret\\":\\"s\\"}"`);
    helper('none', 'echo credentials not found; exit 1');
    expect(await find('r.example.org/x')).to.include({ username: 'r.example.org', password: 's' });
    expect(await find('other.example.org/x')).to.equal(null);
  });

  it('are a token where the helper says so', async () => {
    login('.docker', 'config.json', { credsStore: 'vault' });
    helper('vault', `echo '{"Username":"<token>","Secret":"t"}'`);
    expect(await find('python')).to.deep.equal({ identitytoken: 't', serveraddress: HUB });
  });

  it('fail with the name of what is broken, and without what it holds', async () => {
    login('.docker', 'config.json', '{"auths": secret');
    const broken = await find('python').catch((error: Error) => error.message);
    expect(broken).to.match(/config\.json, which holds the credentials for registries, cannot be read$/);
    login('.docker', 'config.json', { credsStore: '../evil' });
    expect(await find('python').catch((error: Error) => error.message)).to.contain(
      'no name of a credential helper',
    );
    login('.docker', 'config.json', { credsStore: 'missing' });
    expect(await find('python').catch((error: Error) => error.message)).to.contain(
      'docker-credential-missing cannot be run',
    );
  });
});

describe('the name of an image', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  for (const [image, name, tag, registry] of [
    ['python', 'python', 'latest', 'docker.io'],
    ['team/train:v1', 'team/train', 'v1', 'docker.io'],
    ['localhost/train', 'localhost/train', 'latest', 'localhost'],
    ['localhost:5000/train', 'localhost:5000/train', 'latest', 'localhost:5000'],
    ['nvcr.io/nvidia/pytorch:24.05-py3', 'nvcr.io/nvidia/pytorch', '24.05-py3', 'nvcr.io'],
    [`r.example.org:5000/a/b:v2@${digest}`, 'r.example.org:5000/a/b', digest, 'r.example.org:5000'],
  ] as const)
    it(`${image.slice(0, 40)} has its parts`, () => {
      expect(parseImageName(image)).to.include({ name, tag, registry });
    });
});

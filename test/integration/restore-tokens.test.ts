import { routes } from '@svc/contract';
import { expect } from 'chai';
import { readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@svc/client';
import { createWorkplace, type Server, type Workplace } from '../support/workplace.js';

describe('tokens after a restore', function () {
  this.timeout(120_000);
  let workplace: Workplace;
  beforeEach(() => (workplace = createWorkplace()));
  afterEach(() => workplace.close());

  /** A backup with a token that was revoked after it; the server has ended. */
  async function prepare(): Promise<{ backup: string; revived: string; first: string }> {
    const server = await workplace.startServer();
    const body = { name: 'lost', scope: 'write' } as const;
    const { id, token } = await server.client.call(routes.createToken, { body });
    const { path: backup } = await server.client.call(routes.createBackup);
    await server.client.call(routes.revokeToken, { params: { token_id: id } });
    await stop(server);
    return { backup, revived: token, first: server.client.connection.token ?? '' };
  }

  async function stop(server: Server): Promise<void> {
    server.kill();
    await server.ended;
  }

  const isGood = ({ url }: Server, token: string): Promise<boolean> =>
    createClient({ url, token })
      .call(routes.whoami)
      .then(
        () => true,
        () => false,
      );

  it('that were revoked since the backup are good again, and the command says so', async () => {
    const { backup, revived } = await prepare();
    const { status, stderr } = await workplace.svc(['restore', backup]);
    expect(status).to.equal(0);
    expect(stderr)
      .to.contain('a token that was revoked since then is valid again')
      .and.contain('--revoke-tokens');
    expect(await isGood(await workplace.startServer(), revived)).to.equal(true);
  });

  it('are all revoked by --revoke-tokens, and a new first token is left in its file', async () => {
    const { backup, revived, first } = await prepare();
    const file = path.join(workplace.dataDir, 'token');
    const { status, stdout, stderr } = await workplace.svc(['restore', '--revoke-tokens', backup]);
    expect(status, stderr).to.equal(0);
    expect(stdout).to.contain(`a new first token with write scope is in ${file}`);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const server = await workplace.startServer();
    const token = readFileSync(file, 'utf8').trim();
    expect(stdout + stderr + server.stdout).to.not.contain(token);
    const tokens = [token, first, revived];
    expect(await Promise.all(tokens.map((each) => isGood(server, each)))).to.deep.equal([true, false, false]);
    expect((await workplace.svc(['whoami'])).stdout).to.match(/^first token: scope write/);
  });

  it('stay as they are while a server runs: restore refuses, and gc goes to the server or refuses', async () => {
    const { backup } = await prepare();
    await workplace.startServer();
    const sentence = `a server is running on the data directory ${workplace.dataDir}; stop it first`;
    const expectRefused = async (...args: string[]) => {
      const { status, stderr } = await workplace.svc(args);
      expect(status).to.equal(1);
      expect(stderr).to.contain(sentence);
    };
    await expectRefused('restore', backup);
    await expectRefused('restore', '--revoke-tokens', backup);
    expect(await workplace.svc(['gc', '--yes'])).to.deep.include({ status: 0 });
    // One that svc does not find by its server.json holds the data directory all the same.
    rmSync(path.join(workplace.dataDir, 'server.json'));
    await expectRefused('gc', '--yes');
  });
});

import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { toEngineReason } from '../src/agent/engine.js';

const SOCKET = '/run/nowhere/docker.sock';

describe('why a container cannot be started', () => {
  it('is the absence of the engine, when a connection to it fails', async () => {
    const error = await new Promise((resolve) => connect(SOCKET).once('error', resolve));
    expect(toEngineReason(error, SOCKET)).to.equal(
      `no container engine answers at ${SOCKET}: there is no such socket`,
    );
  });

  it('is what the engine says', () => {
    const error = Object.assign(new Error('HTTP 409'), { statusCode: 409, json: { message: 'in use' } });
    expect(toEngineReason(error, SOCKET)).to.equal('in use');
  });

  it('is a file of the agent, when that is missing', async () => {
    const error: unknown = await readFile('/nowhere/relays.json').catch((reason: unknown) => reason);
    expect(toEngineReason(error, SOCKET)).to.contain('/nowhere/relays.json').and.not.contain('engine');
  });
});

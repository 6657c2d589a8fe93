import { expect } from 'chai';
import path from 'node:path';
import { loadAgentPlugins } from '../src/agent-plugins.js';

const FIXTURES = path.join(import.meta.dirname, 'fixtures');

describe('the plugins of an agent', () => {
  const namesOf = async (file?: string) => (await loadAgentPlugins(file)).map(({ name }) => name);
  const refusal = (file: string) =>
    namesOf(file).then(
      () => 'none',
      (error: Error) => error.message,
    );

  const startedIn = process.cwd();
  afterEach(() => process.chdir(startedIn));

  it('are those that come with svc, in a folder without a file of its own', async () => {
    process.chdir(FIXTURES);
    expect(await namesOf()).to.include.members(['runner-process', 'gpu-nvidia', 'evaluations']);
  });

  it('are those of svc.agent.config.ts in the working directory, or of --config', async () => {
    expect(await namesOf(path.join(FIXTURES, 'agent-plugins/svc.agent.config.ts'))).to.deep.equal(['own']);
    process.chdir(path.join(FIXTURES, 'agent-plugins'));
    expect(await namesOf()).to.deep.equal(['own']);
  });

  it('are refused with a sentence when there is no such file, or no list in it', async () => {
    expect(await refusal('/nowhere/svc.agent.config.ts')).to.include(
      'there is no /nowhere/svc.agent.config.ts',
    );
    const broken = path.join(FIXTURES, 'agent-plugins-broken/svc.agent.config.ts');
    expect(await refusal(broken)).to.equal(
      `${broken}: must have export default defineAgentConfig({ plugins: [...] })`,
    );
  });
});

import { expect } from 'chai';
import { createWorkplace, type Server, type Workplace } from './workplace.js';

/** The Python that has the training frameworks, and a server in a workplace of its own: there while the tests of a suite run. */
export interface FrameworksStage {
  readonly python: string;
  readonly workplace: Workplace;
  readonly server: Server;
}

/** To be called in a `describe`. `npm run test:frameworks` installs the frameworks. */
export function setFrameworksStage(): FrameworksStage {
  const stage = {} as { -readonly [K in keyof FrameworksStage]: FrameworksStage[K] };
  before(async () => {
    stage.python = process.env['SVC_TEST_FRAMEWORKS_PYTHON'] ?? '';
    expect(stage.python, 'npm run test:frameworks sets it').to.not.equal('');
    stage.workplace = createWorkplace();
    stage.server = await stage.workplace.startServer();
  });
  after(() => stage.workplace?.close());
  return stage;
}

import { CALLS, installPackages, toConfigText, writeConfig } from '../support/configuration.js';
import { openLab, type Lab } from './lab.js';
import { hold } from './row.js';
import { openBadTargets, TARGETS_ROW, type BadTargets } from './rows/targets.js';

describe('targets of push that behave badly', function () {
  this.timeout(120_000);
  let lab: Lab | undefined;
  let targets: BadTargets;

  before(async () => {
    targets = await openBadTargets();
    lab = await openLab(({ dir }) => {
      installPackages(dir);
      const calls = CALLS.map((call) => (call === 'pushWebhook()' ? targets.call : call));
      return ['--config', writeConfig(dir, toConfigText(calls))];
    });
  });
  after(async () => {
    await lab?.close();
    await targets.close();
  });

  it(TARGETS_ROW.input, () => hold(TARGETS_ROW, lab!));
});

import { failureRule } from '../failure-rule.js';

export const missingModule = failureRule({
  name: 'missing-module',
  title: 'A Python module is not installed',
  cause: 'The Python environment of the job has no module `<module>`.',
  fixes: [
    'Install it in the environment of the job (python -m pip install), or submit from the virtual environment that has it.',
    'If `<module>` is your own code, submit in its folder, or set PYTHONPATH.',
  ],
  confidence: 0.96,
  remedy: 'repair',
  patterns: [
    /^(?:\w+\.)*ModuleNotFoundError: No module named '(?<module>[^']+)'/,
    /^(?:\S*python[\d.]*: )?(?:Error while finding module specification for )?No module named '?(?<module>[\w.]+)'?/,
  ],
});

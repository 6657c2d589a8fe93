import { failureRule } from '../failure-rule.js';

export const undefinedSymbol = failureRule({
  name: 'undefined-symbol',
  title: 'A compiled package does not fit the library it uses',
  cause:
    'A compiled library needs the symbol `<symbol>`, which the library it was built for has and the installed one lacks.',
  fixes: [
    'Reinstall the package that the message names for the installed version of PyTorch (or build it again).',
    'Check that LD_LIBRARY_PATH does not put another version of the library first.',
  ],
  confidence: 0.95,
  remedy: 'repair',
  patterns: [/\bundefined symbol: (?<symbol>\w+)/],
});

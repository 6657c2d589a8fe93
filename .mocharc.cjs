// One mocha set-up for every package: TypeScript through tsx, our own packages from source.
module.exports = {
  'node-option': ['import=tsx', 'conditions=svc-source', 'enable-source-maps'],
  extension: ['ts'],
  require: ['./kernel/testing/root-hooks.ts'],
  // A busy machine is no failure: what must come is waited for, what must not is looked for at once.
  timeout: 60_000,
  reporter: 'dot',
};

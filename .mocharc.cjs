// One mocha set-up for every package: TypeScript through tsx, our own packages from source.
module.exports = {
  'node-option': ['import=tsx', 'conditions=svc-source', 'enable-source-maps'],
  extension: ['ts'],
  require: ['./kernel/testing/root-hooks.ts'],
  timeout: 10_000,
  reporter: 'dot',
};

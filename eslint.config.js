import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** A literal that is spread into another says the same with more words. */
const withoutSpreadLiterals = {
  selector:
    'ArrayExpression > SpreadElement > ArrayExpression, ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the elements themselves.',
};

const withoutTimers = {
  selector: "NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout']",
  message: 'No sleeps in tests: await until(() => condition).',
};

export default tseslint.config(
  { ignores: ['**/dist/**', '**/*.pb.ts', '**/fixtures/**', 'coverage/**', 'test-results/**', '.cache/**'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // What the compiler cannot see: promises that nobody waits for.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { inheritedMethods: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      // A type parameter that stands once still documents a signature; an empty method can be all there is to do.
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // A declaration of a module without types must travel with the source that imports it.
      '@typescript-eslint/triple-slash-reference': 'off',
      // What others wrote is cleaned of control characters in several places.
      'no-control-regex': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-indexed-object-style': 'off',
    },
  },
  {
    files: ['**/*.{ts,js,mjs,cjs}'],
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', 400],
      'no-console': 'error',
      'no-restricted-syntax': ['error', withoutSpreadLiterals],
    },
  },
  { files: ['**/*.{js,mjs,cjs}'], languageOptions: { globals: globals.node } },
  { files: ['scripts/**', 'bench/**', 'cli/bin/**'], rules: { 'no-console': 'off' } },
  { files: ['ui/**/*.ts'], languageOptions: { globals: globals.browser } },
  {
    files: ['**/test/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', withoutTimers, withoutSpreadLiterals],
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
  // Who may import what; kernel/test/architecture.test.ts keeps the whole of it.
  {
    files: ['contract/src/**'],
    rules: { 'no-restricted-imports': ['error', { patterns: ['@svc/*', 'node:*'] }] },
  },
  {
    files: ['agent/src/**', 'plugins/*/src/agent/**', 'plugins/*/src/agent.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: ['@svc/kernel', '@svc/kernel/*', 'knex'] }] },
  },
  {
    files: ['plugins/*/src/**'],
    // The supervisor of the MCP adapter: starting that process is its task.
    ignores: ['plugins/*/src/agent/**', 'plugins/*/src/agent.ts', 'plugins/mcp/src/supervisor.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: ['node:child_process', 'child_process', 'dockerode'] }],
    },
  },
);

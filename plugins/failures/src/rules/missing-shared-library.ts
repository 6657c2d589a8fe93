import { failureRule } from '../failure-rule.js';

export const missingSharedLibrary = failureRule({
  name: 'missing-shared-library',
  title: 'A shared library is missing',
  cause:
    'The program needs the shared library `<library>`, which is not installed, not on the search path, or too old.',
  fixes: [
    'Install the package that has the library, or the same software with its own copy.',
    'Add its folder to LD_LIBRARY_PATH.',
    'A missing version (GLIBC, GLIBCXX) means that the program was built for a newer system.',
  ],
  confidence: 0.95,
  remedy: 'repair',
  patterns: [
    /(?<![\w.+-])(?<library>[\w.+-]{1,100}?\.so[\d.]{0,40}): cannot open shared object file/,
    /error while loading shared libraries: (?<library>[^:]+):/,
    /(?<![\w.+-])(?<library>lib[\w.+-]{1,100}?\.so[\d.]{0,40}): version `[\w.]{1,100}' not found/,
  ],
});

import { failureRule } from '../failure-rule.js';

export const fileNotFound = failureRule({
  name: 'file-not-found',
  title: 'A file was not found',
  cause: 'There is no file `<path>` on the node.',
  unnamedCause: 'The program opened a file that does not exist on the node.',
  fixes: [
    'Correct the path, or put the file there: it must exist on the node that ran the job.',
    'Relative paths begin at the working directory of the job: give an absolute one, or another --working-dir.',
    'A job on another host or in a container does not have the files of your directory: submit it with --upload.',
  ],
  confidence: 0.93,
  remedy: 'change',
  patterns: [
    /\bFileNotFoundError: \[Errno 2\] [^:]{1,100}: '(?<path>[^']+)'/,
    /can't open file '(?<path>[^']+)'/,
    /\bcannot \w{1,20} (?:'|‘)(?<path>[^'’]{1,300})['’].{0,40}?: No such file or directory/,
    /\bNo such file or directory: '(?<path>[^']+)'/,
    /(?<![\w./~-])(?<path>[\w./~-]{1,300}): No such file or directory/,
    /\bNo such file or directory\b|\bFileNotFoundError\b|\bENOENT\b/,
  ],
});

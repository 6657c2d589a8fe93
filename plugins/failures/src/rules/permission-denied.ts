import { failureRule } from '../failure-rule.js';

export const permissionDenied = failureRule({
  name: 'permission-denied',
  title: 'Permission was denied',
  cause: 'The user of the job may not read, write or run `<path>`.',
  unnamedCause: 'The user of the job may not do what the program tried.',
  fixes: [
    'Change the owner or the mode of the file, or choose a folder that belongs to the user of the job.',
    'A script needs the executable bit (chmod +x) to be a command.',
  ],
  confidence: 0.94,
  remedy: 'repair',
  patterns: [
    /\bPermissionError: \[Errno 13\] [^:]{1,100}: '(?<path>[^']+)'/,
    /(?<!\S)(?<path>\S{1,300}): Permission denied$/,
    /\bPermission denied\b|\bEACCES\b|\bOperation not permitted\b/,
  ],
});

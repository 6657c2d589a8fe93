import path from 'node:path';
import { Failure } from '../failure.js';

/** What reading a source tree has met, as a Failure that names the file and the remedy; the error itself when it is about something else. */
export function toReadFailure(error: unknown, root: string): unknown {
  const { code, path: file, message } = error as NodeJS.ErrnoException;
  if (error instanceof Failure || code === undefined || file === undefined) return error;
  const name = path.relative(root, file);
  if (name === '') return new Failure(`${root} cannot be uploaded: ${message}`);
  if (name.split(path.sep)[0] === '..') return error;
  return new Failure(toSentence(code, name, `${root}/.svcignore`));
}

function toSentence(code: string, name: string, ignoreFile: string): string {
  switch (code) {
    // The packer's code for a file that has become longer or shorter than it was.
    case 'EOF':
      return `${name} changes while it is read: put a file that is being written to, such as a log, into ${ignoreFile}, or submit again when it stays as it is`;
    case 'ENOENT':
      return `${name} was removed while the files were read: submit again, or put it into ${ignoreFile}`;
    case 'EACCES':
    case 'EPERM':
      return `${name} cannot be read (permission denied): make it readable (chmod u+rX ${name}), or put it into ${ignoreFile}`;
    default:
      return `${name} cannot be read (${code}): put it into ${ignoreFile} if the job does not need it`;
  }
}

import type { ApiError } from '@svc/client';

/** Why a request failed, as one line that names each refused field. */
export function toSentence({ code, status, message, issues, hint, url, hadToken }: ApiError): string {
  if (code === 'network') return `cannot reach ${url}: ${hint}`;
  if (code === 'unreadable')
    return status < 300
      ? `what ${url} answered is no JSON, or broke off: ${hint}`
      : `${url} answered ${status}, and not as svc does`;
  if (code === 'unauthorized' && !hadToken)
    return `no token is saved for ${url}: svc login ${url} saves one; or set SVC_TOKEN`;
  if (code === 'unauthorized') return `${message} (svc login ${url} saves a valid one; or set SVC_TOKEN)`;
  if (code === 'forbidden') return `not allowed: ${message}`;
  return issues.length > 1 ? issues.map(toLine).join('; ') : message;
}

function toLine({ path, message }: { path: string; message: string }): string {
  return path === '' ? message : `${path}: ${message}`;
}

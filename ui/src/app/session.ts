const KEY = 'svc.token';

/** The token lives as long as the tab: in session storage, nowhere else. */
export function loadToken(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function storeToken(token: string | null): void {
  try {
    if (token === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // Storage is blocked: the token lasts until the page is left.
  }
}

/** Takes the one-time code out of `#signin=<code>` and out of the address bar and history, before anything else runs. */
export function takeSignInCode(): string | null {
  const { hash, pathname, search } = window.location;
  if (!hash.startsWith('#signin=')) return null;
  history.replaceState(null, '', pathname + search);
  const code = new URLSearchParams(hash.slice(1)).get('signin');
  return code === '' ? null : code;
}

/** Choices of whoever uses this browser. Where storage is blocked, they last until the page is left. */
const KEYS = 'svc.keys';

let areKeysOff = read(KEYS) === 'off';

/** Whether single keys (`/`, `?`, `g` and a letter) do something. Speech input types letters, so they can be turned off. */
export function singleKeysAreOn(): boolean {
  return !areKeysOff;
}

export function setSingleKeys(isOn: boolean): void {
  areKeysOff = !isOn;
  write(KEYS, isOn ? 'on' : 'off');
}

export function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is blocked.
  }
}

/** Remembers how a reader likes the log. */
export function readSwitch(name: string, fallback: boolean): boolean {
  try {
    const stored = localStorage.getItem(`svc.log.${name}`);
    return stored === null ? fallback : stored === 'on';
  } catch {
    return fallback;
  }
}

export function storeSwitch(name: string, isOn: boolean): boolean {
  try {
    localStorage.setItem(`svc.log.${name}`, isOn ? 'on' : 'off');
  } catch {
    // Storage is blocked: the switch lasts until the page is left.
  }
  return isOn;
}

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'svc.theme';

/** The theme that was chosen; `auto` follows the system. */
export function currentTheme(): Theme {
  const theme = document.documentElement.dataset.theme;
  return theme === 'light' || theme === 'dark' ? theme : 'auto';
}

/** Applies and remembers the theme, and tells what draws by itself (charts) to draw again. */
export function setTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Storage is blocked: the choice lasts until the page is left.
  }
  window.dispatchEvent(new Event('svc-theme'));
}

/** Calls back when the colours change, by choice or by the system. Returns the end of it. */
export function onThemeChange(callback: () => void): () => void {
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', callback);
  window.addEventListener('svc-theme', callback);
  return () => {
    system.removeEventListener('change', callback);
    window.removeEventListener('svc-theme', callback);
  };
}

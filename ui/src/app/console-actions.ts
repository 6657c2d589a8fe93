import { readPageActions } from '../components/page-actions.js';
import type { Page } from '../pages/registry.js';
import { paths } from '../paths.js';
import { setTheme } from '../styles/theme.js';
import { PAGE_KEYS } from './keys.js';
import type { PaletteEntry } from './palette-entries.js';

interface Console {
  readonly pages: readonly Page[];
  readonly canWrite: boolean;
  showKeys(): void;
  signOut(): void;
}

/** What the palette offers before anything is typed: what can be done with what the page shows, the pages, and what can be done from anywhere. */
export function consoleActions({ pages, canWrite, showKeys, signOut }: Console): PaletteEntry[] {
  const keyOf = (name: string) => Object.keys(PAGE_KEYS).find((key) => PAGE_KEYS[key] === name);
  const toPage = ({ name, path, title, navigation }: Page): PaletteEntry => {
    const key = keyOf(name);
    const entry = { group: 'Pages', icon: navigation!.icon, label: title, choose: { path } };
    return key === undefined ? entry : { ...entry, detail: `g ${key}` };
  };
  const action = (entry: Omit<PaletteEntry, 'group'>): PaletteEntry => ({ group: 'Actions', ...entry });
  return [
    ...readPageActions().map((entry): PaletteEntry => ({ group: 'On this page', ...entry })),
    ...pages.map(toPage),
    ...(canWrite ? WRITES : []).map(action),
    action({ icon: 'moon', label: 'Dark theme', words: 'appearance', choose: () => setTheme('dark') }),
    action({ icon: 'sun', label: 'Light theme', words: 'appearance', choose: () => setTheme('light') }),
    action({
      icon: 'theme',
      label: 'System theme',
      words: 'appearance auto',
      choose: () => setTheme('auto'),
    }),
    action({
      icon: 'keyboard',
      label: 'Show the keys',
      words: 'shortcuts help',
      detail: '?',
      choose: showKeys,
    }),
    action({ icon: 'signOut', label: 'Sign out', words: 'log out', choose: signOut }),
  ];
}

const WRITES: readonly Omit<PaletteEntry, 'group'>[] = [
  { icon: 'plus', label: 'Submit a job', words: 'new run start', choose: { path: paths.newJob() } },
  { icon: 'tokens', label: 'Create a token', words: 'new', choose: { path: paths.tokens({ new: '1' }) } },
];

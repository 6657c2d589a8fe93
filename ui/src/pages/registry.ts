import { createContext } from '@lit/context';
import type { Run, RunSummary } from '@svc/contract';
import type { TemplateResult } from 'lit';
import type { IconName } from '../components/icons.js';

/** What the address says beside the page's own path. */
export interface PageRequest {
  /** The segments that the path names with a colon. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

export interface PageEntry {
  readonly label: string;
  readonly icon: IconName;
  /** Below all others, those of plugins too. */
  readonly isLast?: boolean;
  /** Only for those who may write. */
  readonly needsWrite?: boolean;
}

export interface Page {
  /** Unique among the pages. */
  readonly name: string;
  /** Of the browser's tab. */
  readonly title: string;
  /** `/jobs/:id`: a segment with a colon fits whatever stands there. */
  readonly path: string;
  /** The entry in the navigation; a page without one is reached by links alone. */
  readonly navigation?: PageEntry;
  /** For a page without an entry: the page whose entry is shown as the current one. */
  readonly under?: string;
  /** Loads the element's code, which is no part of the first download. */
  load(): Promise<unknown>;
  render(request: PageRequest): TemplateResult;
}

/** A part of the page of a run, beside the overview. */
export interface RunTab {
  /** Unique among the tabs; it stands in the address as `?tab=<name>`. */
  readonly name: string;
  readonly label: string;
  load(): Promise<unknown>;
  render(view: RunView): TemplateResult;
}

/** What a tab of the page of a run shows; the page keeps both fresh. */
export interface RunView {
  readonly run: Run;
  /** null until it is there. */
  readonly summary: RunSummary | null;
}

/** Declares a page; the registry adds it. */
export function definePage(page: Page): Page {
  return page;
}

/** Declares a tab of the page of a run; the registry adds it. */
export function defineRunTab(tab: RunTab): RunTab {
  return tab;
}

export interface PageMatch {
  readonly page: Page;
  readonly params: Readonly<Record<string, string>>;
}

/** All pages and run tabs, the console's own and those of plugins: router and navigation are made from it. */
export class Registry {
  readonly #pages: Page[] = [];
  readonly #runTabs: RunTab[] = [];

  constructor(pages: readonly Page[] = [], runTabs: readonly RunTab[] = []) {
    for (const page of pages) this.addPage(page);
    for (const tab of runTabs) this.addRunTab(tab);
  }

  addPage(page: Page): void {
    for (const other of this.#pages) {
      if (other.name === page.name) throw new Error(`there are two pages of the name "${page.name}"`);
      if (toShape(other.path) === toShape(page.path))
        throw new Error(`the page "${page.name}" has the path of the page "${other.name}": ${page.path}`);
    }
    this.#pages.push(page);
  }

  addRunTab(tab: RunTab): void {
    if (this.#runTabs.some(({ name }) => name === tab.name))
      throw new Error(`there are two run tabs of the name "${tab.name}"`);
    this.#runTabs.push(tab);
  }

  /** In the order in which they were added, as the navigation shows them. */
  get pages(): readonly Page[] {
    return this.#pages;
  }

  get runTabs(): readonly RunTab[] {
    return this.#runTabs;
  }

  /** The page at the path with what its segments say; of several that fit, the most literal one. */
  match(path: string): PageMatch | null {
    const fitting = this.#pages.flatMap((page) => {
      const params = fit(page.path, path);
      return params === null ? [] : [{ page, params }];
    });
    return fitting.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0] ?? null;
  }
}

export const registryContext = createContext<Registry>(Symbol('registry'));

/** Two paths of one shape fit the same addresses. */
function toShape(path: string): string {
  return path.replace(/:[^/]*/g, ':');
}

function fit(pattern: string, path: string): Record<string, string> | null {
  if (pattern === '/') return path === '/' ? {} : null;
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, segment] of wanted.entries()) {
    const text = given[at]!;
    if (segment.startsWith(':') && text !== '') params[segment.slice(1)] = decode(text);
    else if (segment !== text) return null;
  }
  return params;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import { serviceRef } from '@svc/kernel';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { OWN_PAGES, OWN_RUN_TABS } from './own-pages.js';

export interface ConsolePage {
  /** Unique among the pages of plugins: lower-case letters, digits and hyphens. */
  readonly name: string;
  /** In the navigation and in the browser's tab. */
  readonly title: string;
  /** Where the page lies; a segment such as `:id` fits any text. Default: `/<name>`. */
  readonly path?: string;
  /** The name of one of the console's icons. Default: `page`. */
  readonly icon?: string;
  /** Absolute path of an ES module without imports, as docs/plugins.md describes it. It can be read without a token. */
  readonly module: string;
}

export interface ConsoleRunTab {
  /** Unique among the run tabs of plugins: lower-case letters, digits and hyphens. */
  readonly name: string;
  readonly label: string;
  readonly module: string;
}

/** What other plugins add to the console, during their setup. */
export interface ConsoleService {
  addPage(page: ConsolePage): void;
  addRunTab(tab: ConsoleRunTab): void;
}

export const consoleRef = serviceRef<ConsoleService>('console');

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const PATH = /^(\/:?[\w.~-]+)+$/;
/** Reserved paths that cannot be pages. */
const TAKEN = /^\/(api|assets|extensions)(\/|$)/;
const FOLDER = '/extensions/';

/** The list that the console reads at its start, and its modules. Modules are read once, so only what was registered is served. */
export class Extensions implements ConsoleService {
  readonly #pages: Record<string, unknown>[] = [];
  readonly #runTabs: Record<string, unknown>[] = [];
  readonly #modules = new Map<string, Buffer>();

  addPage({ name, title, path = `/${name}`, icon, module }: ConsolePage): void {
    refuseName('page', name, this.#pages, Object.keys(OWN_PAGES));
    if (!PATH.test(path) || TAKEN.test(path))
      throw new Error(`the page "${name}" cannot lie at ${path}; give it a path such as /${name}`);
    refuseOwnPath(name, path);
    const same = this.#pages.find((page) => toShape(page['path'] as string) === toShape(path));
    if (same) throw new Error(`the pages "${String(same['name'])}" and "${name}" have one path: ${path}`);
    this.#pages.push({
      name,
      title,
      path,
      icon: icon ?? null,
      module: this.#addModule('page', name, module),
    });
  }

  addRunTab({ name, label, module }: ConsoleRunTab): void {
    refuseName('run tab', name, this.#runTabs, OWN_RUN_TABS);
    this.#runTabs.push({ name, label, module: this.#addModule('run-tab', name, module) });
  }

  get list(): string {
    return JSON.stringify({ pages: this.#pages, run_tabs: this.#runTabs });
  }

  /** The module at an address of the list. */
  find(path: string): Buffer | undefined {
    return this.#modules.get(path);
  }

  #addModule(kind: string, name: string, file: string): string {
    if (!isAbsolute(file))
      throw new Error(
        `the module of "${name}" must be an absolute path, such as fileURLToPath(new URL('page.js', import.meta.url)): ${file}`,
      );
    const text = readFileSync(file);
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const path = `${FOLDER}${kind}-${name}-${hash}.js`;
    this.#modules.set(path, text);
    return path;
  }
}

function refuseName(
  kind: string,
  name: string,
  others: readonly Record<string, unknown>[],
  own: readonly string[],
): void {
  if (!NAME.test(name))
    throw new Error(`a ${kind} has a name such as "my-${kind.replace(' ', '-')}", not "${name}"`);
  if (own.includes(name))
    throw new Error(`the console has a ${kind} of the name "${name}": give yours another one`);
  if (others.some((other) => other['name'] === name))
    throw new Error(`there are two ${kind}s of the name "${name}"`);
}

function refuseOwnPath(name: string, path: string): void {
  const own = Object.keys(OWN_PAGES).find((each) => toShape(OWN_PAGES[each]!) === toShape(path));
  if (own !== undefined)
    throw new Error(
      `the page "${name}" cannot lie at ${path}, where the console's own page "${own}" lies; give it another path`,
    );
}

/** Two paths of one shape fit the same addresses. */
function toShape(path: string): string {
  return path.replace(/:[^/]*/g, ':');
}

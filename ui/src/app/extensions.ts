import { html, unsafeStatic } from 'lit/static-html.js';
import { isIconName } from '../components/icons.js';
import { definePage, defineRunTab, type Registry } from '../pages/registry.js';
import type { PageContext, PageModule } from './page-module.js';

/** What the server's plugin `console` answers: the pages and run tabs that other plugins have added there. */
interface ExtensionList {
  readonly pages: readonly PageEntry[];
  readonly run_tabs: readonly RunTabEntry[];
}

interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly path: string;
  readonly icon: string | null;
  readonly module: string;
}

interface RunTabEntry {
  readonly name: string;
  readonly label: string;
  readonly module: string;
}

const LIST = '/extensions.json';

/** Adds the pages and run tabs of plugins to the registry. Their modules are loaded when they are opened. */
export class Extensions {
  #read: Promise<string | null> | null = null;

  readonly #registry: Registry;
  readonly #context: PageContext;

  constructor(registry: Registry, context: PageContext) {
    this.#registry = registry;
    this.#context = context;
  }

  /** Reads the list once, and again when that failed. Answers what went wrong, in a sentence; never rejects. */
  load(): Promise<string | null> {
    this.#read ??= this.#register().catch(() => {
      this.#read = null;
      return 'The pages of plugins could not be loaded. Reload the console to try again.';
    });
    return this.#read;
  }

  async #register(): Promise<string | null> {
    const response = await fetch(LIST, { credentials: 'omit' });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const { pages, run_tabs: runTabs } = (await response.json()) as ExtensionList;
    const problems = [
      ...pages.map((entry) => this.#attempt(() => this.#addPage(entry))),
      ...runTabs.map((entry) => this.#attempt(() => this.#addRunTab(entry))),
    ].filter((problem) => problem !== null);
    return problems.length === 0 ? null : `Pages of plugins were left out: ${problems.join('; ')}.`;
  }

  /** A page that cannot be added keeps no other from being there. */
  #attempt(add: () => void): string | null {
    try {
      add();
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  }

  #addPage({ name, title, path, icon, module }: PageEntry): void {
    const tag = unsafeStatic(`svc-plugin-page-${name}`);
    this.#registry.addPage(
      definePage({
        name,
        title,
        path,
        navigation: { label: title, icon: icon !== null && isIconName(icon) ? icon : 'page' },
        load: () => this.#define(`svc-plugin-page-${name}`, module),
        render: ({ params, query }) => html`<${tag} .params=${params} .query=${query}></${tag}>`,
      }),
    );
  }

  #addRunTab({ name, label, module }: RunTabEntry): void {
    const tag = unsafeStatic(`svc-plugin-run-tab-${name}`);
    this.#registry.addRunTab(
      defineRunTab({
        name,
        label,
        load: () => this.#define(`svc-plugin-run-tab-${name}`, module),
        render: ({ run, summary }) => html`<${tag} .run=${run} .summary=${summary}></${tag}>`,
      }),
    );
  }

  async #define(tag: string, module: string): Promise<void> {
    const { default: make } = (await import(/* @vite-ignore */ module)) as { default: PageModule };
    if (!customElements.get(tag)) customElements.define(tag, make(this.#context));
  }
}

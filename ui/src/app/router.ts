import { html, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import type { Crumb } from '../components/page-waiting.js';
import type { Page, PageMatch, Registry } from '../pages/registry.js';
import { historyMemory } from '../history-memory.js';
import { leaveGuard } from '../leave-guard.js';
import { navigate, paths } from '../paths.js';
import { nameTab } from '../tab-title.js';
import { ScrollKeeper } from './scroll-keeper.js';
import './svc-page-pending.js';

/** So long the page before stays, so that a page whose code is there already follows it at once. */
const PATIENCE_MS = 150;

/** What is known of a page before its code is there. */
export interface PagePlace {
  readonly heading: string;
  readonly above: Crumb | null;
}

/** Follows the address: loads the page's code, then renders it. Links are followed without a reload. */
export class Router implements ReactiveController {
  /** The page whose entry in the navigation is the current one. */
  section: string | null = null;
  #page: TemplateResult | null = null;
  /** The path of the page that is shown, and its whole address. */
  #key = '';
  #address = '';
  #navigation = 0;

  readonly #host: ReactiveControllerHost;
  readonly #registry: Registry;
  readonly #registered: () => Promise<unknown>;
  readonly #onPage: (isNewPage: boolean) => void;
  readonly #scroll: ScrollKeeper;

  constructor(
    host: ReactiveControllerHost,
    registry: Registry,
    /** Resolves once the pages of plugins are registered. */
    registered: () => Promise<unknown>,
    onPage: (isNewPage: boolean) => void,
  ) {
    this.#host = host;
    this.#registry = registry;
    this.#registered = registered;
    this.#onPage = onPage;
    this.#scroll = new ScrollKeeper(host);
    host.addController(this);
  }

  hostConnected(): void {
    window.addEventListener('popstate', this.#onHistory);
    window.addEventListener('svc-navigate', this.#follow);
    document.addEventListener('click', this.#onClick);
    this.#follow();
  }

  hostDisconnected(): void {
    window.removeEventListener('popstate', this.#onHistory);
    window.removeEventListener('svc-navigate', this.#follow);
    document.removeEventListener('click', this.#onClick);
  }

  render(): TemplateResult | null {
    return this.#page;
  }

  /** Of the page at the address; without a heading while no page is known there. */
  get place(): PagePlace {
    const match = this.#registry.match(window.location.pathname);
    return match ? placeOf(match.page, this.#registry) : { heading: '', above: null };
  }

  readonly #follow = (): void => {
    const { pathname, search } = window.location;
    void this.#show(pathname, new URLSearchParams(search));
  };

  /** The browser has already changed the address: it is put back while the reader is asked. */
  readonly #onHistory = (): void => {
    if (!leaveGuard.isOn || window.location.pathname === this.#key) return this.#follow();
    history.pushState(null, '', this.#address);
    void leaveGuard.mayLeave().then((may) => may && history.back());
  };

  async #show(path: string, query: URLSearchParams): Promise<void> {
    const navigation = ++this.#navigation;
    historyMemory.leave();
    const registered = this.#registered();
    // A page of the console's own is loaded meanwhile; a failure is met below.
    const own = this.#registry.match(path);
    own?.page.load().catch(() => undefined);
    await registered;
    if (navigation !== this.#navigation) return;
    const match = this.#registry.match(path);
    this.section = match && (match.page.under ?? match.page.name);
    this.#host.requestUpdate();
    const page = match ? await this.#load(match, query, path) : notFound();
    if (navigation === this.#navigation) this.#put(path, page, match?.page.title ?? 'Not found');
  }

  /** Its place is held while its code is on its way. A page whose code does not arrive (a server upgraded meanwhile) says so rather than staying blank. */
  async #load({ page, params }: PageMatch, query: URLSearchParams, path: string): Promise<TemplateResult> {
    const navigation = this.#navigation;
    const place = placeOf(page, this.#registry);
    const hold = (): void => {
      if (navigation === this.#navigation && path !== this.#key) this.#put(path, pending(place), page.title);
    };
    if (this.#page === null) hold();
    const holding = setTimeout(hold, PATIENCE_MS);
    try {
      await page.load();
      return page.render({ params, query });
    } catch {
      return pending(place, true);
    } finally {
      clearTimeout(holding);
    }
  }

  #put(path: string, page: TemplateResult, title: string): void {
    const isNewPage = this.#key !== path;
    this.#key = path;
    this.#address = window.location.pathname + window.location.search;
    this.#page = html`${keyed(path, page)}`;
    // A page that names the tab does so once it has its record, and another filter is no other record.
    if (isNewPage) nameTab(title);
    this.#host.requestUpdate();
    this.#onPage(isNewPage);
    this.#scroll.arrive();
  }

  readonly #onClick = (event: MouseEvent): void => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event
      .composedPath()
      .find((target): target is HTMLAnchorElement => target instanceof HTMLAnchorElement);
    if (
      !link ||
      link.target !== '' ||
      link.hasAttribute('download') ||
      link.origin !== window.location.origin
    )
      return;
    if (link.pathname.startsWith('/api/')) return;
    event.preventDefault();
    if (link.href !== window.location.href) navigate(link.pathname + link.search);
  };
}

function placeOf({ title, path, under }: Page, { pages }: Registry): PagePlace {
  const isInList = path.split('/').length > 2;
  const list = isInList ? pages.find(({ name }) => name === under) : undefined;
  return { heading: title, above: list ? { label: list.title, path: list.path } : null };
}

function pending({ heading, above }: PagePlace, isFailed = false): TemplateResult {
  return html`<svc-page-pending heading=${heading} .above=${above} ?failed=${isFailed}></svc-page-pending>`;
}

function notFound(): TemplateResult {
  return html`<svc-notice headline="Page not found"
    >The address may be mistyped. <a href=${paths.overview()}>Go to the overview</a>.</svc-notice
  >`;
}

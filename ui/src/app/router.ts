import { html, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { loadFailure } from '../components/load-failure.js';
import type { PageMatch, Registry } from '../pages/registry.js';
import { leaveGuard } from '../leave-guard.js';
import { navigate, paths } from '../paths.js';
import { nameTab } from '../tab-title.js';

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
    const registered = this.#registered();
    // A page of the console's own is loaded meanwhile; a failure is met below.
    const own = this.#registry.match(path);
    own?.page.load().catch(() => undefined);
    await registered;
    const match = this.#registry.match(path);
    this.section = match && (match.page.under ?? match.page.name);
    this.#host.requestUpdate();
    const page = match ? await loadPage(match, query) : notFound();
    if (navigation !== this.#navigation) return;
    const isNewPage = this.#key !== path;
    this.#key = path;
    this.#address = window.location.pathname + window.location.search;
    this.#page = html`${keyed(path, page)}`;
    // A page that names the tab does so once it has its record, and another filter is no other record.
    if (isNewPage) nameTab(match?.page.title ?? 'Not found');
    this.#host.requestUpdate();
    this.#onPage(isNewPage);
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

/** A page whose code does not arrive (a server upgraded meanwhile) says so rather than staying blank. */
async function loadPage({ page, params }: PageMatch, query: URLSearchParams): Promise<TemplateResult> {
  try {
    await page.load();
    return page.render({ params, query });
  } catch {
    return loadFailure();
  }
}

function notFound(): TemplateResult {
  return html`<svc-notice headline="Page not found"
    >The address may be mistyped. <a href=${paths.overview()}>Go to the overview</a>.</svc-notice
  >`;
}

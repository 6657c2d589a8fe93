import { html, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { matchRoute, type Section } from './routes.js';
import { navigate, paths } from './paths.js';

/** Follows the address: loads the page's code, then renders it. Links are followed without a reload. */
export class Router implements ReactiveController {
  section: Section | null = null;
  private page: TemplateResult | null = null;
  private key = '';
  private navigation = 0;

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly onPage: (isNewPage: boolean) => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    window.addEventListener('popstate', this.follow);
    window.addEventListener('svc-navigate', this.follow);
    document.addEventListener('click', this.onClick);
    this.follow();
  }

  hostDisconnected(): void {
    window.removeEventListener('popstate', this.follow);
    window.removeEventListener('svc-navigate', this.follow);
    document.removeEventListener('click', this.onClick);
  }

  render(): TemplateResult | null {
    return this.page;
  }

  private readonly follow = (): void => {
    const { pathname, search } = window.location;
    if (pathname === '/') return navigate(paths.jobs(), { replace: true });
    void this.show(pathname, new URLSearchParams(search));
  };

  private async show(path: string, query: URLSearchParams): Promise<void> {
    const navigation = ++this.navigation;
    const match = matchRoute(path);
    this.section = match?.route.section ?? null;
    this.host.requestUpdate();
    const page = match
      ? await loadPage(match.route.load, () => match.route.render(match.id, query))
      : notFound();
    if (navigation !== this.navigation) return;
    const isNewPage = this.key !== path;
    this.key = path;
    this.page = html`${keyed(path, page)}`;
    document.title = match ? `${match.route.title} · svc` : 'Not found · svc';
    this.host.requestUpdate();
    this.onPage(isNewPage);
  }

  private readonly onClick = (event: MouseEvent): void => {
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
async function loadPage(load: () => Promise<unknown>, render: () => TemplateResult): Promise<TemplateResult> {
  try {
    await load();
    return render();
  } catch {
    return html`<svc-notice
      tone="danger"
      headline="This page could not be loaded"
      action="Reload"
      @svc-action=${() => window.location.reload()}
      >The console may have been updated, or the server does not answer.</svc-notice
    >`;
  }
}

function notFound(): TemplateResult {
  return html`<svc-notice headline="There is no such page"
    >The address may be mistyped. <a href=${paths.jobs()}>Go to the jobs</a>.</svc-notice
  >`;
}

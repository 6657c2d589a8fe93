import { css, html } from 'lit';
import { paths } from '../paths.js';

/** Checkpoints and evaluations are two views of one thing; each tab keeps the run that was chosen. */
export function renderCheckpointTabs(current: 'checkpoints' | 'evaluations', runId: string | null) {
  const tab = (name: 'checkpoints' | 'evaluations', label: string) =>
    html`<a href=${paths[name]({ run_id: runId })} aria-current=${name === current ? 'page' : 'false'}
      >${label}</a
    >`;
  return html`<nav class="tabs" aria-label="Checkpoints and evaluations">
    ${tab('checkpoints', 'Checkpoints')} ${tab('evaluations', 'Evaluations')}
  </nav>`;
}

export const scopeStyles = css`
  .scope {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--space-1) var(--space-3);
    margin-bottom: var(--space-3);
    color: var(--color-text-2);
    font-size: var(--text-sm);
    overflow-wrap: anywhere;
  }
  svc-notice a,
  .scope a {
    text-decoration: underline;
    text-underline-offset: 3px;
  }
`;

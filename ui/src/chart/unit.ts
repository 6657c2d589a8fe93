import { css, html, nothing } from 'lit';

/** Behind a value; nothing for a metric without a unit. */
export function renderUnit(unit = '') {
  return unit === '' ? nothing : html` <bdi class="unit" title=${unit}>${unit}</bdi>`;
}

/** A unit is a text that people choose: a long one is cut. */
export const unitStyles = css`
  .unit {
    display: inline-block;
    max-width: 6rem;
    overflow: hidden;
    color: var(--color-text-2);
    font-weight: var(--weight-normal);
    text-overflow: ellipsis;
    vertical-align: bottom;
    white-space: nowrap;
  }
`;

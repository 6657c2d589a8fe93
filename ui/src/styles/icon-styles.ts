import { css } from 'lit';

export const iconStyles = css`
  :where(svg).icon {
    flex: none;
    display: inline-block;
    vertical-align: -0.175em;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.5;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .icon .solid {
    fill: currentColor;
  }
  .icon .cut {
    stroke: var(--icon-ground, var(--color-surface));
    stroke-width: 1.6;
  }
  /* The whole box turns, which the compositor does: a hundred running rows cost no repaint. */
  .icon-running {
    animation: turn 1.4s linear infinite;
  }
  @keyframes turn {
    to {
      transform: rotate(360deg);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .icon-running {
      animation: none;
    }
  }
`;

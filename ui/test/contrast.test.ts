import { expect } from 'chai';
import { readFileSync } from 'node:fs';

const css = readFileSync(new URL('../src/styles/tokens.css', import.meta.url), 'utf8');
const tokens = new Map(
  [...css.matchAll(/(--[\w-]+):\s*(?:light-dark\((#\w{6}),\s*(#\w{6})\)|(#\w{6}));/g)].map(
    ([, name, light, dark, both]) => [name!, { light: light ?? both!, dark: dark ?? both! }],
  ),
);

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(front: string, back: string, theme: 'light' | 'dark'): number {
  const [a, b] = [front, back].map((name) => luminance(tokens.get(name)![theme])) as [number, number];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const grounds = ['--color-bg', '--color-surface', '--color-hover', '--color-overlay'];
const TEXT: [front: string, back: string][] = [
  ...[
    '--color-text',
    '--color-text-2',
    '--color-text-3',
    '--color-accent',
    '--color-danger',
    '--color-warning',
    '--color-success',
  ].flatMap((front) => grounds.map((back): [string, string] => [front, back])),
  ...['text', 'text-2', 'text-3'].map((front): [string, string] => [`--color-${front}`, '--color-sunken']),
  ...['neutral', 'active', 'success', 'warning', 'danger'].map((tone): [string, string] => [
    `--color-${tone}`,
    `--color-${tone}-soft`,
  ]),
  ['--color-text-2', '--color-neutral-soft'],
  ['--color-text-3', '--color-neutral-soft'],
  ['--color-text-2', '--color-accent-soft'],
  ['--color-text-3', '--color-accent-soft'],
  ['--color-accent', '--color-accent-soft'],
  ['--color-on-accent', '--color-accent'],
  ['--color-on-accent', '--color-accent-hover'],
  ['--color-on-danger', '--color-danger-solid'],
  ['--color-text', '--color-mark'],
  ...Array.from({ length: 16 }, (_, color): [string, string] => [`--ansi-${color}`, '--color-log']),
];
const SHAPES: [front: string, back: string][] = [
  ...Array.from({ length: 8 }, (_, at): [string, string] => [`--chart-${at + 1}`, '--color-surface']),
  ['--color-line-control', '--color-surface'],
  ['--color-focus', '--color-bg'],
];

describe('the colour tokens', () => {
  for (const theme of ['light', 'dark'] as const) {
    for (const [front, back] of TEXT) {
      it(`${theme}: ${front} is legible on ${back}`, () => {
        expect(contrast(front, back, theme)).to.be.at.least(4.5);
      });
    }
    for (const [front, back] of SHAPES) {
      it(`${theme}: ${front} stands out from ${back}`, () => {
        expect(contrast(front, back, theme)).to.be.at.least(3);
      });
    }
  }
});

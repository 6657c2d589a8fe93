import type { RunRule } from '../failure-rule.js';

const MAX_CITED = 5;

const definition = {
  title: 'The training may be overfitting',
  cause:
    'The validation loss rises while the training loss falls: the model fits the data of the training better, and other data worse.',
  fixes: [
    'Stop, and keep the checkpoint with the best validation loss: later ones are worse on other data.',
    'Let the training stop early, when the validation loss has not improved for several evaluations.',
    'Regularise more: weight decay, dropout, or a smaller model.',
    'Train on more data, or augment it; check that the validation data resembles it.',
  ],
  // It is seldom the reason for which a run fails.
  confidence: 0.3,
} as const;

/** The event says that it is so; the rule says what to change. */
export const runOverfitting: RunRule = {
  name: 'run-overfitting',
  subject: 'run',
  definition,
  evaluate({ events }) {
    const evidence = events
      .filter(({ type, severity }) => type === 'OVERFITTING_SUSPECTED' && severity !== 'info')
      .slice(0, MAX_CITED)
      .map(({ id }) => ({ event_id: id }));
    if (evidence.length === 0) return { findings: [], next_actions: [] };
    const { title, cause, fixes, confidence } = definition;
    return {
      findings: [{ severity: 'warning', title, message: cause, confidence, evidence, fixes }],
      next_actions: [],
    };
  },
};

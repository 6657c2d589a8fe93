import { nullable, strict, type Detector, type DetectorInput, type DetectorSubject } from '@svc/contract';
import { compileCheck, type Collected } from '@svc/kernel';
import { Type, type TObject } from 'typebox';
import type { TroubleTiming } from './troubles.js';

/** Options by the name of the detector, as svc.config.ts or a replay gives them. */
export type DetectorSettings = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A detector with its options. */
export interface ConfiguredDetector {
  readonly detector: Detector;
  readonly options: Readonly<Record<string, unknown>>;
  readonly timing: TroubleTiming;
  readonly takes: ReadonlySet<DetectorInput['kind']>;
}

export type DetectorsBySubject = Readonly<Record<DetectorSubject, readonly ConfiguredDetector[]>>;

/** The longest hold and cool-down: 30 days. */
const MAX_S = 30 * 86_400;

/** The options of a detector and those that every detector has. */
export function settingsSchema({ optionsSchema, holdS = 0, cooldownS = null }: Detector): TObject {
  return strict({
    enabled: Type.Boolean({ default: true, description: 'Whether the detector runs.' }),
    hold_s: Type.Number({
      minimum: 0,
      maximum: MAX_S,
      default: holdS,
      description: 'How long trouble must last before it is told.',
    }),
    cooldown_s: {
      ...nullable(Type.Number({ minimum: 0, maximum: MAX_S })),
      default: cooldownS,
      description: 'For how long the same trouble is not told again; null: never again.',
    },
    ...optionsSchema.properties,
  });
}

/** `refuse` gets the path of a mistake, as `loss-spike.factor`, and a sentence about it. */
export function configure(
  detectors: Collected<Detector>,
  settings: DetectorSettings,
  refuse: (path: string, message: string) => never,
): DetectorsBySubject {
  for (const name of Object.keys(settings))
    if (!detectors.has(name))
      refuse(name, `there is no detector "${name}"; there are: ${[...detectors.keys()].sort().join(', ')}`);
  const all = [...detectors.values()].flatMap((detector) => {
    const configured = configureOne(detector, settings[detector.name] ?? {}, refuse);
    return configured ? [configured] : [];
  });
  const of = (subject: DetectorSubject) => all.filter(({ detector }) => detector.of === subject);
  return { run: of('run'), attempt: of('attempt'), node: of('node') };
}

function configureOne(
  detector: Detector,
  given: Readonly<Record<string, unknown>>,
  refuse: (path: string, message: string) => never,
): ConfiguredDetector | null {
  const settings = structuredClone(given);
  const [issue] = compileCheck(settingsSchema(detector))(settings);
  if (issue) refuse([detector.name, issue.path].filter((part) => part !== '').join('.'), issue.message);
  const { enabled, hold_s, cooldown_s, ...options } = settings as {
    enabled: boolean;
    hold_s: number;
    cooldown_s: number | null;
  };
  if (!enabled) return null;
  const timing = { holdMs: hold_s * 1000, cooldownMs: cooldown_s === null ? null : cooldown_s * 1000 };
  return { detector, options, timing, takes: new Set(detector.takes) };
}

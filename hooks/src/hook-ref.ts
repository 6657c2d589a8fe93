/** How the taps of a hook are called, and what its owner gets. See README.md. */
export type HookKind = 'series' | 'waterfall' | 'firstAnswer' | 'gather' | 'observation';

/**
 * A hook of a plugin: its name is `<owner>.<what>`, as in `jobs.changed`. Identity is the name, so two copies of a module agree.
 * `Returned` is what a tap returns, `Fired` what the owner gets.
 */
export interface HookRef<Args extends readonly unknown[], Returned, Fired> {
  readonly name: string;
  readonly kind: HookKind;
  /** Carries the types; never set. */
  readonly types?: { readonly args: Args; readonly returned: Returned; readonly fired: Fired };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- hooks of every signature
export type AnyRef = HookRef<any, unknown, unknown>;
export type ArgsOf<Ref extends AnyRef> = NonNullable<Ref['types']>['args'];
export type FiredOf<Ref extends AnyRef> = NonNullable<Ref['types']>['fired'];

type Awaitable<T> = T | Promise<T>;
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a tap that has nothing to say need not return anything
type Maybe<T> = T | undefined | void;
type HookName = `${string}.${string}`;

/** The taps are called one after another; if one throws, the owner's call fails. */
export type Decision<Args extends readonly unknown[]> = HookRef<Args, Awaitable<void>, void>;
export type Waterfall<Args extends readonly [unknown, ...unknown[]]> = HookRef<
  Args,
  Awaitable<Args[0]>,
  Args[0]
>;
export type FirstAnswer<Args extends readonly unknown[], Answer> = HookRef<
  Args,
  Awaitable<Maybe<Answer>>,
  Answer | undefined
>;
export type Gather<Args extends readonly unknown[], Part> = HookRef<Args, Awaitable<Maybe<Part>>, Part[]>;
/** The taps are called concurrently and isolated: one that throws is logged, and the others continue. */
export type Observation<Args extends readonly unknown[]> = HookRef<Args, unknown, void>;

/** A tap may refuse by throwing, or by changing its arguments. */
export const decision = <Args extends readonly unknown[]>(name: HookName): Decision<Args> => ({
  name,
  kind: 'series',
});

/** Each tap returns the first argument, changed or not; the next tap gets the result. */
decision.waterfall = <Args extends readonly [unknown, ...unknown[]]>(name: HookName): Waterfall<Args> => ({
  name,
  kind: 'waterfall',
});

/** The first tap that returns something answers; those after it are not called. */
decision.firstAnswer = <Args extends readonly unknown[], Answer>(
  name: HookName,
): FirstAnswer<Args, Answer> => ({ name, kind: 'firstAnswer' });

/** The owner gets what the taps have returned, in their order; a tap that has nothing to add returns nothing. */
decision.gather = <Args extends readonly unknown[], Part>(name: HookName): Gather<Args, Part> => ({
  name,
  kind: 'gather',
});

/** Reports something that has happened, as in `jobs.changed`: a tap can neither refuse it nor make the owner fail. */
export const observation = <Args extends readonly unknown[]>(name: HookName): Observation<Args> => ({
  name,
  kind: 'observation',
});

export function ownerOf({ name }: { readonly name: string }): string {
  return name.slice(0, name.indexOf('.'));
}
